"""What a small model only copied: taken out of its output, and said so."""

from domain.protocol.output import Output
from domain.protocol.view import View


def without_copies(output: Output, view: View, examples: tuple[tuple[str, str], ...]) -> Output:
    """The output less thoughts and drafts that merely repeat the prompt.

    To a large mind a repeated thought is a choice; models of a billion weights echo what they were
    shown. For those, a draft that equals the latest one means nothing new: no draft.
    """
    shown = {_plain(t.text) for t in view.thoughts}
    repairs = list(output.repairs)
    thoughts = []
    for thought in output.thoughts:
        if _plain(thought) in shown or any(thought in reply for _, reply in examples):
            repairs.append("Left out a thought that was copied from the prompt.")
        else:
            thoughts.append(thought)
            shown.add(_plain(thought))
    draft = output.draft
    if draft is not None and any(draft in reply for _, reply in examples):
        repairs.append("Left out a draft that was copied from an example.")
        draft = None
    elif draft is not None and view.drafts and _plain(draft) == _plain(view.drafts[-1].text):
        repairs.append("Left out a draft that was the same as the latest one.")
        draft = None
    return output._replace(thoughts=tuple(thoughts), draft=draft, repairs=tuple(repairs))


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
