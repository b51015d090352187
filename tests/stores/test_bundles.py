"""Bundles go from files to servers and back, and what comes back is what went.

From file to file: tests/commands/eventlog/test_bundle.py.
"""

from pathlib import Path

import pytest

from commands.eventlog import EventLog
from commands.eventlog.wire import Row
from domain.ids import SessionId
from tests.commands.eventlog.stores import MAIN, begin, branch, draw, grow, pool
from tests.commands.eventlog.test_bundle import alike, grown
from tests.stores.places import Site, stored, whole


def content(log: EventLog) -> list[tuple[str, int, str, bytes]]:
    """All rows but their positions, in the order of the store."""
    return [(row[0], row[1], row[3], row[4]) for row in stored(log)]


def in_a_file(directory: Path) -> EventLog:
    """A new store in a directory."""
    directory.mkdir()
    return EventLog.create(directory)


def carried(log: EventLog, to: EventLog, file: Path) -> list[tuple[str, str, str, int]]:
    """Take ``main`` and all its branches to another store; what is said of each."""
    log.export(MAIN, file)
    return [(t.session, t.name, t.what, t.events) for t in to.take_over(file)]


def test_there_and_back(served: Site, tmp_path: Path) -> None:
    """Out of a file, into the store, and into another file: all hashes and bytes are the same."""
    log = served.create()
    with in_a_file(tmp_path / "a") as one, in_a_file(tmp_path / "b") as two:
        grown(one, seed=11, sessions=3)
        leaf = one.sessions()[-1]
        carried(one, log, tmp_path / "there")
        carried(log, two, tmp_path / "back")
        for each in (log, two):
            alike(one, each)
            whole(each)
            assert sorted(content(each)) == sorted(content(one))
        assert [row[:2] for row in content(two)] == [row[:2] for row in content(log)]
        # what is there already is left alone, what is new comes
        grow(one, leaf, 2)
        assert [t[2:] for t in carried(one, log, tmp_path / "again")].count(("longer", 2)) == 1
        assert {t[2] for t in carried(one, log, tmp_path / "still")} == {"known"}
        assert log.head(leaf) == one.head(leaf)


@pytest.mark.slow
def test_names_that_are_taken(served: Site, tmp_path: Path) -> None:
    """Another session of the same name stays what it is, and the chain keeps the name of birth."""
    log = served.create()
    begin(log, events=3, tag="mine")
    branch(log, MAIN, 2, "fork")
    with in_a_file(tmp_path / "a") as one, in_a_file(tmp_path / "b") as two:
        begin(one, events=4, tag="theirs")
        branch(one, MAIN, 3, "fork")
        grow(one, "fork", 2)
        names = {there: here for there, here, *_ in carried(one, log, tmp_path / "there")}
        assert pool(log, MAIN)[0] == "mine2"
        assert pool(log, names["main"])[0] == pool(log, names["fork"])[0] == "theirs2"
        assert sorted(log.born_as("fork")) == sorted(["fork", names["fork"]])
        assert names["main"] != "main"
        assert names["fork"] != "fork"
        grow(log, names["fork"], 1)
        log.export(SessionId(names["main"]), tmp_path / "back")
        two.take_over(tmp_path / "back")
        assert two.head(SessionId(names["fork"])) == log.head(SessionId(names["fork"]))
        for each in (served.open(), two):
            whole(each)


def test_a_redaction_travels(served: Site, tmp_path: Path) -> None:
    """What was redacted elsewhere is redacted here when it comes by."""
    log = served.create()
    with in_a_file(tmp_path / "a") as one:
        begin(one, events=5)
        carried(one, log, tmp_path / "before")
        assert pool(log, MAIN)[0] == "t2"
        one.redact({MAIN: [2]}, "a secret", draw(wish=1 << 70))
        assert [t[2:] for t in carried(one, log, tmp_path / "after")] == [("longer", 1)]
        assert pool(log, MAIN)[0] == "t3"
        row: Row = next(row for row in stored(log) if row[1] == 2)
        assert b"t2" not in row[4]
        whole(log)
