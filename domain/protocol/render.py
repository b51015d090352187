"""A view as the YAML text that a mind reads: protocol 1.4, the full dialect.

Blocks come in a fixed order and are left out when empty. What a mind needs to know about a
thought or a draft stands in a comment that heads it, so that for a YAML reader both lists hold
plain texts. Every text reads back exactly and none can pass for structure (see scalar.py). The
same view always renders to the same bytes: replay compares their sha256.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from domain.protocol.scalar import quoted, scalar
from domain.protocol.view import (
    ArtifactSeen,
    DraftSeen,
    Limit,
    SignalSeen,
    ThoughtSeen,
    TurnSeen,
    View,
)


def render(view: View) -> str:
    """Render ``view`` in the full dialect: YAML text that ends with a line feed."""
    return "".join(_document(view))


def _document(view: View) -> Iterator[str]:
    # first, since it changes least: a provider that caches what a prompt begins with knows it
    if view.memory:
        yield memory_part(view.memory)
    yield from _meta(view)
    if view.thoughts:
        yield "thinking_pool:  # a random sample, in no order\n"
        yield from map(_thought, view.thoughts)
    if view.history or view.awaiting:
        yield "dialogue:\n"
        if view.history:
            yield "  history:  # oldest first\n"
            yield from map(_turn, view.history)
        if view.awaiting:
            yield f"  awaiting:\n    age: {view.awaiting.age}\n"
            head, body = scalar(view.awaiting.text, "      ")
            yield f"    text:{head}\n{body}"
    # Drafts answer the message that awaits; while idle there is none, whatever the view holds.
    if view.awaiting and view.drafts:
        shown, total = len(view.drafts), view.drafts_total
        yield "drafts:  # oldest first"
        yield f" ({shown} of {total} shown)\n" if total > shown else "\n"
        yield from map(_draft, view.drafts)
    yield from _orientation(view)


@lru_cache(maxsize=64)
def memory_part(shown: tuple[ArtifactSeen, ...]) -> str:
    """The block that shows artifacts: made anew only when one that is shown has changed."""
    heading = "memory:  # what earlier talk left, oldest first\n"
    return heading + "".join(map(artifact_lines, shown))


def _meta(view: View) -> Iterator[str]:
    yield (
        f"meta:\n  self: {quoted(view.name)}\n  iter: {view.iteration}\n"
        f"  user_time: {quoted(view.user_time)}\n"
        f"  limits:\n    thoughts: {_limit(view.thoughts_limit)}\n"
        f"    history: {_limit(view.history_limit)}\n    drafts: {_limit(view.drafts_limit)}\n"
        f"  used:\n    thoughts: {_used(view.thoughts)}\n"
        f"    history: {_used(view.history)}\n"
        f"    drafts: {_used(view.drafts if view.awaiting else ())}\n"
    )
    if view.awaiting and view.hard_signals:
        consecutive, threshold = view.hard_signals
        yield f"  hard_signals: {{consecutive: {consecutive}, threshold: {threshold}}}\n"
    if view.signals:
        yield "  user_signal:  # newest first\n"
        for signal in view.signals:
            yield f"    - age: {signal.age}\n"
            yield from _presence(signal, "      ")
            yield f"      time: {quoted(signal.time)}\n"


def _orientation(view: View) -> Iterator[str]:
    yield f"orientation:\n  iter: {view.iteration}\n"
    if view.signals:
        yield "  user_signal:\n"
        yield from _presence(view.signals[0], "    ")


def _presence(signal: SignalSeen, pad: str) -> Iterator[str]:
    yield f"{pad}presence: {signal.presence}\n"
    if signal.status:
        yield f"{pad}status: {quoted(signal.status)}\n"


def _limit(limit: Limit) -> str:
    return f"{{chars: {limit.chars}, count: {limit.count}}}"


def _used(shown: Sequence[ThoughtSeen | TurnSeen | DraftSeen]) -> str:
    return _limit(Limit(sum(len(item.text) for item in shown), len(shown)))


def _thought(thought: ThoughtSeen) -> str:
    mark = thought.cluster
    cluster = f"{{id: {mark.id}, size: {mark.size}}}" if mark else "{~}"
    head, body = scalar(thought.text, "    ")
    recalled = ", recalled: true" if thought.recalled else ""
    return f"  -{head}  # age: {thought.age}, cluster: {cluster}{recalled}\n{body}"


def artifact_lines(artifact: ArtifactSeen) -> str:
    """An artifact as an item of ``memory``."""
    head, body = scalar(artifact.text, "    ")
    marks = [
        f"{artifact.type}: {artifact.id}",
        *([f"status: {artifact.status}"] if artifact.status else []),
        *([f"outcome: {artifact.outcome}"] if artifact.outcome else []),
        *([f"part_of: {artifact.parent}"] if artifact.parent is not None else []),
        *([f"when: {quoted(artifact.when)}"] if artifact.when else []),
    ]
    return f"  -{head}  # {', '.join(marks)}\n{body}"


def _turn(turn: TurnSeen) -> str:
    head, body = scalar(turn.text, "        ")
    return f"    - from: {turn.sender}\n      age: {turn.age}\n      text:{head}\n{body}"


def _draft(draft: DraftSeen) -> str:
    seen = "true" if draft.user_seen else "false"
    head, body = scalar(draft.text, "    ")
    return f"  -{head}  # index: {draft.index}, age: {draft.age}, user_seen: {seen}\n{body}"
