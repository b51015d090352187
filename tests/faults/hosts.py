"""Writers and followers on hosts of their own, and whether the store has what they were told."""

import itertools
import json
import math
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from commands.eventlog import EventLog
from commands.eventlog.place import Place
from tests.faults.machinery import ROOT

DEADLINE = 90.0
"""Seconds after which a test no longer waits for anything."""

Line = dict[str, Any]


class Station:
    """A driver that runs somewhere."""

    def __init__(self, place: str, session: str, cache: Path, within: Sequence[str] = ()) -> None:
        command = [*within, sys.executable, "-m", "tests.faults.host_driver", place, session]
        self.session, self.doing = session, ""
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=os.environ | {"XDG_CACHE_HOME": str(cache / session)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._said: list[Line] = []
        self._ended = False
        self._news = threading.Condition()
        self._listener = threading.Thread(target=self._listen)
        self._listener.start()

    def word(self, word: str) -> None:
        """Tell it what to do."""
        self.doing = word
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n".encode())
        self._process.stdin.flush()

    def kill(self) -> None:
        """End it now; what it has said stays."""
        if self._process.poll() is not None and not self._listener.is_alive():
            return
        self._process.kill()
        self._process.wait()
        self._listener.join()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def said(self, key: str) -> list[Line]:
        """Its lines of one sort so far."""
        with self._news:
            return [line for line in self._said if key in line]

    def wait_for(self, key: str, count: int = 1, *, seconds: float = DEADLINE) -> list[Line]:
        """Its lines of one sort, as soon as there are so many.

        Raises:
            TimeoutError: there are not, or it has ended.
        """

        def enough() -> bool:
            return sum(key in line for line in self._said) >= count

        with self._news:
            self._news.wait_for(lambda: enough() or self._ended, seconds)
            if not enough():
                raise TimeoutError(f"{self.session} said only {self._said[-3:]}")
        return self.said(key)

    def more(self, count: int) -> None:
        """Wait for so many further acknowledgements."""
        self.wait_for("text", len(self.said("text")) + count)

    def busy_until(self, moment: float) -> None:
        """Wait for an acknowledgement after a moment."""
        while not (told := self.said("text")) or told[-1]["at"] < moment:
            self.more(1)

    @property
    def failures(self) -> Counter[str]:
        """How often it was told what error."""
        return Counter(line["failed"] for line in self.said("failed"))

    def stall(self, since: float, until: float) -> float:
        """The longest time without an acknowledgement between two moments, in seconds."""
        times = [line["at"] for line in self.said("text") if line["at"] > since]
        after = min((at for at in times if at >= until), default=math.inf)
        marks = [since, *(at for at in times if at < until), after]
        return float(max(b - a for a, b in itertools.pairwise(marks)))

    def first(self, key: str, since: float) -> float:
        """When it said its first line of one sort after a moment."""
        return float(next(line["at"] for line in self.said(key) if line["at"] > since))

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._news:
                self._said.append(json.loads(line))
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()


class Stored(NamedTuple):
    """What a store holds of what stations wrote."""

    events: tuple[tuple[int, str, int], ...]
    """Position, session and version of each event, in order."""
    notes: dict[str, tuple[str, int]]
    """Session and version of each note by its text."""
    twice: tuple[str, ...]
    """Texts that are there more than once."""

    def lost(self, writers: Sequence[Station]) -> list[str]:
        """Texts that were acknowledged and are not where they were said to be."""
        told = {
            line["text"]: (w.session, line["version"]) for w in writers for line in w.said("text")
        }
        return [text for text, where in told.items() if self.notes.get(text) != where]


def made(place: str, cache: Path) -> None:
    """Make a store at a place."""
    EventLog.create(Place(cache / "made", place)).close()


def stored(place: str, cache: Path) -> Stored:
    """All of a store, after its proof: chains hold, versions and positions have no gap."""
    with EventLog(Place(cache / "reader", place)) as log:
        assert [finding for verdict in log.verify() for finding in verdict.findings] == []
        every = list(log.plain())
    assert [event.position for event in every] == list(range(1, len(every) + 1))
    for session in {event.session for event in every}:
        versions = [event.version for event in every if event.session == session]
        assert versions == list(range(1, len(versions) + 1))
    notes = [event for event in every if event.kind == "note.added"]
    count = Counter(event.data["text"] for event in notes)
    return Stored(
        tuple((event.position, event.session, event.version) for event in every),
        {event.data["text"]: (event.session, event.version) for event in notes},
        tuple(text for text, times in count.items() if times > 1),
    )


def heard(follower: Station, having: Stored) -> list[tuple[int, str, int]]:
    """What a follower heard, once it has heard of the newest event that is stored."""
    last = having.events[-1][0]
    until = time.monotonic() + DEADLINE
    while True:
        lines = follower.said("position")
        if (lines and lines[-1]["position"] >= last) or time.monotonic() > until:
            return [(line["position"], line["session"], line["version"]) for line in lines]
        follower.wait_for("position", len(lines) + 1)


@contextmanager
def stations(
    place: str, cache: Path, within: Mapping[str, Sequence[str]], doing: Mapping[str, str]
) -> Iterator[dict[str, Station]]:
    """Stations by session, ready, until they are killed.

    Args:
        place: the store.
        cache: a directory for what is theirs alone.
        within: the command that runs each of them on its host.
        doing: the word that some are told.
    """
    there: dict[str, Station] = {}
    try:
        for session, host in within.items():
            there[session] = Station(place, session, cache, host)
        for station in there.values():
            station.wait_for("ready")
        for session, word in doing.items():
            there[session].word(word)
        yield there
    finally:
        for station in there.values():
            station.kill()


def waiting_for(condition: Callable[[], bool]) -> None:
    """Look until something is so.

    Raises:
        TimeoutError: it is not, for too long.
    """
    until = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError
