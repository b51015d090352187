"""What needs an order of all events, in a store of several cells: the session's cell is chosen."""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice, product
from pathlib import Path
from typing import NamedTuple

import pytest

from cli.cells import at_its_cell, place_to_follow
from cli.wiring import current_session, desk
from commands.eventlog import EventLog
from commands.eventlog.place import Place, place_of
from commands.eventlog.postgres.new_cell import add_cell
from commands.eventlog.postgres.rows import Cursor
from commands.sessions import start_session
from domain.errors import Refused
from domain.ids import SessionId
from projections.tree import branches
from tests.cli.conftest import MIND
from tests.cli.inside import inside
from tests.commands.eventlog.stores import MAIN, StillWorld, begin, branch, grow

FAR = SessionId("far")
SECRET = "the patient was called Ann Miller"  # noqa: S105 — what must not be found


class Cells(NamedTuple):
    """A store with ``main`` at home, and ``far`` in the cell ``b``."""

    place: Place
    mind: Callable[..., tuple[int, str, str]]
    env: Mapping[str, str]


@pytest.fixture
def cells(pg_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cells:
    """Somebody works on ``far``."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("MIND_SESSION", FAR)
    place = place_of(f"{pg_url}?schema=first")
    settings = {"embedding_model": "off"}
    with EventLog.create(place) as log:
        start_session(log, MAIN, StillWorld(), message="why two tides", settings=settings)
    add_cell(place.address, "b", f"{pg_url}?schema=b")
    with EventLog(place.with_options(cell="b")) as log:
        start_session(log, FAR, StillWorld(), message="tides of Fundy", settings=settings)
    env = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    env |= {"MIND_STORE": place.name, "MIND_USER": "ann", "NO_COLOR": "1"}
    return Cells(place, lambda *words, **more: inside([*words], {**env, **more}), env)


def test_where_a_session_is(cells: Cells) -> None:
    """Each has the place of its cell; from there, all that is in that cell has one order."""
    with EventLog(cells.place) as log:
        assert [log.place_of(one).address.cell for one in (MAIN, FAR)] == ["home", "b"]
        assert [place.address.cell for place in log.places()] == ["home", "b"]
        with EventLog(log.place_of(FAR)) as one:
            assert one.place_of(FAR) == one.place
            assert one.places() == [one.place]
            assert one.position() == one.head(FAR).version


def test_following_a_session(cells: Cells) -> None:
    """Its new events come, wherever it is."""
    stop = threading.Event()
    with desk(cells.place, FAR) as whole, at_its_cell(whole) as at:
        before = at.log.position()
        grow(whole.log, FAR, 2)
        found = list(islice(at.log.follow(before, stop), 2))
        stop.set()
    assert [(one.session, one.version) for one in found] == [(FAR, before + 1), (FAR, before + 2)]


def test_a_session_is_searched_in_its_cell(cells: Cells) -> None:
    """And all of them together, where none is named: the best of each cell come first."""
    code, out, err = cells.mind("search", "tides", "--session", FAR, "--json")
    assert (code, err) == (0, "")
    assert {hit["session"] for hit in json.loads(out)} == {FAR}
    code, out, err = cells.mind("search", "tides", "--json")
    assert (code, err) == (0, "")
    assert {hit["session"] for hit in json.loads(out)} == {MAIN, FAR}
    assert len(json.loads(cells.mind("search", "tides", "--json", "-n", "1")[1])) == 1
    hits = json.loads(cells.mind("search", "Fundy tides", "--json")[1])
    assert hits[0]["session"] == FAR
    assert [hit["score"] for hit in hits] == sorted((h["score"] for h in hits), reverse=True)


def test_beginning_a_talk(cells: Cells) -> None:
    """What has to do with it is found in all cells, and goes on where it is."""
    code, out, _ = cells.mind("start", "the tides again", "--json")
    assert code == 0
    assert {chat["session"] for chat in json.loads(out)["chats"]} == {MAIN, FAR}


def test_asking_about_a_session(cells: Cells) -> None:
    """A query of $session asks its cell alone, and says so; one of the whole store is refused."""
    ours = "SELECT count(*) AS n FROM messages_of($session)"
    code, out, err = cells.mind("query", ours, "--json")
    assert (code, json.loads(out)) == (0, [{"n": 1}])
    assert err.startswith("Only the cell b is asked: far is there.\n")
    code, out, err = cells.mind("query", "SELECT count(*) FROM events")
    assert (code, out) == (2, "")
    assert "has the cells home, b, each with an order of its own" in err


def test_a_report_of_a_session(cells: Cells) -> None:
    """It is about that session alone, and whole."""
    code, out, err = cells.mind("report", "overview", "--json")
    assert (code, json.loads(out)["session"]) == (0, FAR)
    assert "Only the cell" not in err


def test_what_is_served(
    cells: Cells, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cell of the session that is worked on, which it is there as well; a named one stays."""
    place = place_to_follow(cells.place, None, "served")
    assert place.address.cell == "b"
    assert capsys.readouterr().err == "Only the cell b is served: far is there.\n"
    named = cells.place.with_options(cell="home")
    assert place_to_follow(named, None, "served") == named
    assert place_to_follow(cells.place, MAIN, "shown").address.cell == "home"
    monkeypatch.delenv("MIND_SESSION")
    with EventLog(place) as log:
        assert log.position() == 2
        branch(log, FAR, 2, "far/branch")
        place_to_follow(cells.place, "far/branch", "shown")
        assert current_session(log.place.home, log) == "far/branch"


def test_a_store_without_cells_is_as_it_was(
    pg_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nothing is chosen, and nothing is said."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with EventLog.create(place_of(pg_url)) as log:
        begin(log)
        assert log.place_of(MAIN) == log.place
        assert log.places() == [log.place]
        assert place_to_follow(log.place, None, "served") == log.place
        assert log.reached() == ([MAIN], [])


def test_what_is_redacted_goes_from_the_caches_of_its_cell(cells: Cells, tmp_path: Path) -> None:
    """The index of a search and kept states: no file of this machine has it left."""
    with EventLog(cells.place.with_options(cell="b")) as log:
        settings = {"embedding_model": "off"}
        start_session(log, SessionId("ward"), StillWorld(), message=SECRET, settings=settings)
    ours = {"MIND_SESSION": "ward"}
    assert SECRET in cells.mind("search", "Miller", "--json")[1]
    assert _holders(tmp_path)
    words = ("redact", "2", "--reason", "a name", "--yes", "--everywhere")
    code, _, err = cells.mind(*words, **ours)
    assert code == 0, err
    assert not _holders(tmp_path)


def _holders(directory: Path) -> list[Path]:
    files = (file for file in directory.rglob("*") if file.is_file())
    return [file for file in files if SECRET.encode() in file.read_bytes()]


@pytest.fixture
def early(pg_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[EventLog]:
    """A store opened before there was a second cell, in which ``far`` is by now."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    place = place_of(f"{pg_url}?schema=first")
    with EventLog.create(place) as log:
        begin(log, events=4)
        assert log.sessions() == [MAIN]
        add_cell(place.address, "b", f"{pg_url}?schema=b")
        with EventLog(place.with_options(cell="b")) as new:
            begin(new, FAR, events=3)
        yield log


def test_who_was_there_before_the_cell(early: EventLog) -> None:
    """A process finds a session of a new cell by its name, reads it and goes on with it."""
    assert early.exists(FAR)
    assert early.state(FAR).version == 3
    assert grow(early, FAR, 1).version == 4
    assert early.sessions() == [MAIN, FAR]


def test_who_lists_sessions_finds_the_new_cell(early: EventLog) -> None:
    """All that there are, also of a cell that came since the last time."""
    assert early.sessions() == [MAIN, FAR]
    assert [len(group) for group in (early.relatives(MAIN), early.relatives(FAR))] == [1, 1]
    assert {event.session for event in early.throughout()} == {MAIN, FAR}


def test_who_lists_nothing_finds_it_too(pg_url: str, tmp_path: Path) -> None:
    """Where the home cell has no session, either."""
    place = place_of(f"{pg_url}?schema=first")
    with EventLog.create(place) as log:
        assert log.sessions() == []
        add_cell(place.address, "b", f"{pg_url}?schema=b")
        with EventLog(place.with_options(cell="b")) as new:
            begin(new, FAR)
        assert log.sessions() == [FAR]


def test_an_order_that_was_read_goes_on(early: EventLog) -> None:
    """Whoever followed the store from before goes on with what it followed: the home cell."""
    assert early.sessions() == [MAIN, FAR]
    assert early.position() == 4
    assert [event.session for event in early.feed()] == [MAIN] * 4


def test_who_serves_from_before_the_cell(early: EventLog) -> None:
    """It goes on with the sessions of the home cell, whose order it reads; others are elsewhere."""
    from cli.rpc.subscriptions import Subscriptions  # noqa: PLC0415 — brings the server along

    assert early.sessions() == [MAIN, FAR]
    assert early.place_of(MAIN) == early.place
    assert Subscriptions(early)._looked_up(MAIN) == early.position()
    with pytest.raises(Refused, match="cell=b"):
        Subscriptions(early)._looked_up(FAR)


def test_many_sessions_are_looked_for_in_as_few_questions_as_some(
    cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each may be a round trip to the home cell, and one more to theirs."""
    asked = []
    ask = Cursor.ask
    monkeypatch.setattr(Cursor, "ask", lambda *words: (asked.append(words[1]), ask(*words))[1])
    counts = []
    for first, last in ((0, 2), (2, 9)):
        with EventLog(cells.place) as log:
            for number, root in product(range(first, last), (MAIN, FAR)):
                branch(log, root, 2, f"{root}/{number}")
        with EventLog(cells.place) as log:
            asked.clear()
            assert len(branches(log)) == 2 + 2 * last
            counts.append(len(asked))
    assert counts[0] == counts[1]


def test_what_is_followed_elsewhere(cells: Cells) -> None:
    """A server of one cell does not mix its positions with those of another."""
    from cli.rpc.subscriptions import Subscriptions  # noqa: PLC0415 — brings the server along

    with EventLog(cells.place.with_options(cell="b")) as log:
        subscriptions = Subscriptions(log)
        assert subscriptions._looked_up(FAR) == log.position()
        with pytest.raises(Refused, match="cell=home"):
            subscriptions._looked_up(MAIN)


@pytest.mark.slow
def test_what_goes_on_until_it_is_ended(cells: Cells) -> None:
    """The installed command follows a session, and serves it, from the cell where it is."""
    follow, serve = ("log", "--follow", "-n", "1"), ("serve", "--port", "0")
    with _running(cells, *follow) as (following, told):
        assert "message.sent" in told
        with EventLog(cells.place) as log:
            grow(log, FAR, 1)
        assert "thought.added" in _line(following)
    with _running(cells, *serve) as (_, told):
        assert place_of(json.loads(told)["store"]).address.cell == "b"


@contextmanager
def _running(cells: Cells, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command, and the first line that it says."""
    with subprocess.Popen(
        [MIND, *words], env=cells.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process, _line(process)
        finally:
            process.send_signal(signal.SIGINT)


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()
