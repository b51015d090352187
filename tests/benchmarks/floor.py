"""The floor: what the same workload costs on SQLite alone, with no rules, no chain, no envelope.

One transaction an iteration, WAL, ``synchronous=FULL``; events as rows, a row with the bounded
state every 100 iterations. It stores what W1 holds and not what a mind said to the letter.
"""

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgpack

from tests.benchmarks.w1 import ACCEPT_EVERY, POOL
from tests.benchmarks.workload import AGAIN_AFTER, Prepared, Workload, lengthened

SNAPSHOT_EVERY = 100
HISTORY = 100
MAIN, FORK, FORK_OF_FORK = "main", "fork", "again"

_LAYOUT = """
CREATE TABLE events (stream TEXT NOT NULL, version INTEGER NOT NULL, kind TEXT NOT NULL,
    payload BLOB NOT NULL, PRIMARY KEY (stream, version));
CREATE INDEX by_kind ON events (stream, kind, version);
CREATE TABLE snapshots (stream TEXT NOT NULL, version INTEGER NOT NULL, state BLOB NOT NULL,
    PRIMARY KEY (stream, version));
CREATE TABLE forks (child TEXT PRIMARY KEY, parent TEXT NOT NULL, at INTEGER NOT NULL);
"""

Row = tuple[str, int, str, bytes]
State = dict[str, Any]


class Floor:
    """The bare log in one file."""

    def __init__(self, file: Path, work: Workload) -> None:
        self.file, self.work = file, work
        new = not file.exists()
        self._connection = sqlite3.connect(file, isolation_level=None, cached_statements=128)
        if new:
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.executescript(_LAYOUT)
        self._connection.execute("PRAGMA synchronous=FULL")
        self.state = _empty()
        self.ends: dict[str, list[int]] = {MAIN: [0]}

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def record(self, first: int, last: int) -> None:
        """Iterations ``first <= i < last`` of the main line."""
        for prepared in self.work.main[first:last]:
            self._one(MAIN, self.state, prepared)
            self.ends[MAIN].append(self.state["version"])

    def branch(self) -> None:
        """The same branches as in the store: each costs a row."""
        k = self.work.w1.K
        self._branch(FORK, MAIN, k, self.work.fork)
        self._branch(FORK_OF_FORK, FORK, k + AGAIN_AFTER, self.work.fork[AGAIN_AFTER:])

    def _branch(self, child: str, parent: str, k: int, own: list[Prepared]) -> None:
        state = self.fork(parent, self.ends[parent][k], child)
        self.ends[child] = self.ends[parent][: k + 1]
        for prepared in own:
            self._one(child, state, prepared)
            self.ends[child].append(state["version"])

    def fork(self, parent: str, version: int, child: str) -> State:
        """Begin a branch, and read where it begins."""
        self._connection.execute("INSERT INTO forks VALUES (?,?,?)", (child, parent, version))
        return self.state_at(child, version)

    def _one(self, stream: str, state: State, prepared: Prepared) -> None:
        rows = list(self._rows(stream, state, prepared))
        execute = self._connection.execute
        execute("BEGIN IMMEDIATE")
        self._connection.executemany("INSERT INTO events VALUES (?,?,?,?)", rows)
        if state["iter"] % SNAPSHOT_EVERY == 0:
            packed = msgpack.packb(state)
            execute("INSERT INTO snapshots VALUES (?,?,?)", (stream, state["version"], packed))
        execute("COMMIT")

    @staticmethod
    def _rows(stream: str, state: State, prepared: Prepared) -> Iterable[Row]:
        it = prepared.iteration
        events: list[tuple[str, dict[str, Any]]] = []
        if it.user is not None:
            events.append(("message", {"text": it.user}))
        for thought, vector in zip(it.thoughts, prepared.vectors, strict=True):
            events.append(
                ("thought", {"id": thought.id, "text": thought.text, "embedding": vector})
            )
        events.append(("draft", {"text": it.draft}))
        if it.accept:
            events.append(("accepted", {"index": it.i % ACCEPT_EVERY + 1}))
        for kind, fields in events:
            apply(state, kind, fields)
            yield stream, state["version"], kind, msgpack.packb(fields)

    def state_at(self, stream: str, version: int | None = None) -> State:
        """The nearest snapshot and the events behind it; how many iterations is not known."""
        path = self._path(stream, version)
        state = None
        for name, low, high in path:
            row = self._connection.execute(
                "SELECT state FROM snapshots WHERE stream=? AND version>? AND version<=?"
                " ORDER BY version DESC LIMIT 1",
                (name, low, high),
            ).fetchone()
            if row is not None:
                state = msgpack.unpackb(row[0])
                break
        state = state or _empty()
        for name, low, high in reversed(path):
            for kind, payload in self._connection.execute(
                "SELECT kind, payload FROM events WHERE stream=? AND version>? AND version<=?"
                " ORDER BY version",
                (name, max(low, state["version"]), high),
            ):
                apply(state, kind, msgpack.unpackb(payload))
        return state

    def _path(self, stream: str, version: int | None) -> list[tuple[str, int, int]]:
        """Name, and the versions above and up to which it holds them; youngest first."""
        path, high = [], 2**62 if version is None else version
        while True:
            row = self._connection.execute(
                "SELECT parent, at FROM forks WHERE child=?", (stream,)
            ).fetchone()
            low = row[1] if row else 0
            if high > low:
                path.append((stream, low, high))
            if row is None:
                return path
            stream, high = row[0], min(high, low)

    def newest(self, count: int) -> list[tuple[str, str, int]]:
        """The last exchanges of the main line, oldest first."""
        return self._turns(
            "SELECT version, payload FROM events WHERE stream=? AND kind='accepted'"
            " ORDER BY version DESC LIMIT ?",
            MAIN,
            count,
            newest_first=True,
        )

    def history(self, stream: str, version: int) -> list[tuple[str, str, int]]:
        """All exchanges up to a version, oldest first."""
        turns = []
        for name, low, high in reversed(self._path(stream, version)):
            turns += self._turns(
                "SELECT version, payload FROM events WHERE stream=? AND kind='accepted'"
                " AND version>? AND version<=? ORDER BY version",
                name,
                low,
                high,
            )
        return turns

    def _turns(
        self, query: str, stream: str, *rest: int, newest_first: bool = False
    ) -> list[tuple[str, str, int]]:
        turns = []
        for version, payload in self._connection.execute(query, (stream, *rest)).fetchall():
            question = self._before(stream, version, "message")
            draft = self._before(stream, version, "draft")
            turns.append((question, draft, msgpack.unpackb(payload)["index"]))
        return turns[::-1] if newest_first else turns

    def _before(self, stream: str, version: int, kind: str) -> str:
        path = self._path(stream, version)
        for name, low, high in path:
            row = self._connection.execute(
                "SELECT payload FROM events WHERE stream=? AND kind=? AND version>? AND version<=?"
                " ORDER BY version DESC LIMIT 1",
                (name, kind, low, high),
            ).fetchone()
            if row is not None:
                return msgpack.unpackb(row[0])["text"]
        raise LookupError(kind)

    def feed(self) -> int:
        """Read every event of the file; gives their number."""
        count = 0
        for _, _, _, payload in self._connection.execute("SELECT * FROM events ORDER BY rowid"):
            msgpack.unpackb(payload)
            count += 1
        return count

    def replay(self) -> State:
        """Fold the main line from its first event."""
        state = _empty()
        for kind, payload in self._connection.execute(
            "SELECT kind, payload FROM events WHERE stream='main' ORDER BY version"
        ):
            apply(state, kind, msgpack.unpackb(payload))
        return state

    def checkpoint(self) -> None:
        """Empty the write-ahead log into the file."""
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def told(self, state: State, stream: str) -> State:
        """A state in the words of W1, its history completed."""
        pool = [
            (id_, text, lengthened(vector) if self.work.half else vector)
            for id_, text, vector in state["pool"]
        ]
        return {**state, "pool": pool, "history": self.history(stream, state["version"])}


def apply(state: State, kind: str, fields: dict[str, Any]) -> None:
    """Fold one event into the state, in place."""
    state["version"] += 1
    if kind == "message":
        state["awaiting"] = fields["text"]
    elif kind == "thought":
        state["pool"].append((fields["id"], fields["text"], fields["embedding"]))
        del state["pool"][:-POOL]
    elif kind == "draft":
        state["drafts"].append(fields["text"])
        state["iter"] += 1
    else:
        index = fields["index"]
        state["history"].append((state["awaiting"], state["drafts"][index - 1], index))
        del state["history"][:-HISTORY]
        state["awaiting"], state["drafts"] = None, []


def _empty() -> State:
    return {"version": 0, "iter": 0, "awaiting": None, "drafts": [], "history": [], "pool": []}
