"""A view in few words: the compact dialect, for small models on this machine.

Such a model reads some 40 tokens a second and loses the thread in long prompts, so it is shown
the five thoughts drawn first, the last two exchanges, the message and the latest draft with
content, and of what earlier talk left four things, open efforts first; long texts keep their
beginning and end. The whole stays under about 900 tokens. Blocks, in this order and left out when
empty: ``user``, ``memory``, ``pool``, ``earlier``, ``message``, ``latest_draft``. The layout
belongs to ``compact_v1``: one that differs needs new files.
"""

from collections.abc import Iterator, Sequence

from domain.dialogue import is_signal
from domain.protocol.scalar import quoted, scalar
from domain.protocol.view import ArtifactSeen, View

MARKER = " […] "
"""Stands where the middle of a text was left out."""

ARTIFACTS, ARTIFACT_SIZE = 4, 140
THOUGHTS, THOUGHT_SIZE = 5, 200
TURNS, TURN_SIZE = 4, 200
MESSAGE_SIZE = 900
DRAFT_SIZE = 700
STATUS_SIZE = 100
"""Sizes are bytes of UTF-8, which follow a model's tokens in every script; letters are one."""

TOTAL_SIZE = 3600
"""About 900 tokens. Only texts of odd characters or very short lines come near it."""


def render_compact(view: View) -> str:
    """Render ``view`` in the compact dialect: YAML text of at most ``TOTAL_SIZE`` bytes."""
    text = ""
    for percent in (100, 70, 45, 25, 10):
        text = "".join(_document(view, percent))
        if _size(text) <= TOTAL_SIZE:
            break
    return text


def remembered(view: View) -> tuple[ArtifactSeen, ...]:
    """The artifacts that are shown: open efforts before all others, of these the newest."""
    chosen = sorted(view.memory, key=lambda one: (one.status == "open", one.id))[-ARTIFACTS:]
    return tuple(one for one in view.memory if one in chosen)


def clip(text: str, size: int) -> str:
    """``text`` itself, or its beginning and end around ``MARKER``, in ``size`` bytes of UTF-8."""
    if len(text) <= size and _size(text) <= size:
        return text
    room = max(size - _size(MARKER), 2)
    tail = room // 3
    head = _fit(text[: room - tail], room - tail, from_end=False).rstrip()
    return f"{head}{MARKER}{_fit(text[-tail:] if tail else '', tail, from_end=True).lstrip()}"


def _document(view: View, percent: int) -> Iterator[str]:
    def clipped(text: str, size: int) -> str:
        return clip(text, size * percent // 100)

    if view.signals:
        now = view.signals[0]
        status = f", status: {quoted(clipped(now.status, STATUS_SIZE))}" if now.status else ""
        time = quoted(clipped(now.time, STATUS_SIZE))
        yield f"user: {{presence: {now.presence}{status}, time: {time}}}\n"
    memory = [clipped(artifact.text, ARTIFACT_SIZE) for artifact in remembered(view)]
    yield from _listed("memory", memory)
    pool = [thought.text for thought in view.thoughts[:THOUGHTS]]
    yield from _listed("pool", [clipped(text, THOUGHT_SIZE) for text in pool])
    if view.history:
        yield "earlier:\n"
        for turn in view.history[-TURNS:]:
            who = "user" if turn.sender == "user" else "you"
            head, body = scalar(clipped(turn.text, TURN_SIZE), "      ")
            yield f"  - {who}:{head}\n{body}"
    if view.awaiting:
        head, body = scalar(clipped(view.awaiting.text, MESSAGE_SIZE), "  ")
        yield f"message:{head}\n{body}"
        for draft in reversed(view.drafts):
            if not is_signal(draft.text):
                head, body = scalar(clipped(draft.text, DRAFT_SIZE), "  ")
                yield f"latest_draft:{head}\n{body}"
                break


def _listed(block: str, texts: Sequence[str]) -> Iterator[str]:
    if texts:
        yield f"{block}:\n"
    for text in texts:
        head, body = scalar(text, "    ")
        yield f"  -{head}\n{body}"


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _fit(text: str, size: int, *, from_end: bool) -> str:
    while (over := _size(text) - size) > 0:
        # A character takes up to four bytes, so this many can go without going too far.
        drop = (over + 3) // 4
        text = text[drop:] if from_end else text[:-drop]
    return text
