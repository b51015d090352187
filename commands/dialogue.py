"""What the user does to the conversation."""

from commands.command import Command, Decision
from domain.actors import SYSTEM
from domain.errors import AnswerFirst, NoSuchExchange, NothingChanges
from domain.events import ExchangesPruned, MessageSent, SessionRenamed
from domain.ids import ExchangeId
from domain.session import Session
from domain.texts import checked_text
from domain.titles import title_of


class SendMessage(Command):
    """Send a message to the mind; it awaits an answer until a draft is accepted."""

    text: str

    def decide(self, session: Session) -> Decision:
        """An exchange opens; the first one says what a session without a title is about."""
        dialogue = session.dialogue
        if dialogue.awaiting is not None:
            raise AnswerFirst(session.id, len(dialogue.drafts))
        text = checked_text(self.text)
        yield MessageSent(
            exchange=dialogue.next_exchange(session.upcoming),
            text=text,
            iteration=session.upcoming,
        )
        title = title_of(text)
        if title is not None and dialogue.newest is None and session.title == session.id:
            yield SessionRenamed(title=title).because(session.version + 1, by=SYSTEM)


class PruneExchanges(Command):
    """Hide exchanges from the mind's context, never from history."""

    exchanges: tuple[str, ...] = ()
    keep: int | None = None
    """Instead of naming exchanges: how many of the newest stay visible."""

    def decide(self, session: Session) -> Decision:
        """The exchanges that leave the context."""
        shown = [e.id for e in session.dialogue.history if not e.pruned]
        if self.keep is not None:
            hidden = shown[: max(0, len(shown) - self.keep)]
        else:
            known = {e.id for e in session.dialogue.history}
            for name in self.exchanges:
                if name not in known:
                    raise NoSuchExchange(name)
            hidden = [id_ for id_ in shown if id_ in self.exchanges]
        if not hidden:
            raise NothingChanges("The mind does not see these exchanges already.")
        yield ExchangesPruned(exchanges=tuple(ExchangeId(e) for e in hidden))
