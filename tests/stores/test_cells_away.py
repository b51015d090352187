"""A store of which one cell does not answer: what is told without it, and that this is said."""

import json
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest

from cli.kept_views import part
from cli.view_worker import Plan, work_on
from commands.dialogue import SendMessage
from commands.eventlog import EventLog
from commands.eventlog.place import Place, place_of
from commands.eventlog.postgres import directory
from commands.eventlog.postgres.new_cell import add_cell
from commands.handle import handle
from domain.errors import NoSuchSession, SessionExists
from domain.ids import SessionId
from domain.reach import Away
from domain.server_errors import BadPlace, CellsAreAway, StoreIsUnreachable
from tests.cli.conftest import MIND
from tests.cli.inside import inside
from tests.commands.eventlog.stores import (
    MAIN,
    StillWorld,
    begin,
    branch,
    draw,
    grow,
    thought,
)
from tests.projections.views.crew import wait_for

HERE, AWAY = [MAIN, "main/branch"], ["far", "far/branch"]
NOBODY = "postgresql://mind@127.0.0.1:1/nothing"
"""Where a connection is refused."""

SECRET = "the patient was called Ann Miller"  # noqa: S105 — what must not be found


class Torn(NamedTuple):
    """A store with sessions at home and in the cell ``d``, which can be taken away."""

    place: Place
    take_away: Callable[[], None]
    bring_back: Callable[[], None]
    mind: Callable[..., tuple[int, str, str]]
    move: Callable[..., None]
    """Gives it, or the cell that is named, another address."""


@pytest.fixture
def torn(pg_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Torn:
    """Everything answers yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    place = place_of(f"{pg_url}?schema=first")
    with EventLog.create(place) as log:
        begin(log, events=4)
        branch(log, MAIN, 2, HERE[1])
    add_cell(place.address, "d", f"{pg_url}?schema=d")
    with EventLog(place.with_options(cell="d")) as log:
        begin(log, AWAY[0], events=3)
        branch(log, AWAY[0], 2, AWAY[1])
    env = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    env |= {"MIND_STORE": place.name, "MIND_USER": "ann", "NO_COLOR": "1"}

    def move(address: str, cell: str = "d") -> None:
        with psycopg.connect(pg_url, autocommit=True) as connection:
            query = "UPDATE first.cells SET address = %s WHERE name = %s"
            connection.execute(query, (address, cell))

    return Torn(
        place,
        lambda: move(NOBODY),
        lambda: move(f"{pg_url}?schema=d"),
        lambda *words: inside([*words], env),
        move,
    )


def test_what_is_there_and_what_is_away(torn: Torn) -> None:
    """Who asks for it gets both, by name; who asks for all sessions gets none at all."""
    with EventLog(torn.place) as log:
        assert log.reached("session") == ([*HERE, *AWAY], [])
    torn.take_away()
    with EventLog(torn.place) as log:
        found = log.reached("session")
        assert found.streams == HERE
        assert [(one.cell, list(one.sessions)) for one in found.away] == [("d", AWAY)]
        assert found.names == [*HERE, *AWAY]
        for question in (log.sessions, log.streams, lambda: list(log.verify())):
            with pytest.raises(StoreIsUnreachable):
                question()
        assert log.relatives(MAIN) == HERE
        assert log.reached("agent") == ([], [])
        with pytest.raises(StoreIsUnreachable):
            list(log.verify([SessionId(AWAY[0])]))
        with pytest.raises(NoSuchSession):
            list(log.verify([SessionId("nobody")]))
    with (
        EventLog(torn.place.with_options(cell="d")) as log,
        pytest.raises(StoreIsUnreachable),
    ):
        log.reached()


def test_a_list_of_sessions(torn: Torn) -> None:
    """The others are listed; one sentence says how many are missing, and JSON which ones."""
    assert torn.mind("sessions")[0] == 0
    torn.take_away()
    code, out, err = torn.mind("sessions")
    assert code == 1
    assert "main/branch" in out
    assert "far" not in out
    assert err == (
        "mind: This is not all, since the cell 'd' with 2 sessions can't be reached:"
        " see that it runs, then try again.\n"
    )
    code, out, err = torn.mind("sessions", "--json", "--all")
    rows = json.loads(out)
    assert code == 1
    assert [(row["session"], row["away"]) for row in rows] == [
        *((name, None) for name in HERE),
        *((name, "d") for name in AWAY),
    ]
    assert len({tuple(row) for row in rows}) == 1
    assert {row["version"] for row in rows[2:]} == {None}
    assert "2 sessions can't be reached" in err


def test_which_is_meant_where_none_is_named(torn: Torn) -> None:
    """The first at home is the first of all, whoever is away."""
    torn.take_away()
    assert torn.mind("sessions")[1].splitlines()[1].startswith("* main")
    assert torn.mind("note", "a thought")[0] == 0


def test_nobody_knows_which_is_meant(torn: Torn, pg_url: str) -> None:
    """Where nothing is at home, the first of all may be where nobody answers."""
    store = place_of(f"{pg_url}?schema=second")
    EventLog.create(store).close()
    for cell in ("near", "gone"):
        add_cell(store.address, cell, f"{pg_url}?schema={cell}")
    with EventLog(store.with_options(cell="near")) as log:
        begin(log, "somewhere")
    with psycopg.connect(pg_url, autocommit=True) as connection:
        connection.execute("UPDATE second.cells SET address = %s WHERE name = 'gone'", (NOBODY,))
    at = ("--store", store.name)
    assert "* " not in torn.mind("sessions", *at)[1]
    code, _, err = torn.mind("note", "a thought", *at)
    assert code == 1
    assert err.startswith("mind: Nobody can say which session is the first, since the cell 'gone'")
    assert torn.mind("note", "a thought", "--session", "somewhere", *at)[0] == 0


def test_a_proof_of_what_can_be_reached(torn: Torn) -> None:
    """The rest is proved, and the exit code says that it was not all."""
    torn.take_away()
    code, out, err = torn.mind("verify")
    assert (code, out) == (1, "5 events of 2 sessions: all as written.\n")
    assert err.startswith("mind: Not all was proved, since the cell 'd' with 2 sessions")
    code, out, _ = torn.mind("verify", "--json")
    data = json.loads(out)
    assert (code, data["sessions"], data["findings"]) == (1, 2, [])
    assert [(one["cell"], one["sessions"]) for one in data["away"]] == [("d", AWAY)]
    assert torn.mind("verify", MAIN)[0] == 0
    assert torn.mind("verify", AWAY[0])[0] == 1
    torn.bring_back()
    assert json.loads(torn.mind("verify", "--json")[1])["away"] == []


def test_the_doctor_names_it(torn: Torn) -> None:
    """A cell that does not answer is a finding; what answers is proved all the same."""
    torn.take_away()
    code, out, _ = torn.mind("doctor", "--json")
    checks = {check["what"]: check for check in json.loads(out)}
    assert code == 1
    assert checks["cell d"]["well"] is False
    assert checks["cell d"]["sentence"].startswith("2 sessions in it; ")
    assert checks["history"]["sentence"] == "5 events, all as written"


def test_how_the_rest_stands(torn: Torn) -> None:
    """The others are told of as always, and of the one what the directory knows."""
    torn.take_away()
    code, out, _ = torn.mind("store", "status", "--json")
    home, away = json.loads(out)
    assert (code, home["cell"], home["sessions"]) == (1, "home", 2)
    assert (away["cell"], away["sessions"], away["position"]) == ("d", 2, None)
    assert away["said"][0]["how"] == "bad"
    assert set(home) == set(away)
    code, out, err = torn.mind("store", "status")
    assert "does not answer" in out
    assert err.startswith("mind: This is not all, since the cell 'd'")


def test_what_is_about_one_session_is_whole(torn: Torn) -> None:
    """Its forks are where it is: an audit and an export miss nothing, and say nothing."""
    torn.take_away()
    code, out, err = torn.mind("audit", MAIN, "--json")
    assert (code, err) == (0, "")
    assert "session.forked" in {kind for row in json.loads(out) for kind in row["kinds"]}
    assert torn.mind("audit", AWAY[0])[0] == 1


def test_copies_that_nobody_can_look_for(torn: Torn) -> None:
    """Nothing is redacted while copies may be elsewhere; alone, it is, and what is left is said."""
    with EventLog(torn.place) as log:
        log.append(MAIN, 4, draw(thought(SECRET), wish=1 << 57))
    torn.take_away()
    words = ("redact", "5", "--session", MAIN, "--reason", "a name", "--yes")
    for more in ((), ("--everywhere",)):
        code, out, err = torn.mind(*words, *more)
        assert (code, out) == (1, "")
        assert "can't be looked for everywhere" in err
    with EventLog(torn.place) as log:
        assert [e.redacted for e in log.pick(MAIN, [5])] == [False]
    code, out, err = torn.mind(*words, "--only", "--json")
    data = json.loads(out)
    assert (code, data["redacted"]) == (1, ["main@5"])
    assert [one["cell"] for one in data["away"]] == ["d"]
    assert "was not looked for everywhere" in err
    with EventLog(torn.place) as log:
        assert [e.redacted for e in log.pick(MAIN, [5])] == [True]


def test_a_name_that_is_nowhere(torn: Torn) -> None:
    """The directory knows all names: what is in none of the cells is not there."""
    torn.take_away()
    code, _, err = torn.mind("log", "--session", "fra")
    assert code == 2
    assert "There is no session 'fra'" in err
    assert "far" in err


def say(place: Place, cell: str, session: str, text: str) -> None:
    """A message in a session of a cell."""
    with EventLog(place.with_options(cell=cell)) as log:
        handle(log, SessionId(session), SendMessage(text=text), StillWorld())


def test_a_search_of_what_answers(torn: Torn) -> None:
    """Hits of the others are shown; one sentence and the exit code say that there may be more."""
    say(torn.place, "home", MAIN, "the tides here")
    say(torn.place, "d", AWAY[0], "the tides there")
    assert torn.mind("switch", MAIN)[0] == 0
    code, out, err = torn.mind("search", "tides", "--words", "--json")
    assert (code, err) == (0, "")
    assert {hit["session"] for hit in json.loads(out)} == {MAIN, AWAY[0]}
    torn.take_away()
    code, out, err = torn.mind("search", "tides", "--words", "--json")
    assert code == 1
    assert {hit["session"] for hit in json.loads(out)} == {MAIN}
    assert err.startswith("mind: Not all was searched, since the cell 'd' with 2 sessions")
    assert torn.mind("search", "tides", "--words", "--session", MAIN)[0] == 0
    assert torn.mind("search", "tides", "--words", "--session", AWAY[0])[0] == 1


def test_a_search_by_who_works_where_nobody_answers(torn: Torn) -> None:
    """All others are searched, unless what is asked is about that very session."""
    say(torn.place, "home", MAIN, "the tides here")
    assert torn.mind("switch", AWAY[0])[0] == 0
    torn.take_away()
    words = ("search", "tides", "--words", "--json")
    code, out, err = torn.mind(*words)
    assert (code, {hit["session"] for hit in json.loads(out)}) == (1, {MAIN})
    assert err.startswith("mind: Not all was searched, since the cell 'd' with 2 sessions")
    for more in (("--as-of", "head"), ("--recall",)):
        code, out, err = torn.mind(*words, *more)
        assert (code, out) == (1, "")
        assert "does not answer" in err


def test_a_talk_begins_with_what_answers(torn: Torn) -> None:
    """What has to do with it is looked for in the others, also where the current one is away."""
    say(torn.place, "home", MAIN, "the tides at home")
    assert torn.mind("switch", AWAY[0])[0] == 0
    torn.take_away()
    code, out, err = torn.mind("start", "the tides", "--json")
    assert code == 0
    assert [chat["session"] for chat in json.loads(out)["chats"]] == [MAIN]
    assert err.startswith("Not all was looked at, since the cell 'd' with 2 sessions")
    code, _, err = torn.mind("start", "the tides", "--choose", "1")
    assert code == 0
    assert "Working on main." in err


@pytest.mark.parametrize("words", ["head", "analyse costs --workers 0", "work rebuild --all"])
def test_what_would_look_like_all(torn: Torn, words: str) -> None:
    """It is not begun."""
    assert torn.mind("store", "migrate")[0] == 0
    assert torn.mind(*words.split())[0] == 0
    torn.take_away()
    code, out, err = torn.mind(*words.split())
    assert (code, out) == (1, "")
    assert "since the cell 'd' with 2 sessions can't be reached" in err
    torn.bring_back()
    assert torn.mind(*words.split())[0] == 0


def test_an_analysis_of_one_cell(torn: Torn) -> None:
    """That can be had while another is away, as the refusal says."""
    torn.take_away()
    words = ("analyse", "sessions", "--workers", "0", "--json")
    assert "or name one that answers: --store '…?cell=home'" in torn.mind(*words)[2]
    code, out, _ = torn.mind(*words, "--store", torn.place.with_options(cell="home").name)
    assert (code, [row["session"] for row in json.loads(out)["rows"]]) == (0, HERE)


def test_workers_go_on_with_the_rest(torn: Torn) -> None:
    """What one cell keeps from them, the others don't."""
    assert torn.mind("store", "migrate")[0] == 0
    torn.take_away()
    code, _, err = torn.mind("work", "--once")
    assert code == 1
    assert "Cell home: Taken in: " in err
    assert "mind: Not all was taken in, since the cell 'd' with 2 sessions" in err
    code, out, err = torn.mind("work", "status", "--json")
    assert (code, {row["cell"] for row in json.loads(out)}) == (1, {"home"})
    assert {row["lag"] for row in json.loads(out)} == {0}
    assert err.startswith("mind: This is not all, since the cell 'd'")
    code, out, _ = torn.mind("work", "show", "activity", "--json")
    assert (code, len(json.loads(out))) == (1, 2)
    torn.bring_back()
    assert torn.mind("work", "--once")[0] == 0
    code, out, _ = torn.mind("work", "show", "activity", "--json")
    assert (code, len(json.loads(out))) == (0, 4)


def test_a_worker_waits_for_one_that_was_away(
    torn: Torn, capsys: pytest.CaptureFixture[str]
) -> None:
    """It goes on with the others, and takes it up when it is back."""
    assert torn.mind("store", "migrate")[0] == 0
    torn.take_away()
    stop = threading.Event()
    with ThreadPoolExecutor(1) as threads:
        working = threads.submit(work_on, torn.place, Plan(1, None, once=False, batch=100), stop)
        try:
            wait_for(lambda: working.done() or positions(torn, "home") == {5})
            torn.bring_back()
            wait_for(lambda: working.done() or positions(torn, "d") == {4})
        finally:
            stop.set()
        working.result()
    told = [line for line in capsys.readouterr().err.splitlines() if "going on when" in line]
    assert [line.partition(":")[0] for line in told] == ["Cell d"]


def positions(torn: Torn, cell: str) -> set[int]:
    """How far the views of a cell are."""
    with part(torn.place.with_options(cell=cell), writable=False) as found:
        return {one.position for one in found.views.tracked().values()}


def test_silence_is_remembered(torn: Torn, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who found out that a cell does not answer does not ask it again for each question."""
    monkeypatch.setattr(directory, "AGAIN", 10**6)
    torn.take_away()
    with EventLog(torn.place) as log:
        assert [one.cell for one in log.reached().away] == ["d"]
        torn.bring_back()
        with pytest.raises(StoreIsUnreachable):
            log.state(SessionId(AWAY[0]))
        assert [one.cell for one in log.reached().away] == ["d"]
        assert log.state(MAIN).version == 4


def test_it_is_asked_again_later(torn: Torn, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that stays finds a cell that came back, and what is in it."""
    monkeypatch.setattr(directory, "AGAIN", 0)
    torn.take_away()
    with EventLog(torn.place) as log:
        assert [one.cell for one in log.reached().away] == ["d"]
        torn.bring_back()
        assert log.reached("session").streams == [*HERE, *AWAY]
        assert grow(log, AWAY[0], 1).version == 4


def test_one_that_is_silent_holds_up_no_other(torn: Torn) -> None:
    """Who waits for a cell waits alone: others are reached meanwhile for the first time."""
    url = str(torn.place.url)
    add_cell(torn.place.address, "e", url.replace("schema=first", "schema=e"))
    with EventLog(torn.place.with_options(cell="e")) as log:
        begin(log, "near", events=2)
    silent = socket.create_server(("127.0.0.1", 0))
    silent.settimeout(20)
    port = silent.getsockname()[1]
    torn.move(f"postgresql://mind@127.0.0.1:{port}/nothing?sslmode=disable&connect_timeout=20")
    with EventLog(torn.place) as log, ThreadPoolExecutor(1) as threads:
        waits = threads.submit(log.state, SessionId(AWAY[0]))
        with silent, silent.accept()[0]:
            assert log.state(SessionId("near")).version == 2
            assert not waits.done()
        with pytest.raises(StoreIsUnreachable):
            waits.result(20)


def test_a_session_begins_where_somebody_answers(torn: Torn) -> None:
    """It is in one cell for good then, whoever looks for it, and whatever its name says."""
    names = [f"new/{number}" for number in range(8)]
    with EventLog(torn.place) as log:
        says = {log._recorder._chosen(name) for name in names}  # type: ignore[attr-defined]
        assert says == {"home", "d"}
    torn.take_away()
    with EventLog(torn.place) as log:
        for name in names:
            begin(log, name, events=2)
    torn.bring_back()
    with EventLog(torn.place) as log:
        for name in names:
            assert grow(log, name, 1).version == 3
            with pytest.raises(SessionExists):
                begin(log, name)
        assert sorted(log.sessions()) == sorted([*HERE, *AWAY, *names])
        assert [log.place_of(SessionId(name)).address.cell for name in names] == ["home"] * 8


def test_several_that_are_silent_are_waited_for_once(torn: Torn) -> None:
    """All are asked before any of them has to answer."""
    url = str(torn.place.url)
    add_cell(torn.place.address, "e", url.replace("schema=first", "schema=e"))
    with ExitStack() as stack:
        servers = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(2)]
        for name, server in zip("de", servers, strict=True):
            server.settimeout(20)
            port = server.getsockname()[1]
            query = "sslmode=disable&connect_timeout=60"
            torn.move(f"postgresql://mind@127.0.0.1:{port}/nothing?{query}", name)
        log = stack.enter_context(EventLog(torn.place))
        threads = stack.enter_context(ThreadPoolExecutor(1))
        found = threads.submit(log.reached, "session")
        with servers[0].accept()[0], servers[1].accept()[0]:
            assert not found.done()
        assert [one.cell for one in found.result().away] == ["d", "e"]


def test_nobody_has_to_wait_for_silence(torn: Torn, tmp_path: Path) -> None:
    """Ctrl-C ends a command at once that asks a cell which says nothing."""
    env = {**os.environ, "MIND_STORE": torn.place.name, "XDG_STATE_HOME": str(tmp_path / "state")}
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(20)
        where = f"127.0.0.1:{silent.getsockname()[1]}"
        torn.move(f"postgresql://mind@{where}/nothing?sslmode=disable&connect_timeout=600")
        command = subprocess.Popen([MIND, "sessions"], env=env, stderr=subprocess.PIPE)
        with command, silent.accept()[0]:
            command.send_signal(signal.SIGINT)
            assert command.wait(30) == 130


def test_another_store_where_a_cell_was(torn: Torn) -> None:
    """Its sessions are not taken for ours, and none of ours goes there."""
    url = str(torn.place.url).replace("schema=first", "schema=theirs")
    with EventLog.create(place_of(url)) as theirs:
        begin(theirs, "alien")
        torn.move(url)
        for ask in (
            lambda log: log.sessions(),
            lambda log: log.state(SessionId(AWAY[0])),
            lambda log: [begin(log, f"new/{number}") for number in range(8)],
        ):
            with EventLog(torn.place) as log, pytest.raises(BadPlace, match="not the cell 'd'"):
                ask(log)
        assert theirs.sessions() == ["alien"]


def test_the_sentence_of_several() -> None:
    """Each cell is named with what is in it."""
    error = CellsAreAway([Away("a", "there", (MAIN,), "why"), Away("b", "there", (), "why")])
    assert "the cell 'a' with 1 session and the cell 'b' with 0 sessions" in error.sentence


def test_whose_patience_counts() -> None:
    """Who may wait for a successor does so, though somebody in a hurry was told that it is away."""
    silence = directory.Silence()
    for _ in range(2):
        with pytest.raises(StoreIsUnreachable), silence.asking("d", "there"):
            raise StoreIsUnreachable("there", "nobody")
    asked = []
    with silence.asking("d", "there", patience=30.0):
        asked.append("d")
    assert asked
