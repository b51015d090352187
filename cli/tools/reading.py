"""Tools that read the dialogue: sessions, history, drafts, thoughts, artifacts, single events."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from cli.output import iso
from cli.tools.asking import asking_tools
from cli.tools.bounds import LONGEST, cut, fitting
from cli.tools.schema import SESSION, flag, number, one_of, takes, text
from cli.wiring import current_session
from commands.agents.tools import Tool
from commands.eventlog import EventLog
from commands.world import World
from domain.errors import NoSuchMoment, NoSuchSession
from domain.ids import SessionId, session_id

_PAGE = 15_000
"""Characters of the long texts of an event that one look shows."""

_SHORT = 1_000
"""Characters up to which a text is none of these."""

Data = dict[str, Any]


def read_tools(log: EventLog, directory: Path, world: World) -> list[Tool]:
    """Everything that reads a store: no tool of these changes anything.

    Args:
        log: the open log of the store.
        directory: where the store is.
        world: tells what time it is.
    """
    reader = Reader(log, directory, world)
    return [*_dialogue(reader), *asking_tools(log, directory, reader.session)]


class Reader(NamedTuple):
    """An open store that answers in plain data."""

    log: EventLog
    directory: Path
    world: World

    def session(self, name: str | None) -> SessionId:
        """The session that is meant.

        Raises:
            BadName, NoSuchSession: there is none of that name.
        """
        if name is None:
            return current_session(self.directory, self.log)
        chosen = session_id(name)
        if not self.log.exists(chosen):
            raise NoSuchSession(chosen, self.log.sessions())
        return chosen

    def sessions(self, count: int, everything: bool) -> Data:
        """The newest sessions, and which one is meant where none is named."""
        from projections.tree import branches, visible  # noqa: PLC0415 — each when it is asked for

        found = branches(self.log)
        current = current_session(self.directory, self.log) if found else None
        shown = found if everything else visible(found, current)
        shown = sorted(shown, key=lambda branch: -branch.at)
        rows, _ = fitting(
            {
                "session": branch.session,
                "title": cut(branch.title, 200),
                "state": "drafting" if branch.now.drafting else "idle",
                "drafts": branch.now.drafts,
                "iteration": branch.now.iteration,
                "version": branch.now.version,
                "last_event": iso(branch.at),
                **({"parent": branch.parent} if branch.parent else {}),
                **({"forked_at": branch.fork.version} if branch.fork else {}),
                **({"archived": True} if branch.archived else {}),
            }
            for branch in shown[:count]
        )
        data = {
            "now": self.world.local_time().isoformat(timespec="seconds"),
            "current": current,
            "sessions": rows,
        }
        return data if len(rows) == len(shown) else {**data, "not_shown": len(shown) - len(rows)}

    def history(self, name: str | None, count: int, before: int | None) -> Data:
        """Accepted exchanges, oldest first, and the message that awaits an answer."""
        from projections.history import History  # noqa: PLC0415 — as above

        session = self.session(name)
        upto = None if before is None else before - 1
        turns = History(self.log, session, upto).newest(count) if upto != 0 else []
        rows, whole = fitting(
            {
                "exchange": turn.exchange,
                "version": turn.version,
                "accepted_at": iso(turn.accepted_at),
                "message": cut(turn.question),
                "answer": cut(turn.answer),
            }
            for turn in reversed(turns)
        )
        data: Data = {"session": session, "exchanges": rows[::-1]}
        if rows and (not whole or len(turns) == count):
            data["older"] = f"read_history with before={rows[-1]['version']}"
        awaiting = self.log.state(session).dialogue.awaiting if before is None else None
        if awaiting is not None:
            data["awaits_answer"] = {
                "exchange": awaiting.exchange,
                "message": cut(awaiting.text),
            }
        return data

    def drafts(self, name: str | None, exchange: str | None) -> Data:
        """The drafts of an exchange, newest first."""
        from projections.board import board  # noqa: PLC0415 — as above

        session = self.session(name)
        shown = board(self.log, session, exchange)
        if shown is None:
            return {"session": session, "exchange": None, "drafts": []}
        rows, whole = fitting(
            {
                "index": draft.index,
                "version": draft.version,
                "iteration": draft.iteration,
                "at": iso(draft.at),
                "text": cut(draft.text),
                "seen": draft.seen,
                **{name: True for name in ("signal", "late", "accepted") if getattr(draft, name)},
                **({"repeats": draft.repeats} if draft.repeats is not None else {}),
                **({"confidence": draft.confidence} if draft.confidence is not None else {}),
            }
            for draft in reversed(shown.drafts)
        )
        data = {
            "session": session,
            "exchange": shown.exchange,
            "message": cut(shown.question),
            "open": shown.is_open,
            "drafts": rows,
        }
        return data if whole else {**data, "not_shown": len(shown.drafts) - len(rows)}

    def thoughts(self, name: str | None, count: int) -> Data:
        """The newest thoughts of the pool, newest first."""
        session = self.session(name)
        state = self.log.state(session)
        pool = state.pool
        rows, _ = fitting(
            {
                "thought": thought.version,
                "age": max(state.upcoming - thought.iteration, 0),
                "by": thought.mind,
                "origin": thought.origin,
                "text": cut(thought.text),
                **({"cluster": thought.cluster} if thought.cluster is not None else {}),
            }
            for thought in pool.active[::-1][:count]
        )
        clusters = {str(cluster): many for cluster, many in pool.sizes.most_common()}
        data = {"session": session, "thoughts": rows, "in_pool": len(pool.active)}
        return {**data, "ever": pool.total, "clusters": clusters}

    def artifacts(self, name: str | None, type_: str | None, still_open: bool, count: int) -> Data:
        """What was learned from the conversation, newest first."""
        from projections.artifacts import catalogue  # noqa: PLC0415 — as above

        session = self.session(name)
        items = [
            item
            for item in reversed([*catalogue(self.log, session)])
            if (type_ is None or item.type == type_)
            and (not still_open or (item.left is None and item.status != "resolved"))
        ]
        rows, _ = fitting(
            {
                "artifact": item.id,
                "type": item.type,
                "standing": item.standing,
                "at": iso(item.at),
                "text": cut(item.text),
                **{
                    key: _plain(value)
                    for key in ("resolution", "outcome", "when", "expires", "parent", "instead")
                    if (value := getattr(item, key)) is not None
                },
                "from_messages": item.messages[:20],
            }
            for item in items[:count]
        )
        data = {"session": session, "artifacts": rows}
        return data if len(rows) == len(items) else {**data, "not_shown": len(items) - len(rows)}

    def event(self, name: str | None, version: int, offset: int) -> Data:
        """One event with its envelope; of long texts a page."""
        from cli.history import as_data  # noqa: PLC0415 — as above

        session = self.session(name)
        found = self.log.pick(session, [version])
        if not found:
            head = self.log.head(session).version
            raise NoSuchMoment(session, str(version), dict.fromkeys(["1", str(head)]))
        data = as_data(found[0])
        fields: Data = data["data"]
        texts = {key: len(value) for key, value in fields.items() if isinstance(value, str)}
        page = _PAGE // max(1, sum(long > _SHORT for long in texts.values()))
        data["data"] = {key: _paged(value, offset, page) for key, value in fields.items()}
        data["command"] = data["command"].hex()
        left = {key: long - offset - page for key, long in texts.items() if long > offset + page}
        if left:
            data["more"] = f"show_event with offset={offset + page}"
            data["characters_left"] = left
        return data


def _paged(value: Any, offset: int, page: int) -> Any:
    """A field as plain data that fits."""
    if isinstance(value, str):
        return value[offset : offset + page]
    if isinstance(value, list | tuple):
        rows, whole = fitting((_plain(one) for one in value), LONGEST)
        return rows if whole else [*rows, f"… and {len(value) - len(rows)} more"]
    return _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, str):
        return cut(value)
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


def _dialogue(reader: Reader) -> Iterator[Tool]:
    def tool(name: str, about: str, parameters: Data, read: Callable[[Data], Data]) -> Tool:
        async def run(given: Data) -> Data:
            return await asyncio.to_thread(read, given)

        return Tool(name, about, parameters, run)

    yield tool(
        "list_sessions",
        "List the sessions (dialogues) of this store, most recently used first: name, title, parent"
        " if it is a fork, whether a message awaits an answer. Says which one is current.",
        takes(
            count=number("At most so many.", most=200, default=50),
            all=flag("Archived ones as well."),
        ),
        lambda given: reader.sessions(given["count"], given["all"]),
    )
    yield tool(
        "read_history",
        "Read the newest accepted exchanges of a session (the user's message and the accepted"
        " answer), oldest first, and the message that still awaits its answer. For older ones pass"
        " the `version` of the oldest exchange you got as `before`.",
        takes(
            session=SESSION,
            count=number("How many exchanges.", most=50, default=5),
            before=number("Only exchanges accepted before this version."),
        ),
        lambda given: reader.history(given.get("session"), given["count"], given.get("before")),
    )
    yield tool(
        "read_drafts",
        "Read the drafts of the newest exchange of a session, or of any exchange, newest first."
        " A draft marked `signal` (such as +1) endorses another one and is no answer itself.",
        takes(
            session=SESSION,
            exchange=text("An exchange's id such as exc_4_000, from read_history.", most=100),
        ),
        lambda given: reader.drafts(given.get("session"), given.get("exchange")),
    )
    yield tool(
        "read_thoughts",
        "Read what the mind of a session is thinking: the newest thoughts of its pool, newest"
        " first, with their age in iterations and the cluster of similar thoughts they belong to.",
        takes(session=SESSION, count=number("At most so many.", most=100, default=20)),
        lambda given: reader.thoughts(given.get("session"), given["count"]),
    )
    yield tool(
        "read_artifacts",
        "Read what was learned in a session: efforts (goals, open or resolved), facts, events and"
        " summaries, newest first, with the versions of the messages they came from.",
        takes(
            session=SESSION,
            type=one_of("Only these.", "effort", "fact", "event", "summary"),
            open=flag("Only open efforts, and facts and events that still hold."),
            count=number("At most so many.", most=200, default=50),
        ),
        lambda given: reader.artifacts(
            given.get("session"), given.get("type"), given["open"], given["count"]
        ),
    )
    yield tool(
        "show_event",
        "Show one event of a session with all its fields, by its version: for the full text of"
        " something that another tool shortened, or for what led to it (`cause`).",
        takes(
            "version",
            session=SESSION,
            version=number("The event's version."),
            offset=number("Skip so many characters of each text.", least=0, default=0),
        ),
        lambda given: reader.event(given.get("session"), given["version"], given["offset"]),
    )
