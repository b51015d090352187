"""A store on several servers: where sessions are, and that no name is in two places."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import psycopg
import pytest
from typer.testing import CliRunner

from cli.main import build
from commands.eventlog import EventLog
from commands.eventlog.place import Place, place_of
from commands.eventlog.postgres.new_cell import add_cell
from commands.redaction import copies, redact_events
from domain.errors import BadSetting, Refused, SessionExists
from domain.ids import SessionId
from domain.server_errors import (
    BadPlace,
    ManyCells,
    NoSuchCell,
    NotSynchronous,
    StoreIsUnreachable,
)
from tests.commands.eventlog.stores import (
    MAIN,
    StillWorld,
    begin,
    branch,
    draw,
    grow,
    pool,
    thought,
)
from tests.postgres.servers import Server

ROOTS = tuple(f"s{n}" for n in range(9))


@pytest.fixture
def store(pg_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> Place:
    """A store with two cells more, in schemas of one database, and a session from before them."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    place = place_of(f"{pg_url}?schema=first")
    with EventLog.create(place) as log:
        begin(log, events=4)
    for name in ("b", "c"):
        add_cell(place.address, name, f"{pg_url}?schema={name}")
    return place


@pytest.fixture
def full(store: Place) -> Iterator[EventLog]:
    """The same with roots in every cell, each with a fork of a fork."""
    with EventLog(store) as log:
        for name in ROOTS:
            begin(log, name, events=3)
            branch(log, name, 2, f"{name}/child")
            grow(log, f"{name}/child", 2)
            branch(log, f"{name}/child", 4, f"{name}/child/again")
        yield log


def _places(place: Place) -> list[Place]:
    with EventLog(place) as log:
        return log.places()


def _cells(place: Place) -> dict[str, list[str]]:
    found = {}
    for cell in _places(place):
        with EventLog(cell) as log:
            found[cell.address.cell or ""] = [str(name) for name in log.sessions()]
    return found


def test_a_family_is_in_one_cell(full: EventLog) -> None:
    """Forks, and forks of forks, are where their root is; roots are in all cells."""
    cells = _cells(full.place)
    assert set(cells) == {"home", "b", "c"}
    assert all(cells.values())
    for name in ROOTS:
        family = {name, f"{name}/child", f"{name}/child/again"}
        assert [cell for cell, has in cells.items() if family & set(has)] == [
            cell for cell, has in cells.items() if family <= set(has)
        ]


def test_all_cells_are_read_as_one_store(full: EventLog) -> None:
    """Sessions, states, chains and histories are those of a store with one cell."""
    names = {*ROOTS, *(f"{n}/child" for n in ROOTS), *(f"{n}/child/again" for n in ROOTS), MAIN}
    assert set(full.sessions()) == names
    for name in ROOTS:
        child = SessionId(f"{name}/child")
        assert full.state(child).version == 5
        assert [event.version for event in full.read(child)] == [1, 2, 3, 4, 5]
    verdicts = list(full.verify())
    assert {verdict.session for verdict in verdicts} == names
    assert not [finding for verdict in verdicts for finding in verdict.findings]


def test_a_name_is_in_one_place(full: EventLog) -> None:
    """Wherever a session is, no other one of its name can begin; not in a named cell either."""
    for name in (*ROOTS[:4], f"{ROOTS[1]}/child", MAIN):
        with pytest.raises(SessionExists):
            begin(full, name)
    for cell in full.places():
        with EventLog(cell) as log, pytest.raises(SessionExists):
            begin(log, ROOTS[0])


def test_who_has_not_heard_of_the_cells(pg_url: str, store: Place) -> None:
    """A process that opened the store before can't begin what is in another cell by now."""
    with psycopg.connect(pg_url, autocommit=True) as connection:
        connection.execute("DELETE FROM first.cells")
        with EventLog(store) as old:
            add_cell(store.address, "b", f"{pg_url}?schema=b")
            add_cell(store.address, "c", f"{pg_url}?schema=c")
            with EventLog(store) as new:
                for name in ROOTS:
                    begin(new, name)
                elsewhere = next(name for name in ROOTS if name in _cells(store)["b"])
            with pytest.raises(SessionExists):
                begin(old, elsewhere)


def test_what_was_only_reserved(pg_url: str, store: Place) -> None:
    """Whoever is killed between the directory and the cell leaves a name that can be used."""
    with psycopg.connect(pg_url, autocommit=True) as connection:
        connection.execute("SELECT first.reserve('x', 'c')")
    with EventLog(store) as log:
        assert not log.exists(SessionId("x"))
        begin(log, "x")
        assert log.exists(SessionId("x"))
    assert "x" in _cells(store)["c"]


def test_positions_are_those_of_a_cell(full: EventLog) -> None:
    """What needs an order of all events says which cells there are; each cell has one."""
    for question in (full.position, lambda: list(full.feed()), lambda: full.hash_at(1)):
        with pytest.raises(ManyCells, match="home, b, c"):
            question()
    total = 0
    for cell in full.places():
        with EventLog(cell) as log:
            positions = [event.position for event in log.feed()]
            assert positions == list(range(1, log.position() + 1))
            total += len(positions)
    assert total == 4 + len(ROOTS) * (3 + 3 + 1)


def test_agents_are_at_home(full: EventLog) -> None:
    """Streams that are no sessions stay where the rules across them can be checked."""
    begin(full, "agent:chef-1")
    home, *others = full.places()
    for cell in others:
        with EventLog(cell) as log:
            assert "agent:chef-1" not in log.streams()
    with EventLog(home) as log:
        assert "agent:chef-1" in log.streams()


def test_a_cell_alone(store: Place) -> None:
    """A session that begins in a named cell is there; a name of no cell is refused."""
    with EventLog(store.with_options(cell="b")) as log:
        begin(log, "chosen")
    assert "chosen" in _cells(store)["b"]
    with pytest.raises(NoSuchCell, match="home, b, c"):
        EventLog(store.with_options(cell="nope"))


def test_what_can_be_no_cell(pg_url: str, store: Place) -> None:
    """A store with events, a store's own server, and another's cell are left as they are."""
    add_cell(store.address, "b", f"{pg_url}?schema=b")  # again: nothing changes
    with EventLog.create(place_of(f"{pg_url}?schema=whole")) as log:
        begin(log)
    for schema in ("whole", "first", "c"):
        with pytest.raises(BadPlace):
            add_cell(store.address, "d", f"{pg_url}?schema={schema}")
    with pytest.raises(BadPlace):
        add_cell(store.address, "b", f"{pg_url}?schema=other")
    for name in ("home", "B", "", "a b"):
        with pytest.raises(BadSetting):
            add_cell(store.address, name, f"{pg_url}?schema=d")
    with pytest.raises(BadPlace, match="is a word of SQL"):
        add_cell(store.address, "d", f"{pg_url}?schema=full")
    with pytest.raises(BadPlace, match="the cell 'b' of another store"):
        EventLog(place_of(f"{pg_url}?schema=b"))
    with pytest.raises(BadPlace):
        add_cell(place_of(f"{pg_url}?schema=b").address, "e", f"{pg_url}?schema=e")


@pytest.mark.parametrize(
    "more", ["hostaddr=127.0.0.1", "service=mine", "passfile=p", "sslkeylogfile=k", "options=-cx=y"]
)
def test_a_directory_sends_nobody_astray(store: Place, pg_url: str, more: str) -> None:
    """A password that is kept for one host goes to no other, whatever the directory says."""
    address = f"{pg_url}?schema=d&{more}"
    said = f"the address of a cell can't say '{more.partition('=')[0]}'"
    with pytest.raises(BadPlace, match=said):
        add_cell(store.address, "d", address)
    with psycopg.connect(store.address.conninfo) as owner:
        owner.execute("UPDATE first.cells SET address = %s WHERE name = 'b'", (address,))
    with pytest.raises(BadPlace, match=said):
        EventLog(store)


def test_a_cell_is_gone_to_as_strictly_as_its_home(store: Place, pg_url: str) -> None:
    """What the user's address demands of a server, the directory does not take back."""
    address = f"{pg_url}?schema=b&require_auth=scram-sha-256"
    with psycopg.connect(store.address.conninfo) as owner:
        owner.execute("UPDATE first.cells SET address = %s WHERE name = 'b'", (address,))
    strict = place_of(f"{store.name}&require_auth=none")
    with EventLog(strict) as log:
        assert log.reached("session").away == []
    with EventLog(store) as log:  # the server here asks for no password, so that demand fails
        assert [one.cell for one in log.reached("session").away] == ["b"]


def test_a_bundle_comes_to_its_own(full: EventLog, tmp_path: Path) -> None:
    """What is imported again is found in the cell where it is; what is new stays together."""
    file = tmp_path / "family.mind"
    full.export(SessionId(ROOTS[0]), file)
    assert {taken.what for taken in full.take_over(file)} == {"known"}
    (directory := tmp_path / "other").mkdir()
    with EventLog.create(directory) as other:
        other.take_over(file)
        grow(other, ROOTS[0], 2)
        other.export(SessionId(ROOTS[0]), more := directory / "more.mind")
    assert {(t.name, t.what) for t in full.take_over(more)} >= {(ROOTS[0], "longer")}
    assert full.head(SessionId(ROOTS[0])).version == 5
    assert not [finding for verdict in full.verify() for finding in verdict.findings]


def test_a_bundle_under_another_name(full: EventLog, tmp_path: Path) -> None:
    """What had to be called otherwise elsewhere comes back to its own, wherever that is."""
    (directory := tmp_path / "other").mkdir()
    with EventLog.create(directory) as other:
        for name in ROOTS[:5]:
            full.export(SessionId(name), file := tmp_path / f"{name}.mind")
            begin(other, name, events=2, tag="another")
            assert other.take_over(file)[0].name == f"{name}-2"
            grow(other, f"{name}-2", 2)
            other.export(SessionId(f"{name}-2"), back := tmp_path / f"{name}-2.mind")
            taken = full.take_over(back)[0]
            assert (taken.session, taken.name, taken.what) == (f"{name}-2", name, "longer")
            assert full.head(SessionId(name)).version == 5
    assert not [finding for verdict in full.verify() for finding in verdict.findings]


def test_what_is_redacted_everywhere(full: EventLog) -> None:
    """Copies are found in all cells, and go from all of them."""
    secret = "the patient was called Ann Miller"  # noqa: S105 — what must not be found
    cells = _cells(full.place)
    for names in cells.values():
        root = SessionId(next(name for name in names if name in ROOTS))
        after = full.head(root).version
        full.append(root, after, draw(thought(secret), wish=(1 << 55) + after))
    said = next(r for r in full.throughout() if getattr(r.event, "text", "") == secret)
    chosen = [said, *copies(full, [said])]
    assert len(chosen) == len(cells)
    redact_events(full, chosen, "a name", StillWorld())
    assert not [r for r in full.throughout() if secret in repr(r.event)]
    assert [r.event.kind for r in full.throughout()].count("event.redacted") == len(cells)
    for one in chosen:
        assert secret not in pool(full, one.session)
    assert not [finding for verdict in full.verify() for finding in verdict.findings]


def test_what_needs_one_order_says_so_at_once(
    store: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is about all of the store, and about no session, is asked of a named cell."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    result = CliRunner().invoke(build(), ["rebuild", "--store", store.name])
    assert isinstance(result.exception, ManyCells)


def _at_once(*calls: Callable[[], object]) -> list[BaseException | None]:
    gate = Barrier(len(calls))

    def called(call: Callable[[], object]) -> BaseException | None:
        gate.wait()
        try:
            call()
        except Refused as error:
            return error
        return None

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(called, calls))


def test_two_add_one_cell_at_once(pg_url: str, store: Place) -> None:
    """Under two addresses: one is it, and the other server is still anybody's."""
    urls = [f"{pg_url}?schema=d{n}" for n in range(2)]
    told = _at_once(*(lambda url=url: add_cell(store.address, "d", url) for url in urls))  # type: ignore[misc]  # of a default
    assert sorted(type(error) for error in told if error) == [BadPlace]
    left = urls[0 if told[0] else 1]
    add_cell(store.address, "e", left)
    assert [place.address.cell for place in _places(store)] == ["home", "b", "c", "d", "e"]


def test_two_claim_one_server_at_once(pg_url: str, store: Place) -> None:
    """It is the cell of one store at most, however often they try."""
    other = place_of(f"{pg_url}?schema=other")
    EventLog.create(other).close()
    for n in range(4):
        url = f"{pg_url}?schema=e{n}"
        told = _at_once(
            lambda n=n, url=url: add_cell(store.address, f"e{n}", url),  # type: ignore[misc]
            lambda n=n, url=url: add_cell(other.address, f"x{n}", url),  # type: ignore[misc]
        )
        assert [type(error) for error in told if error] == [BadPlace]
        assert (f"e{n}" in {p.address.cell for p in _places(store)}) == (told[0] is None)


def test_killed_between_the_claim_and_the_directory(pg_url: str, store: Place) -> None:
    """Nothing is in the new cell yet, and adding it again makes it one."""
    with psycopg.connect(pg_url, autocommit=True) as connection:
        connection.execute(
            "CREATE FUNCTION first.die() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;"
            " CREATE CONSTRAINT TRIGGER dies AFTER INSERT ON first.cells DEFERRABLE"
            " INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION first.die()"
        )
        with pytest.raises(StoreIsUnreachable):
            add_cell(store.address, "d", f"{pg_url}?schema=d")
        connection.execute("DROP TRIGGER dies ON first.cells")
        row = connection.execute("SELECT cell FROM d.store").fetchone()
    assert row == ("d",)
    assert len(_places(store)) == 3
    add_cell(store.address, "d", f"{pg_url}?schema=d")
    assert len(_places(store)) == 4


def test_a_cell_that_came_meanwhile(pg_url: str, store: Place) -> None:
    """Whoever knows of some cells finds what is in one that was added since."""
    with EventLog(store) as old:
        add_cell(store.address, "d", f"{pg_url}?schema=d")
        with EventLog(store.with_options(cell="d")) as new:
            begin(new, "elsewhere")
        assert old.exists(SessionId("elsewhere"))
        assert grow(old, "elsewhere", 1).version == 2


def test_where_projects_and_agents_are_looked_for(store: Place) -> None:
    """At home, whichever cell is looked at: what is made from there is seen there."""
    with EventLog(store.with_options(cell="b")) as log:
        begin(log, "agent:chef-1")
        assert log.streams("agent") == ["agent:chef-1"]
        assert log.streams() == []


def test_all_cells_are_to_be_synchronous(
    pg_url: str, own_postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who asks for it at the store's address is not told so of the home cell alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    place = place_of(own_postgres.database())
    EventLog.create(place).close()
    add_cell(place.address, "b", pg_url)
    own_postgres.admin("ALTER SYSTEM SET synchronous_standby_names = 'another'")
    own_postgres.restart()
    with EventLog(place.with_options(replication="sync")) as log:
        assert log.streams("agent") == []
        with pytest.raises(NotSynchronous):
            log.sessions()


@pytest.fixture
def half(store: Place, own_postgres: Server) -> tuple[Place, Server]:
    """A store with a cell more, of a server of its own."""
    add_cell(store.address, "d", own_postgres.database())
    return store, own_postgres


def test_a_cell_that_is_down(half: tuple[Place, Server]) -> None:
    """What is in the others goes on: reads, appends, roots, forks, agents, redactions."""
    place, server = half
    with EventLog(place) as log:
        home = [name for name in ("s0", "s1", "s2", "s3", "s4") if begin(log, name, events=3)]
        cells = _cells(place)
        assert cells["d"], "none of these names is for that cell"
        up = [name for name in home if name not in cells["d"]]
    server.kill()
    with EventLog(place) as log:
        for name in up:
            assert log.state(SessionId(name)).version == 3
            branch(log, name, 2, f"{name}/child")
            assert grow(log, name, 2).version == 5
        begin(log, "agent:chef-1")
        assert log.streams("agent") == ["agent:chef-1"]
        log.redact({SessionId(up[0]): [2]}, "x", draw())
        assert log.state(SessionId(up[0])).version == 6
        for question in (log.sessions, lambda: log.state(SessionId(cells["d"][0]))):
            with pytest.raises(StoreIsUnreachable):
                question()
    server.start()
    with EventLog(place) as log:
        assert log.state(SessionId(cells["d"][0])).version == 3
        assert [r.event.kind for r in log.throughout()].count("event.redacted") == 1
        assert not [finding for verdict in log.verify() for finding in verdict.findings]
