"""What a small model only copied: taken out of its output, and said so."""

from domain.dialogue import is_signal
from domain.protocol.output import Output
from domain.protocol.view import View

_SHORT = 40
"""Characters; a shorter text may well stand inside another by chance."""


def without_copies(output: Output, view: View, examples: tuple[tuple[str, str], ...]) -> Output:
    """The output less thoughts and drafts that merely repeat the prompt.

    To a large mind a repeated thought is a choice; models of a billion weights echo what they were
    shown. For those, a draft that equals the latest one, or only hands the question back, means
    nothing new: no draft.
    """
    shown = [t.text for t in view.thoughts] + [reply for _, reply in examples]
    if view.awaiting is not None:
        shown.append(view.awaiting.text)
    drafts = [d.text for d in view.drafts]
    repairs = list(output.repairs)
    thoughts: list[str] = []
    for thought in output.thoughts:
        if any(_copied(thought, text) for text in (*shown, *drafts, *thoughts)):
            repairs.append("Left out a thought that was copied from the prompt.")
        else:
            thoughts.append(thought)
    draft = output.draft
    latest = next((text for text in reversed(drafts) if not is_signal(text)), None)
    if draft is None:
        pass
    elif latest is not None and _plain(draft) == _plain(latest):
        repairs.append("Left out a draft that was the same as the latest one.")
        draft = None
    elif any(_copied(draft, text) for text in shown):
        repairs.append("Left out a draft that was copied from the prompt.")
        draft = None
    return output._replace(thoughts=tuple(thoughts), draft=draft, repairs=tuple(repairs))


def _copied(text: str, source: str) -> bool:
    """Whether a text is the source, or a whole stretch of it."""
    mine, theirs = _plain(text), _plain(source)
    return mine == theirs or (len(mine) >= _SHORT and mine in theirs)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".… ")
