"""Rows are a function of the log up to the cut, however the work is parted."""

import shutil
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

from commands.eventlog import EventLog
from commands.forks import fork_session
from commands.redaction import redact_events
from commands.sessions import start_session
from domain.errors import Broken, Refused
from domain.events import DraftEmitted
from domain.ids import SessionId
from projections.fleet.load import Code, code_of
from projections.fleet.partitions import branch_of, cut, partitions
from projections.fleet.run import Done, analyse
from projections.fleet.workers import Team, here
from projections.views.shards import number_of
from tests.projections.fleet.asked import asked, source_of, told
from tests.projections.fleet.many import EVENTS, say
from tests.stories.cast import SteadyWorld

JOBS = ("sessions", "drafts", "thoughts", "costs")


def job(source: str, name: str = "rows") -> Code:
    """A job of the user's."""
    return Code(name, "mine.py", source.encode())


def answered(log: EventLog) -> dict[str, set[int]]:
    """Versions of all drafts, by the session where they came."""
    found: dict[str, set[int]] = {}
    for recorded in log.feed():
        if isinstance(recorded.event, DraftEmitted):
            found.setdefault(recorded.session, set()).add(recorded.version)
    return found


def redacted(log: EventLog, session: str, version: int) -> None:
    """What was said there is taken away."""
    events = log.pick(SessionId(session), [version])
    redact_events(log, events, "a name", SteadyWorld("ben"))


@pytest.mark.parametrize("name", JOBS)
def test_rows_do_not_depend_on_how_sessions_are_parted(store: Path, name: str) -> None:
    """One partition or fifty: the same rows in the same order, and the same digest."""
    assert (
        asked(store, name, count=1) == asked(store, name, count=3) == asked(store, name, count=50)
    )


def test_sessions_of_one_root_are_never_parted(store: Path) -> None:
    """A branch is where that is which it inherits from, by a hash that is the same everywhere."""
    with EventLog(store) as log:
        parts = partitions(log, 5)
    members = [member for part in parts for member in part.members]
    assert sorted(member.place for member in members) == list(range(12))
    for part in parts:
        assert {number_of(member.branch.root) % 5 for member in part.members} == {part.number}
    assert number_of("main") % 64 == 43


def test_a_branch_knows_where_it_comes_from(store: Path) -> None:
    """Parent, root and the newest version that it inherits; a fork of a fork as well."""
    with EventLog(store) as log:
        assert branch_of(log, SessionId("s0001")) == ("s0001", None, "s0001", 0)
        assert branch_of(log, SessionId("s0002")) == ("s0002", "s0001", "s0001", 10)
        assert branch_of(log, SessionId("s0003")) == ("s0003", "s0002", "s0001", 20)


def test_each_event_is_met_once_and_a_branch_meets_its_own(store: Path) -> None:
    """Counts of all sessions add up to the store, and drafts are where they came."""
    with EventLog(store) as log:
        position, drafts = log.position(), answered(log)
    _, rows = asked(store, "sessions")
    assert sum(row["events"] for row in rows) == position
    assert [row["session"] for row in rows] == [f"s{number:04d}" for number in range(12)]
    _, found = asked(store, "drafts")
    assert len(found) == 24
    for row in found:
        assert row["version"] in drafts[row["session"]]
        assert row["accepted"] is True
        assert row["presence"] == "reviewing"


def test_a_job_may_ask_for_the_whole_history(store: Path) -> None:
    """What a branch inherits comes first then, as it was where it branched off."""
    source = (
        "def rows(branch, events):\n    yield {'all': ' '.join(str(e.version) for e in events)}"
    )
    own, whole = job(source), job(f"{source}\nrows.whole = True")
    own_rows, whole_rows = asked(store, own)[1], asked(store, whole)[1]
    assert own_rows[2]["all"] == " ".join(map(str, range(11, 24)))
    assert whole_rows[2]["all"] == " ".join(map(str, range(1, 24)))
    assert own_rows[:2] == whole_rows[:2]


def test_what_comes_behind_the_cut_is_left_out(store: Path, tmp_path: Path) -> None:
    """Sessions that go on, begin or branch off while a job runs change nothing about it."""
    copied = Path(shutil.copytree(store, tmp_path / "store"))
    before = {name: asked(copied, name) for name in JOBS}
    world = SteadyWorld("ben")
    with EventLog(copied) as log, here() as team:
        for number, name in enumerate(JOBS):
            at = cut(log, 24 + 10 * EVENTS if number == 3 else None)
            earlier = asked(copied, name, upto=at.position)

            def happens(done: Done, n: int = number) -> None:
                if done.sessions != done.of:
                    new = SessionId(f"new-{n}-{done.sessions}")
                    start_session(log, new, world)
                    fork_session(log, new, 1, SessionId(f"{new}/branch"), world)
                    for session in ("s0000", "s0002", "s0011", new):
                        say(log, SessionId(session), world, 1)

            sources = [source_of(log, at.position, team)]
            found = analyse(code_of(name), sources, team, count=4, told=happens)
            assert told(found) == earlier
            assert log.position() > at.position + 20
        for name in JOBS:
            assert asked(copied, name, upto=12 * (2 * EVENTS + 1)) == before[name]
            assert asked(copied, name) != before[name]


def test_a_cut_in_the_middle_is_a_moment_of_the_store(store: Path) -> None:
    """What had not happened yet is not there: events, and sessions that began later."""
    _, rows = asked(store, "sessions", upto=20)
    assert [(row["session"], row["events"]) for row in rows] == [("s0000", 13), ("s0001", 7)]
    assert rows[1]["accepted"] == 1


def test_a_selection_is_of_whole_sessions(store: Path) -> None:
    """A branch alone has the same rows as among all others."""
    _, everything = asked(store, "thoughts")
    _, some = asked(store, "thoughts", wanted=lambda session: session == "s0003")
    assert some == [row for row in everything if row["session"] == "s0003"]


def test_a_selection_of_several_cells_has_the_rows_of_each(store: Path) -> None:
    """Cell after cell, whichever sessions lie between those that are wanted."""
    some = ["s0000", "s0002"]
    with EventLog(store) as log, here() as team:
        sources = [source_of(log, None, team)] * 2
        found = analyse(code_of("sessions"), sources, team, count=4, wanted=some.__contains__)
        assert [row["session"] for row in told(found)[1]] == some * 2


def test_a_job_says_which_kinds_and_streams_it_wants(store: Path) -> None:
    """Only these events are read; streams that are no sessions only where it says so."""
    source = "def rows(branch, events):\n    yield {'n': sum(1 for _ in events)}\n"
    kinds = job(f"{source}rows.kinds = ('draft.emitted', 'draft.accepted')")
    assert [row["n"] for row in asked(store, kinds)[1]] == [4] * 12
    assert asked(store, job(f"{source}rows.families = ('agent',)"))[1] == []


def test_redacted_events_are_met_as_redacted(store: Path, tmp_path: Path) -> None:
    """That something was said stays, what was said does not."""
    copied = Path(shutil.copytree(store, tmp_path / "store"))
    _, rows = asked(copied, "thoughts")
    with EventLog(copied) as log:
        redacted(log, "s0002", rows[4]["version"])
    _, after = asked(copied, "thoughts")
    assert after[4] == {**rows[4], "text": "[redacted]", "redacted": True}
    assert after[:4] + after[5:] == rows[:4] + rows[5:]


def test_what_is_redacted_meanwhile_gets_into_no_result(store: Path, tmp_path: Path) -> None:
    """A worker may have read it before, so that nothing is written."""
    copied = Path(shutil.copytree(store, tmp_path / "store"))
    with EventLog(copied) as log, here() as team:

        def happens(done: Done) -> None:
            if done.sessions == done.of:
                redacted(log, "s0000", 5)

        sources = [source_of(log, None, team)]
        with pytest.raises(Broken, match="redacted meanwhile"):
            analyse(code_of("thoughts"), sources, team, count=4, told=happens)


def test_an_empty_store_has_no_rows(tmp_path: Path) -> None:
    """Columns are there all the same."""
    (tmp_path / "empty").mkdir()
    EventLog.create(tmp_path / "empty").close()
    digest, rows = asked(tmp_path / "empty", "sessions")
    assert (rows, len(digest)) == ([], 64)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def rows(b, e):\n    yield {'a': next(e).at // 0}", "ZeroDivisionError.*line 2 of mine"),
        ("def rows(b, e):\n    yield {'a': [1]}", "a list in column 'a'"),
        ("def rows(b, e):\n    yield {'a': 2**63}", "64 bits"),
        ("def rows(b, e):\n    yield {7: 2}", "name columns by texts"),
        ("def rows(b, e):\n    yield 7", "gives an int: give dicts"),
        ("def rows(b, e):\n    return 7", "not iterable"),
        ("def rows(b, e):\n    raise SystemExit", "SystemExit"),
        ("def rows(b, e):\n    yield {'a': 1 if b.parent else 'x'}", "both text and int"),
        ("def rows(b, e):\n    yield {'b': 1}\nrows.columns = {'a': int}", "column 'b'"),
        ("def rows(b, e):\n    yield {'a': 1.5}\nrows.columns = {'a': int}", "float in column 'a'"),
    ],
)
def test_what_a_job_does_wrong_is_told(store: Path, source: str, words: str) -> None:
    """In one sentence that names the job, and its line where its own code raised something."""
    with pytest.raises(Refused, match=words):
        asked(store, job(source))


def test_workers_of_another_version_are_found_out(store: Path) -> None:
    """Rows of other code are never mixed with ours."""

    class Elsewhere(Executor):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **more: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_result(fn(*args, **more)._replace(code="another"))
            return future

    with pytest.raises(Broken, match="another version"):
        asked(store, "costs", Team("elsewhere", Elsewhere(), 1, 1))


def test_a_store_grows_as_it_is_said_to(store: Path) -> None:
    """The builder makes forks of forks, which the tests above rest on."""
    with EventLog(store) as log:
        assert [len(log.path(session)) for session in log.sessions()] == [1, 1, 2, 3] * 3
        assert log.position() == 12 * (2 * EVENTS + 1)


def test_more_rows_than_memory_holds_are_the_same(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that wait on the disk come back as they were."""
    wanted = asked(store, "thoughts")
    monkeypatch.setattr("projections.fleet.results.KEPT", 100)
    assert asked(store, "thoughts") == wanted


def test_where_rows_can_not_wait_it_is_told(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the disk is full: in a sentence, and nothing is written."""
    monkeypatch.setattr("projections.fleet.results.KEPT", 100)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(Broken, match=r"temporary files \(No such file .*TMPDIR"):
        asked(store, "thoughts")
