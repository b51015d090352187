"""What the user does to drafts."""

from commands.command import Command, Decision
from domain.dialogue import Asked, Draft
from domain.errors import DraftIsASignal, NoSuchDraft, NothingAwaits, NothingToAccept, refuse
from domain.events import DraftAccepted, DraftSeen
from domain.session import Session


class AcceptDraft(Command):
    """Make a draft the answer of the open exchange; the latest with content by default."""

    index: int | None = None

    def decide(self, session: Session) -> Decision:
        """The exchange closes with this draft as its answer."""
        asked = _open(session)
        draft = acceptable(session, self.index)
        yield DraftAccepted(exchange=asked.exchange, index=draft.index).because(draft.version)


class MarkSeen(Command):
    """Mark drafts as read; all of them unless some are named."""

    indexes: tuple[int, ...] = ()

    def decide(self, session: Session) -> Decision:
        """The drafts that were not seen before."""
        asked, drafts = _open(session), session.dialogue.drafts
        for index in self.indexes:
            if session.dialogue.draft(index) is None:
                raise NoSuchDraft(index, len(drafts))
        unseen = tuple(
            d.index for d in drafts if not d.seen and (not self.indexes or d.index in self.indexes)
        )
        if unseen:
            yield DraftSeen(exchange=asked.exchange, indexes=unseen)


def acceptable(session: Session, index: int | None) -> Draft:
    """The draft of that index, or the latest one with content.

    Raises:
        NoSuchDraft, DraftIsASignal, NothingToAccept: there is none that could be an answer.
    """
    dialogue = session.dialogue
    if index is None:
        return dialogue.latest_content or refuse(NothingToAccept(session.id))
    draft = dialogue.draft(index) or refuse(NoSuchDraft(index, len(dialogue.drafts)))
    if draft.signal:
        raise DraftIsASignal(index, draft.text or "")
    return draft


def _open(session: Session) -> Asked:
    return session.dialogue.awaiting or refuse(NothingAwaits(session.id))
