"""The conversation as it reads: accepted exchanges, newest or all, now or as of any moment."""

from collections.abc import Iterator
from itertools import islice
from typing import Literal, NamedTuple

from domain.events import DraftAccepted, DraftEmitted, MessageSent
from domain.ids import ExchangeId, SessionId
from domain.log import Log
from domain.recorded import Recorded


class Turn(NamedTuple):
    """An accepted exchange."""

    exchange: ExchangeId
    question: str
    answer: str
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody needs
    """Which draft was accepted."""
    by: Literal["user", "auto-accept"]
    asked_at: int
    accepted_at: int
    """Microseconds since 1970, UTC."""
    asked_iteration: int
    answered_iteration: int
    version: int
    """Of the acceptance."""


class History:
    """Accepted exchanges of a session, read backwards from a moment by index."""

    def __init__(
        self, log: Log, session: SessionId, upto: int | None = None, *, after: int = 0
    ) -> None:
        """Look at the acceptances with ``after < version <= upto``."""
        self._log, self._session, self._upto, self._after = log, session, upto, after

    def newest(self, count: int) -> list[Turn]:
        """The last so many exchanges, oldest first; costs the same however long history is."""
        accepted = [
            recorded
            for recorded in islice(self._events("draft.accepted", page=count), count)
            if recorded.version > self._after
        ]
        if not accepted:
            return []
        asked = {
            r.event.exchange: r
            for r in islice(self._events("message.sent", page=count + 1), count + 1)
            if isinstance(r.event, MessageSent)
        }
        return self._turns(accepted, asked)

    def all(self) -> Iterator[Turn]:
        """Every exchange, oldest first, without holding them all."""
        asked: Recorded | None = None
        kinds = ("message.sent", "draft.accepted")
        for recorded in self._log.read(self._session, upto=self._upto, kinds=kinds):
            if isinstance(recorded.event, MessageSent):
                asked = recorded
            elif asked is None or recorded.version <= self._after:
                continue
            elif isinstance(asked.event, MessageSent):
                yield from self._turns([recorded], {asked.event.exchange: asked})

    def _events(self, kind: str, page: int) -> Iterator[Recorded]:
        return self._log.read(
            self._session, upto=self._upto, kinds=[kind], newest_first=True, page=page
        )

    def _turns(self, accepted: list[Recorded], asked: dict[ExchangeId, Recorded]) -> list[Turn]:
        """Turns from acceptances (newest first), their questions and their drafts."""
        drafts = {
            r.version: r.event
            for r in self._log.pick(self._session, (r.cause or 0 for r in accepted))
        }
        turns = []
        for recorded in reversed(accepted):
            event = recorded.event
            if not isinstance(event, DraftAccepted):
                continue
            question, draft = asked.get(event.exchange), drafts.get(recorded.cause or 0)
            if question is None or not isinstance(question.event, MessageSent):
                continue
            if not isinstance(draft, DraftEmitted):
                continue
            turns.append(
                Turn(
                    event.exchange,
                    question.event.text,
                    draft.text,
                    event.index,
                    event.by,
                    question.at,
                    recorded.at,
                    question.event.iteration,
                    draft.iteration,
                    recorded.version,
                )
            )
        return turns
