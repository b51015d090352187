"""Making and opening a store: by one at most, and with words for what is wrong."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier

import psycopg
import pytest
from typer.testing import Result

from commands.eventlog import EventLog
from commands.eventlog.place import place_of
from commands.eventlog.postgres.connections import connect
from commands.eventlog.status import why_closed
from domain.errors import (
    LogosphereError,
    NoStore,
    NotAStore,
    StoreExists,
    StoreIsClosed,
    StoreIsReadOnly,
)
from domain.server_errors import (
    BadPlace,
    MayNotMakeTables,
    NoSuchDatabase,
    NotSynchronous,
    StoreIsUnreachable,
    WriteInDoubt,
)
from tests.commands.eventlog.stores import MAIN, begin, branch, draw, grow, pool, thought
from tests.postgres.servers import Server
from tests.stores.places import Connection, Site, stored, whole
from tests.stores.proxy import Wire

ROOT = Path(__file__).parents[2]
DRIVER = Path(__file__).with_name("driver.py")
PASSWORD = "hunter2pass"  # noqa: S105 — what must never be shown


def test_six_make_it_at_once(site: Site) -> None:
    """One does, the others are told that it is there, and all can use it."""
    gate = Barrier(6)

    def makes(number: int) -> bool:
        gate.wait()
        try:
            log, made = EventLog.create(site.place), True
        except StoreExists:
            log, made = EventLog(site.place), False
        with log:
            begin(log, f"of/{number}")
        return made

    with ThreadPoolExecutor(6) as threads:
        assert sorted(threads.map(makes, range(6))) == [False] * 5 + [True]
    assert sorted(site.open().sessions()) == [f"of/{number}" for number in range(6)]


@pytest.mark.slow
def test_six_processes_make_it_at_once(site: Site) -> None:
    """The same, of processes that start together."""
    makers = [
        subprocess.Popen(
            [sys.executable, str(DRIVER), "create", site.place.name, str(number)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(6)
    ]
    for maker in makers:
        assert maker.stdin is not None
        maker.stdin.write("\n")
        maker.stdin.flush()
    told = sorted(maker.communicate(timeout=120)[0].strip() for maker in makers)
    assert told == ["exists"] * 5 + ["made"]
    assert sorted(site.open().sessions()) == [f"of/{number}" for number in range(6)]


def test_there_is_none(site: Site) -> None:
    """Whoever opens nothing is told how to make something."""
    with pytest.raises(NoStore, match="mind init"):
        site.open()
    site.create()
    with pytest.raises(StoreExists):
        EventLog.create(site.place)


@pytest.mark.slow
def test_two_stores_in_one_database(newest: Site) -> None:
    """Each in a schema of its own; neither hears of the other."""
    one = newest.create()
    place = newest.place.with_options(schema="another_one")
    with pytest.raises(NoStore):
        EventLog(place)
    with EventLog.create(place) as two:
        begin(one, events=2)
        begin(two, events=3, tag="other")
        assert (pool(one, MAIN), pool(two, MAIN)) == (["t2"], ["other2", "other3"])
        assert one.place.home != two.place.home


def test_a_schema_of_somebody_else(newest: Site) -> None:
    """Where other tables have the names of ours, nothing is read or changed."""
    place = newest.place.with_options(schema="shop")
    with newest.sql() as owner:
        for table in ("store (goods text)", "stored_events (id int)", "routes ()"):
            owner.execute(f"CREATE SCHEMA shop CREATE TABLE shop.{table}".encode())
            with pytest.raises(NotAStore):
                EventLog.create(place)
            with pytest.raises((NotAStore, NoStore)):
                EventLog(place)
            found = owner.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'shop'")
            assert found.fetchone() == (1,)
            owner.execute("DROP SCHEMA shop CASCADE")


# who only reads


def only_reads(log: EventLog) -> None:
    """All of a session with two thoughts can be read, and whoever acts is told that he can't."""
    assert pool(log, MAIN) == ["t2", "t3"]
    assert len(list(log.feed())) == 3
    whole(log)
    for act in (
        lambda: log.append(MAIN, 3, draw(thought("x"), wish=1)),
        lambda: log.exclusively(MAIN, lambda _: draw(thought("x"), wish=1)),
        lambda: begin(log, "other"),
        lambda: branch(log, MAIN, 2, "fork"),
        lambda: log.redact({MAIN: [2]}, "no", draw(wish=2)),
    ):
        with pytest.raises(StoreIsReadOnly, match="can't be written: reading works"):
            act()
    assert log.state(MAIN).version == 3


def test_a_store_that_is_opened_to_be_read(site: Site) -> None:
    """All can be read and nothing written, also by whom every right was given."""
    log = site.create()
    begin(log, events=3)
    before = stored(log)
    with EventLog(site.place, writable=False) as reader:
        only_reads(reader)
    assert stored(log) == before


def test_whoever_may_not_even_read(newest: Site) -> None:
    """Is not told that reading works."""
    schema = newest.place.address.schema
    newest.create()
    with as_role(newest, "SELECT") as guest, superuser(newest) as admin:
        role = f"guest_{os.getpid()}"
        admin.execute(f"REVOKE USAGE ON SCHEMA {schema} FROM {role}".encode())
        with pytest.raises(StoreIsClosed, match=rf"can't be read \(.*{schema}\): ask its owner"):
            EventLog(guest.place)


def test_a_server_holds_whoever_only_reads_to_it(newest: Site) -> None:
    """Whatever is asked by a connection of his, also to listen; who writes is as free as before."""
    newest.create()
    address = newest.place.address
    make = f"CREATE TABLE {address.schema}.mine ()".encode()
    with connect(address._replace(read_only=True)) as reader:
        reader.execute("LISTEN news")
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            reader.execute(make)
    with connect(address) as writer:
        writer.execute(make)


# who is let in


@contextmanager
def as_role(site: Site, rights: str) -> Iterator[EventLog]:
    """The store as somebody sees it who has these rights on its tables, and no other."""
    schema, role = site.place.address.schema, f"guest_{os.getpid()}"
    with superuser(site) as admin:
        for statement in (
            f"CREATE ROLE {role} LOGIN",
            f"GRANT USAGE ON SCHEMA {schema} TO {role}",
            f"GRANT {rights} ON ALL TABLES IN SCHEMA {schema} TO {role}",
        ):
            admin.execute(statement.encode())
        log = site.open(place_of(site.place.name.replace("//mind@", f"//{role}@")))
        try:
            yield log
        finally:
            log.close()
            admin.execute(f"DROP OWNED BY {role}".encode())
            admin.execute(f"DROP ROLE {role}".encode())


def superuser(site: Site) -> Connection:
    """A connection of whoever runs the server."""
    conninfo = site.place.address.conninfo
    if "//mind@" not in conninfo:
        pytest.skip("who may make roles there is not known")
    return psycopg.connect(conninfo.replace("//mind@", "//postgres@"), autocommit=True)


def test_whoever_may_not_make_tables(served: Site) -> None:
    """Is told so where there is no store yet, and where there is one; nothing is left of it."""
    schema, role = served.place.address.schema, f"guest_{os.getpid()}"
    place = place_of(served.place.name.replace("//mind@", f"//{role}@"))
    with superuser(served) as admin:
        admin.execute(f"CREATE ROLE {role} LOGIN".encode())
        try:
            with pytest.raises(MayNotMakeTables, match="mind store migrate"):
                EventLog.create(place)
            there = admin.execute("SELECT to_regnamespace(%s)", (schema,)).fetchone()
            assert there == (None,)
        finally:
            admin.execute(f"DROP ROLE {role}".encode())


def test_whoever_may_only_read(served: Site) -> None:
    """Reads all there is, and is told in a sentence that nothing can be written."""
    log = served.create()
    begin(log, events=3)
    with as_role(served, "SELECT") as reader:
        only_reads(reader)
    assert len(stored(log)) == 3


def test_why_nothing_can_be_written(newest: Site) -> None:
    """The server says it when it is asked, and nothing has to be tried for that."""
    schema = newest.place.address.schema
    begin(newest.create(), events=3)
    assert why_closed(newest.place) is None
    with as_role(newest, "SELECT, INSERT") as writer:
        assert why_closed(writer.place) is None
    with as_role(newest, "SELECT") as reader, superuser(newest) as admin:
        assert "ask the owner to GRANT it INSERT" in str(why_closed(reader.place))
        role = f"guest_{os.getpid()}"
        for statement in (
            f"GRANT INSERT ON ALL TABLES IN SCHEMA {schema} TO {role}",
            f"ALTER ROLE {role} SET default_transaction_read_only = on",
        ):
            admin.execute(statement.encode())
        assert "opens transactions to be read alone" in str(why_closed(reader.place))


def test_whoever_may_only_add(newest: Site) -> None:
    """Needs no right to change or delete, as long as nothing is redacted."""
    log = newest.create()
    begin(log, events=3)
    with as_role(newest, "SELECT, INSERT") as writer:
        assert grow(writer, MAIN, 1).version == 4
        writer.exclusively(MAIN, lambda _: draw(thought("x"), wish=1))
        begin(writer, "other")
        branch(writer, MAIN, 2, "fork")
        with pytest.raises(StoreIsReadOnly):
            writer.redact({MAIN: [2]}, "no", draw(wish=2))
    assert len(stored(log)) == 7
    whole(log)


def test_a_schema_that_somebody_made_for_us(newest: Site) -> None:
    """Who may not make schemas can use one that was made for him."""
    schema = newest.place.address.schema
    database = newest.place.name.rpartition("/")[2]
    with superuser(newest) as admin:
        admin.execute(f"CREATE SCHEMA {schema} AUTHORIZATION mind".encode())
        admin.execute(f'ALTER DATABASE "{database}" OWNER TO postgres'.encode())
        try:
            begin(newest.create(), events=2)
            assert pool(newest.open(), MAIN) == ["t2"]
        finally:
            newest.close()
            admin.execute(f'ALTER DATABASE "{database}" OWNER TO mind'.encode())


def test_a_database_that_is_not_there(postgres: Server) -> None:
    """Is named, with what makes it; where another host may have it, that it does not answer."""
    address = postgres.url("nodb")
    for act in (EventLog, EventLog.create):
        with pytest.raises(NoSuchDatabase, match=r"no database 'nodb': .*\(createdb nodb\)"):
            act(place_of(address))
    two = address.replace("@127.0.0.1:", "@127.0.0.1:1,127.0.0.1:")
    with pytest.raises(StoreIsUnreachable, match="does not exist"):
        EventLog.create(place_of(two))


def test_nobody_answers(postgres: Server) -> None:
    """A server that is not there, a database that is not, a role that is not: in a sentence."""
    url = postgres.url("nowhere")
    nobody = place_of(postgres.url(user="nobody"))
    with pytest.raises(StoreIsUnreachable) as closed:
        EventLog(nobody)
    assert closed.value.what == f'{str(nobody)!r} does not answer (role "nobody" does not exist)'
    for place in (
        place_of(f"postgresql://mind:{PASSWORD}@127.0.0.1:1/db"),
        place_of(url.replace("mind@", f"mind:{PASSWORD}@")),
        place_of(url.replace("mind@", f"nobody:{PASSWORD}@")),
        place_of(f"{url}?password={PASSWORD}&sslpassword={PASSWORD}"),
        place_of(f"{url}?no_such_option=1&password={PASSWORD}"),
        place_of(f"{url}?password={PASSWORD}=x"),
        place_of(f"postgresql://mind:{PASSWORD}@[::1/db"),
        place_of(f"postgresql://mind:{PASSWORD}@127.0.0.1:port/db"),
    ):
        for act in (EventLog, EventLog.create):
            with pytest.raises(LogosphereError) as refused:
                act(place)  # type: ignore[operator]  # one of the two
            assert PASSWORD not in refused.value.sentence
            assert refused.value.sentence.endswith(".")


def test_a_standby_that_nobody_has(newest: Site) -> None:
    """Whoever wants every word confirmed by a standby is told that the server asks none."""
    newest.create()
    with pytest.raises(NotSynchronous, match="synchronous_standby_names"):
        EventLog(newest.place.with_options(replication="sync"))


def test_a_successor_that_no_standby_follows(own_postgres: Server) -> None:
    """The same is told to whoever had it open, when its server has become one that asks none."""
    place = place_of(own_postgres.database())
    with EventLog.create(place) as log:
        begin(log)
    own_postgres.admin("ALTER SYSTEM SET synchronous_standby_names = 'another'")
    own_postgres.restart()
    with EventLog(place.with_options(replication="sync")) as log:
        assert log.head(MAIN).version == 1
        own_postgres.admin("ALTER SYSTEM RESET synchronous_standby_names")
        own_postgres.restart()
        with pytest.raises(NotSynchronous):
            log.head(MAIN)


def test_an_append_that_a_successor_can_not_confirm(own_postgres: Server) -> None:
    """What was sent before may be there, so nobody is told that it was refused."""
    url = own_postgres.database()
    with EventLog.create(place_of(url)) as log:
        begin(log)
    own_postgres.admin("ALTER SYSTEM SET synchronous_standby_names = 'another'")
    own_postgres.restart()

    def succeeded() -> None:
        own_postgres.admin("ALTER SYSTEM RESET synchronous_standby_names")
        own_postgres.admin("SELECT pg_reload_conf()")
        while own_postgres.admin("SHOW synchronous_standby_names") != [("",)]:
            pass

    with Wire(url) as wire, EventLog(place_of(f"{wire.url}?replication=sync")) as log:
        log.state(MAIN)
        wire.lose(".append(", "message", succeeded)
        with pytest.raises(WriteInDoubt, match="replication=sync"):
            grow(log, MAIN, 1)


# addresses


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://mind@host",
        "postgresql://mind@host/",
        "postgresql://mind@host/db?schema=Big",
        "postgresql://mind@host/db?schema=pg_catalog",
        "postgresql://mind@host/db?schema=a;drop",
        "postgresql://mind@host/db?schema=",
        "postgresql://mind@host/db?replication=async",
        "mysql://mind@host/db",
        f"postgresql://mind:{PASSWORD}/x@host/db",
        f"postgresql://mind:x/{PASSWORD}@host/db",
        f"postgresql://mind:x@{PASSWORD}@host/db",
        f"postgresql://mind:{PASSWORD}%@host/db",
        f"postgresql://mind:{PASSWORD} @host/db",
        f"mysql://mind:{PASSWORD}@host/db",
    ],
)
def test_an_address_that_is_none(address: str) -> None:
    """Is said to be none, without its password."""
    with pytest.raises(BadPlace) as refused:
        place_of(address)
    assert PASSWORD not in refused.value.sentence


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://mind:{}@host/db",
        "postgresql://mind:%40%2F{}%3A@host:5433/a%20b",
        "postgresql://mind:?{}#@host/db",
        "postgresql://mind:{}@[::1]:5433/db?schema=a_1",
        "postgresql://mind:{}@a:1,b:2,[::1]:3/db?target_session_attrs=read-write",
        "postgresql://host/db?user=mind&password={}",
        "postgresql:///db?host=/var/run/x&user=mind&password={}",
        "postgresql://%2Fvar%2Frun%2Fx/db?sslpassword={}",
        "postgres://:{}@host/db",
    ],
)
def test_a_password_is_never_shown(address: str) -> None:
    """Without it the address means the same place, and the same server but for the password."""
    from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415 — of these tests alone

    place = place_of(address.format(PASSWORD))
    assert PASSWORD not in str(place)
    assert PASSWORD not in str(place.home)
    assert PASSWORD in place.name
    again = place_of(str(place))
    assert (str(again), again.home) == (str(place), place.home)
    known, shown = (conninfo_to_dict(each.address.conninfo) for each in (place, again))
    secret = {key for key in known if "password" in key}
    assert secret
    assert shown == {key: value for key, value in known.items() if key not in secret}


def test_two_addresses_have_two_homes() -> None:
    """Nothing is kept of one store where what is kept of another is."""
    addresses = [
        "postgresql://host:5432/a?user=x%40y",
        "postgresql://host:5432/b?user=x%40y",
        "postgresql://host:5432/a",
        "postgresql://host/a",
        "postgresql://mind@host/a",
        "postgresql://mind@host/a?schema=b",
        "postgresql://mind@host/a%2Fb",
        "postgresql:///a?host=/run",
    ]
    assert len({place_of(address).home for address in addresses}) == len(addresses)


def test_a_socket_of_this_machine(postgres: Server) -> None:
    """A server may be reached without any network; a host that is gone is passed over."""
    url = postgres.database()
    name = url.rpartition("/")[2]
    socket = f"{postgres.directory}/socket"
    dead = f"127.0.0.1:1,127.0.0.1:{postgres.port}"
    for address in (
        f"postgresql:///{name}?host={socket}&port={postgres.port}&user=mind&schema=by_socket",
        f"postgresql://mind@{socket.replace('/', '%2F')}:{postgres.port}/{name}?schema=by_host",
        f"postgresql://mind@{dead}/{name}?schema=of_two",
    ):
        with EventLog.create(place_of(address)) as log:
            begin(log, events=2)
        with EventLog(place_of(str(log.place))) as again:
            assert pool(again, MAIN) == ["t2"]
    postgres.take_back(url)


def test_a_schema_of_any_name(newest: Site) -> None:
    """A word of SQL is none; any other will do."""
    for schema in ("user", "select", "order"):
        with pytest.raises(BadPlace, match="word of SQL"):
            EventLog.create(newest.place.with_options(schema=schema))
    place = newest.place.with_options(schema="_" + "a" * 46 + "9")
    with EventLog.create(place) as log:
        begin(log, events=2)
        log.exclusively(MAIN, lambda _: draw(thought("x"), wish=1))
        log.redact({MAIN: [2]}, "so", draw(wish=2))
        assert pool(log, MAIN) == ["x"]
        assert len(list(log.feed())) == 4


# processes


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_whoever_forks_has_a_log_of_his_own(newest: Site) -> None:
    """The child of a process does not talk on its parent's connections."""
    log = newest.create()
    begin(log)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(30)
            for _ in range(5):
                grow(log, MAIN, 1)
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    for version in range(7, 10):
        assert grow(log, MAIN, 1).version == version
    whole(log)


def test_the_command_line_shows_no_password(
    newest: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither of what it says nor of what it remembers."""
    from typer.testing import CliRunner  # noqa: PLC0415

    from cli.main import build  # noqa: PLC0415

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    url = newest.place.name.replace("//mind@", f"//mind:{PASSWORD}@")
    runner, app = CliRunner(), build()

    def said(*words: str) -> Result:
        result = runner.invoke(app, list(words))
        assert PASSWORD not in result.output + str(result.exception or "")
        return result

    assert said("init", url).exit_code == 0
    assert said("status").exit_code == 0  # the one that was used last, without a password
    monkeypatch.setenv("MIND_STORE", url)
    said("init", url)
    kept = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert kept
    assert not [file for file in kept if PASSWORD.encode() in file.read_bytes()]
