"""From events to texts: which words came into being with an event, and which ended with it."""

import sqlite3
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from domain.events.base import REDACTED
from domain.ids import SessionId
from domain.log import Log
from domain.recorded import Plain, Segment
from projections.search.hit import Kind
from projections.search.spelling import kind_sign, spelled, stream_sign

FOREVER = 2**62
"""Behind every version that a session will ever have."""

SESSION = 0
"""The number of a session among its artifacts: its title changes as their words do."""


class Words(NamedTuple):
    """What is said of something at some time."""

    kind: Kind
    head: str
    """The message, the answer, the goal, the statement, what happens, the summary, the title."""
    tail: str = ""
    """How an effort was resolved; when an event happens; what a session is named by."""

    @property
    def text(self) -> str:
        """Both."""
        return joined(self.kind, self.head, self.tail)


def joined(kind: str, head: str, tail: str) -> str:
    """Two parts of a text as one."""
    if not head or not tail or tail == head:
        return head or tail
    return f"{head}\n→ {tail}" if kind == "effort" else f"{head} ({tail})"


class _Known(NamedTuple):
    """Words that a branch has now of one of its artifacts."""

    id: int
    stream: str
    words: Words


class Writer:
    """Writes what events say into an index. Each event leads to one text at most.

    The number of a text is the position of its event: so it stays when the index is built anew.
    """

    def __init__(self, log: Log, connection: sqlite3.Connection) -> None:
        self._log, self._connection = log, connection
        self._paths: dict[str, tuple[Segment, ...]] = {}
        self._drafts: dict[tuple[str, int], str] = {}

    def write(self, events: Iterable[Plain]) -> int:
        """Write what these events say.

        Returns:
            The position of the last one; 0 if there was none.
        """
        last = 0
        for event in events:
            last = event.position
            handler = _HANDLERS.get(event.kind)
            if handler is not None:
                handler(self, event, event.data)
        return last

    # the dialogue

    def message(self, event: Plain, data: dict[str, Any]) -> None:
        """Somebody asked something."""
        self._add(event, Words("message", data["text"]))

    def draft(self, event: Plain, data: dict[str, Any]) -> None:
        """It may be accepted soon."""
        if not data.get("signal"):
            self._drafts[event.session, event.version] = data["text"]
        while len(self._drafts) > 64:
            del self._drafts[next(iter(self._drafts))]

    def answer(self, event: Plain, _: dict[str, Any]) -> None:
        """A draft became the answer."""
        if event.cause is None:
            return
        text = self._drafts.get((event.session, event.cause))
        if text is None:
            found = self._log.pick(event.session, [event.cause])
            text = getattr(found[0].event, "text", "") if found else ""
        self._add(event, Words("answer", text))

    def titled(self, event: Plain, data: dict[str, Any]) -> None:
        """A session has a title."""
        self._replace(event, SESSION, Words("session", data["title"], event.session))

    def forked(self, event: Plain, _: dict[str, Any]) -> None:
        """A branch goes by its name alone until it gets a title."""
        self._replace(event, SESSION, Words("session", event.session))

    # agents

    def completed(self, event: Plain, data: dict[str, Any]) -> None:
        """An agent answered."""
        self._add(event, Words("answer", data["text"]))

    def reported(self, event: Plain, data: dict[str, Any]) -> None:
        """Work ended with a result; the word about it in its sender's stream says nothing new."""
        if event.session == f"agent:{data['worker']}":
            self._add(event, Words("answer", data["summary"]))

    # artifacts

    def effort(self, event: Plain, data: dict[str, Any]) -> None:
        """An effort began."""
        self._bring(event, Words("effort", data["goal"]))

    def fact(self, event: Plain, data: dict[str, Any]) -> None:
        """A fact was learned."""
        self._bring(event, Words("fact", data["statement"]))

    def noted(self, event: Plain, data: dict[str, Any]) -> None:
        """An event was noted."""
        self._bring(event, Words("event", data["what"], data.get("when", "")))

    def compacted(self, event: Plain, data: dict[str, Any]) -> None:
        """A summary stands for exchanges."""
        if data.get("summary"):
            self._bring(event, Words("summary", data["summary"]))

    def imported(self, event: Plain, data: dict[str, Any]) -> None:
        """An artifact of another session is used here too."""
        self._bring(event, _carried(data))

    def recalled(self, event: Plain, data: dict[str, Any]) -> None:
        """An artifact came back, with its words."""
        known, words = self._known(event.session, data["artifact"]), _carried(data)
        if known is None or known.words != words:
            self._replace(event, data["artifact"], words)

    def resolved(self, event: Plain, data: dict[str, Any]) -> None:
        """An effort ended."""
        self._change(event, data["effort"], tail=data.get("resolution", ""))

    def reopened(self, event: Plain, data: dict[str, Any]) -> None:
        """Its resolution counts no more."""
        self._change(event, data["effort"], tail="")

    def edited(self, event: Plain, data: dict[str, Any]) -> None:
        """Other words."""
        known = self._known(event.session, data["artifact"])
        tail = data.get("when") if known and known.words.kind == "event" else data.get("resolution")
        self._change(event, data["artifact"], head=data.get("text"), tail=tail)

    def over(self, event: Plain, data: dict[str, Any]) -> None:
        """A fact was superseded; an artifact was merged into another, or should never have been."""
        gone = data["fact"] if event.kind == "fact.superseded" else data["artifact"]
        known = self._known(event.session, gone)
        if known is not None:
            self._end(event, known)

    # what they have in common

    def _bring(self, event: Plain, words: Words) -> None:
        self._add(event, words, event.session, event.version)

    def _change(
        self, event: Plain, artifact: int, *, head: str | None = None, tail: str | None = None
    ) -> None:
        known = self._known(event.session, artifact)
        if known is None:
            return
        old = known.words
        new = Words(
            old.kind, old.head if head is None else head, old.tail if tail is None else tail
        )
        if new != old:
            self._replace(event, artifact, new)

    def _replace(self, event: Plain, artifact: int, words: Words) -> None:
        known = self._known(event.session, artifact)
        if known is not None:
            self._end(event, known)
        self._add(event, words, self._owner(event.session, artifact), artifact)

    def _add(
        self, event: Plain, words: Words, owner: str | None = None, artifact: int | None = None
    ) -> None:
        head = "" if words.head == REDACTED else words.head
        tail = "" if words.tail == REDACTED else words.tail
        empty = not head and not tail  # kept where something may be said of it later
        if empty and artifact is None:
            return
        self._connection.execute(
            "INSERT INTO texts"
            "(id, stream, version, at, kind, passages, owner, artifact, head, tail)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(event.position, event.session, event.version, event.at, words.kind),
                *(0 if empty else None, owner, artifact, head, tail),
            ),
        )
        if empty:
            return
        self._connection.execute(
            "INSERT INTO words(rowid, text, place) VALUES (?, ?, ?)",
            (
                event.position,
                spelled(joined(words.kind, head, tail)),
                f"{stream_sign(event.session)} {kind_sign(words.kind)}",
            ),
        )

    def _end(self, event: Plain, known: _Known) -> None:
        if known.stream == event.session:
            self._connection.execute(
                "UPDATE texts SET gone = ?, gone_at = ? WHERE id = ?",
                (event.version, event.at, known.id),
            )
        else:  # it is inherited: for its own session nothing has changed
            self._connection.execute(
                "INSERT OR IGNORE INTO endings(text, stream, version) VALUES (?, ?, ?)",
                (known.id, event.session, event.version),
            )

    def _known(self, session: SessionId, artifact: int) -> _Known | None:
        """The words that a session has of an artifact now."""
        owner = self._owner(session, artifact)
        upto = {part.stream: part for part in self._path(session)}
        found: _Known | None = None
        rows = self._connection.execute(
            "SELECT id, stream, version, kind, head, tail, gone FROM texts"
            " WHERE owner = ? AND artifact = ? ORDER BY version",
            (owner, artifact),
        )
        for id_, stream, version, kind, head, tail, gone in rows.fetchall():
            part = upto.get(stream)
            if part is None or not holds(part, version) or (gone and holds(part, gone)):
                continue
            if not self._ended(id_, upto):
                found = _Known(id_, stream, Words(kind, head, tail))
        return found

    def _ended(self, id_: int, path: dict[SessionId, Segment]) -> bool:
        """Whether a branch on the way put an end to it."""
        rows = self._connection.execute(
            "SELECT stream, version FROM endings WHERE text = ?", (id_,)
        )
        return any(s in path and holds(path[SessionId(s)], version) for s, version in rows)

    def _owner(self, session: SessionId, artifact: int) -> str:
        """The stream that brought it."""
        if artifact == SESSION:
            return session
        path = self._path(session)
        return next((part.stream for part in path if holds(part, artifact)), session)

    def _path(self, session: SessionId) -> tuple[Segment, ...]:
        if session not in self._paths:
            self._paths[session] = self._log.path(session)
        return self._paths[session]


def holds(part: Segment, version: int) -> bool:
    """Whether a part of a history has that version."""
    return part.after < version <= (FOREVER if part.upto is None else part.upto)


def _carried(data: dict[str, Any]) -> Words:
    """The words that an event brings along of an artifact from elsewhere, or from before."""
    tail = data.get("when" if data["type"] == "event" else "resolution") or ""
    return Words(data["type"], data["text"], tail)


_HANDLERS: dict[str, Callable[[Writer, Plain, dict[str, Any]], None]] = {
    "message.sent": Writer.message,
    "prompt.submitted": Writer.message,
    "turn.completed": Writer.completed,
    "worker.reported": Writer.reported,
    "draft.emitted": Writer.draft,
    "draft.accepted": Writer.answer,
    "session.started": Writer.titled,
    "session.renamed": Writer.titled,
    "session.forked": Writer.forked,
    "effort.opened": Writer.effort,
    "effort.resolved": Writer.resolved,
    "effort.reopened": Writer.reopened,
    "fact.learned": Writer.fact,
    "fact.superseded": Writer.over,
    "event.noted": Writer.noted,
    "artifact.edited": Writer.edited,
    "artifact.merged": Writer.over,
    "artifact.rejected": Writer.over,
    "artifact.imported": Writer.imported,
    "artifact.recalled": Writer.recalled,
    "context.compacted": Writer.compacted,
}
"""What each kind of event does; all others say nothing that is searched."""
