"""What came of one invocation of a mind, as a wish to record it."""

from collections.abc import Iterator

from commands.command import Decision
from commands.thinking import Thinking
from domain.actors import SYSTEM, Actor
from domain.dialogue import Dialogue, is_signal
from domain.events import (
    Caused,
    DraftAccepted,
    DraftEmitted,
    DraftSeen,
    MindInvoked,
    MindSignalled,
    ThoughtAdded,
)
from domain.ids import ExchangeId
from domain.session import Session


class RecordIteration(Thinking):
    """Record what came of one invocation, on the state as it is by now."""

    invocation: MindInvoked
    exchange: ExchangeId
    texts: tuple[str, ...] = ()
    """Its thoughts."""
    draft: str | None = None
    confidence: float | None = None
    working: bool = False
    seen_by: Actor | None = None
    """The user, when they watch drafts appear."""

    def decide(self, session: Session) -> Decision:
        """The invocation, its thoughts, its draft or what it says that there is none."""
        iteration, why = session.upcoming, session.version + 1
        invocation = self.invocation.model_copy(
            update={
                "iteration": iteration,
                "embedding_tokens": self.embedded.tokens,
                "embedding_cost_usd": self.embedded.cost_usd,
            }
        )
        yield invocation.because(invocation.based_on)
        mind = invocation.model
        added = [ThoughtAdded(text=t, iteration=iteration, mind=mind) for t in self.texts]
        thoughts, placed = self.thoughts(session, added, why)
        for thought in thoughts:
            yield thought.because(why)
        dialogue = session.dialogue
        if dialogue.awaiting is None or dialogue.awaiting.exchange != self.exchange:
            yield from self._late(dialogue, iteration, why)
        else:
            if self.draft is not None:
                yield from self._drafted(dialogue, iteration, why)
            yield from self._signalled(session, iteration, why)
            yield from self._auto_accepted(session, iteration)
        yield from self.settled(session, placed)

    def _emission(self, index: int, iteration: int, *, repeats: int | None = None) -> DraftEmitted:
        text = self.draft or ""
        return DraftEmitted(
            exchange=self.exchange,
            index=index,
            text=text,
            iteration=iteration,
            signal=is_signal(text),
            repeats=repeats,
            confidence=self.confidence,
            working=self.working,
        )

    def _drafted(self, dialogue: Dialogue, iteration: int, why: int) -> Iterator[Caused]:
        repeats = dialogue.repeated(self.draft or "")
        emission = self._emission(len(dialogue.drafts) + 1, iteration, repeats=repeats)
        yield emission.because(why)
        if self.seen_by is not None:
            seen = DraftSeen(exchange=self.exchange, indexes=(emission.index,))
            yield seen.because(why + len(self.texts) + 1, by=self.seen_by)

    def _late(self, dialogue: Dialogue, iteration: int, why: int) -> Iterator[Caused]:
        """The exchange was closed meanwhile: the draft is kept, but can't be accepted."""
        closed = dialogue.past(self.exchange)
        if self.draft is None or closed is None:
            return
        emission = self._emission(closed.drafts + 1, iteration)
        yield emission.model_copy(update={"late": True}).because(why)

    def _signalled(self, session: Session, iteration: int, why: int) -> Iterator[Caused]:
        """What the iteration says by what it left out; a failure says nothing."""
        if self.invocation.outcome in {"failed", "unparseable"}:
            return
        if self.draft is not None:
            if is_signal(self.draft):
                soft = MindSignalled(signal="soft", iteration=iteration, consecutive=0)
                yield soft.because(why)
            return
        silent = not self.texts and self.invocation.outcome != "skipped"
        yield MindSignalled(
            signal="silence" if silent else "hard",
            iteration=iteration,
            consecutive=session.work.consecutive_hard + 1,
        ).because(why)

    def _auto_accepted(self, session: Session, iteration: int) -> Iterator[Caused]:
        patience = session.config.auto_accept_after
        latest = session.dialogue.latest_content
        if patience is None or latest is None or self.draft is not None:
            return
        if iteration - session.dialogue.drafts[-1].iteration >= patience:
            yield DraftAccepted(
                exchange=self.exchange, index=latest.index, by="auto-accept"
            ).because(latest.version, by=SYSTEM)
