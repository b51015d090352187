"""Whatever a server's defaults are, whatever it does meanwhile, and whoever presses Ctrl-C."""

import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest

from commands.eventlog import EventLog
from commands.eventlog.place import place_of
from commands.eventlog.postgres.directory import HOME
from commands.eventlog.postgres.layout import migrate
from domain.errors import LogosphereError
from domain.ids import SessionId
from tests.commands.eventlog.stores import MAIN, begin, draw, grow, pool, thought
from tests.postgres.servers import NEWEST, Server
from tests.stores.places import Site, stored, whole

LONG = 60.0
OTHER = SessionId("other")


def database(site: Site) -> str:
    """The name of a store's database, to be put into SQL."""
    return '"' + site.place.name.rpartition("/")[2] + '"'


def used(log: EventLog, site: Site) -> None:
    """Everything works: two writers at once, a decision, a redaction, a follower."""
    begin(log, events=2)
    begin(log, OTHER)
    with ThreadPoolExecutor(2) as threads:
        for done in [
            threads.submit(grow, log, MAIN, 3),
            threads.submit(grow, site.open(), OTHER, 3),
        ]:
            done.result(LONG)
    log.exclusively(MAIN, lambda _: draw(thought("x"), wish=1))
    log.redact({MAIN: [2]}, "so", draw(wish=2))
    assert pool(log, MAIN) == ["t3", "t4", "t5", "x"]
    stop = threading.Event()
    events = log.follow(0, stop)
    assert [next(events).position for _ in stored(log)] == [row[2] for row in stored(log)]
    stop.set()
    assert list(events) == []
    whole(site.open())


SETTINGS = (
    "default_transaction_isolation = 'serializable'",
    "default_transaction_isolation = 'repeatable read'",
    "default_transaction_deferrable = on",
    "synchronous_commit = off",
    "row_security = off",
    "idle_in_transaction_session_timeout = 300",
    "statement_timeout = 20000",
    "lock_timeout = 1",
    "bytea_output = escape",
    "quote_all_identifiers = on",
    "client_encoding = latin1",
    "DateStyle = 'SQL, DMY'",
    "plan_cache_mode = force_generic_plan",
    "enable_indexscan = off",
    "check_function_bodies = off",
    "default_toast_compression = pglz",
    "jit = on",
    "extra_float_digits = 0",
    "vacuum_truncate = off",
)


@pytest.mark.parametrize(
    "setting",
    [
        "search_path = evil, pg_catalog",
        "standard_conforming_strings = off",
        *(pytest.param(setting, marks=pytest.mark.slow) for setting in SETTINGS),
    ],
)
def test_a_database_with_other_defaults(newest: Site, setting: str) -> None:
    """What an administrator sets for a database changes nothing about a store in it."""
    with newest.sql() as owner:
        if "evil" in setting:
            _evil(owner)
        try:
            owner.execute(f"ALTER DATABASE {database(newest)} SET {setting}".encode())
        except psycopg.errors.UndefinedObject:
            pytest.skip("this version does not know it")
    used(newest.create(), newest)


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_of_another_encoding(postgres: Server, encoding: str) -> None:
    """Names are plain, and all else is bytes: initdb makes SQL_ASCII where no language is set."""
    name = f"written_in_{encoding.lower()}"
    how = f"ENCODING {encoding} TEMPLATE template0 LOCALE 'C'"
    postgres.admin(f"CREATE DATABASE {name} OWNER mind {how}")
    try:
        with EventLog.create(place_of(postgres.url(name))) as log:
            begin(log, events=2)
            grow(log, MAIN, 1)
            assert log.sessions() == [MAIN]
            whole(log)
    finally:
        postgres.admin(f"DROP DATABASE {name} WITH (FORCE)")


def _evil(owner: psycopg.Connection[tuple[object, ...]]) -> None:
    """A schema with everything that we might ask for by mistake."""
    statements = ["CREATE SCHEMA evil", "CREATE TABLE evil.stored_events (position bigint)"]
    statements.append("CREATE TABLE evil.store (layout int, by_transaction boolean)")
    for function, result, body in (
        ("append(text[], bigint[], text[], bytea[])", "bigint", "SELECT 7::bigint"),
        ("pg_notify(text, text)", "void", ""),
        ("cardinality(text[])", "int", "SELECT 0"),
        ("horizon()", "bigint", "SELECT 0::bigint"),
        ("starts_with(text, text)", "boolean", "SELECT true"),
        ("current_setting(text, boolean)", "text", "SELECT NULL::text"),
        ("yes(bigint, bigint)", "boolean", "SELECT true"),
        ("yes(text, text)", "boolean", "SELECT true"),
    ):
        made = f"CREATE FUNCTION evil.{function} RETURNS {result} LANGUAGE sql AS '{body}'"
        statements.append(made)
    for operator, of in (("=", "bigint"), (">", "bigint"), ("=", "text")):
        made = f"CREATE OPERATOR evil.{operator} (LEFTARG={of}, RIGHTARG={of}, FUNCTION=evil.yes)"
        statements.append(made)
    for statement in statements:
        owner.execute(statement.encode())


def test_what_is_acknowledged_is_durable(newest: Site) -> None:
    """Where the default is to acknowledge first, it is not ours; a stricter one is."""
    log = newest.create()
    begin(log)
    for given, wanted in (("off", "on"), ("local", "on"), ("remote_apply", "remote_apply")):
        with newest.sql() as owner:
            owner.execute(
                f"ALTER DATABASE {database(newest)} SET synchronous_commit = {given}".encode()
            )
        again = newest.open()
        with again._recorder.reading() as cursor:
            assert cursor.of(HOME).fetch("SHOW synchronous_commit") == [(wanted,)]
        with again._recorder.writing(MAIN) as cursor:
            assert cursor.of(HOME).fetch("SHOW synchronous_commit") == [(wanted,)]


def test_a_statement_that_may_not_take_so_long(newest: Site) -> None:
    """Who waits for longer than his server allows is told, and nothing was written."""
    log = newest.create()
    begin(log)
    with newest.sql() as owner:
        owner.execute(f"ALTER DATABASE {database(newest)} SET statement_timeout = 80".encode())
    hasty = newest.open()
    with log._recorder.writing(MAIN), pytest.raises(LogosphereError, match="nothing was written"):
        grow(hasty, MAIN, 1)
    assert grow(hasty, MAIN, 1).version == 2


# what happens meanwhile


def test_a_transaction_that_may_not_take_so_long(newest: Site) -> None:
    """Whoever waited longer than that for his turn has written nothing, and asks again."""
    begin(newest.create(), events=2)
    with newest.sql() as owner:
        name = database(newest)
        owner.execute(f"ALTER DATABASE {name} SET transaction_timeout = 100".encode())
        turn = newest.sql(options="-c transaction_timeout=0")
        with ThreadPoolExecutor(1) as threads:
            with turn.transaction():
                turn.execute("SELECT take_turn(true)")
                done = threads.submit(grow, newest.open(), MAIN, 1)
                _was_ended(owner)
            done.result(LONG)
    assert newest.open().head(MAIN).version == 3


def _was_ended(owner: psycopg.Connection[tuple[object, ...]]) -> None:
    """Wait until a second connection waits for the turn, since the first was ended."""
    waiting = (
        "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    seen: set[object] = set()
    until = time.monotonic() + LONG
    while len(seen) < 2 and time.monotonic() < until:
        seen |= {pid for (pid,) in owner.execute(waiting)}
    assert len(seen) > 1


def test_a_redaction_while_the_table_is_looked_after(newest: Site) -> None:
    """What is redacted is, and no less so where there is no time to tidy up behind it."""
    begin(newest.create(), events=2)
    with newest.sql() as owner:
        owner.execute(f"ALTER DATABASE {database(newest)} SET statement_timeout = 300".encode())
    log, administrator = newest.open(), newest.sql()
    with administrator.transaction():  # as any VACUUM does
        administrator.execute("LOCK TABLE stored_events IN SHARE UPDATE EXCLUSIVE MODE")
        assert not log.redact({MAIN: [2]}, "so", draw(wish=2))
    assert log.mark()
    whole(log)


def test_vacuum_holds_up_nobody(served: Site) -> None:
    """It and writers go on at once: whoever writes locks no table, and stops no autovacuum."""
    log = served.create()
    begin(log, events=50)
    with ThreadPoolExecutor(1) as threads, served.sql() as owner:
        with log._recorder.writing(MAIN) as cursor:
            rows, _ = log._mapper.sealed(log.head(MAIN), MAIN, draw(thought("x"), wish=1))
            log._recorder.insert_within(cursor, rows)
            # in the middle of a write: with a lock on the table this would wait for its end
            threads.submit(owner.execute, "VACUUM (ANALYZE) stored_events").result(LONG)
        with served.sql() as vacuum, vacuum.transaction():
            # what a vacuum holds while it runs
            vacuum.execute("LOCK TABLE stored_events IN SHARE UPDATE EXCLUSIVE MODE")
            assert threads.submit(grow, log, MAIN, 1).result(LONG).version == 52
            assert threads.submit(begin, log, OTHER).result(LONG).version == 1


@pytest.mark.slow
def test_readers_and_dumps_hold_up_nobody(served: Site) -> None:
    """A long look at everything is of one moment, and writers do not wait for it."""
    log = served.create()
    begin(log, events=5)
    with log._recorder.unmoving(MAIN) as cursor:
        before = log._recorder.rows_by_position(cursor, 0, 100)
        other = served.open()
        assert grow(other, MAIN, 2).version == 7
        other.redact({MAIN: [2]}, "so", draw(wish=9))
        assert log._recorder.rows_by_position(cursor, 0, 100) == before
    assert len(stored(log)) == 8


def test_a_server_that_was_restarted(own_postgres: Server) -> None:
    """Between two commands, or while somebody looks: the next one is answered."""
    with EventLog.create(place_of(own_postgres.database())) as log:
        begin(log, events=3)
        own_postgres.restart()
        assert log.head(MAIN).version == 3
        own_postgres.restart()
        assert grow(log, MAIN, 1).version == 4
        own_postgres.restart()
        log.exclusively(MAIN, lambda _: draw(thought("x"), wish=1))
        own_postgres.restart()
        begin(log, OTHER)
        events = log.read(MAIN, page=1)
        assert next(events).version == 1
        own_postgres.restart()
        assert [r.version for r in events] == [2, 3, 4, 5]
        whole(log)


def test_a_connection_that_is_cut_while_somebody_decides(newest: Site) -> None:
    """He is told, nothing is written, and the next one may."""
    log = newest.create()
    begin(log)

    def cut(_: object) -> None:
        with newest.sql() as owner:
            owner.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid() AND datname = current_database()"
                " AND backend_type = 'client backend'"  # autovacuum is not ours to end
            )

    def decide(state: object) -> object:
        cut(state)
        return draw(thought("x"), wish=1)

    with pytest.raises(LogosphereError):
        log.exclusively(MAIN, decide)  # type: ignore[arg-type]  # a draw
    assert grow(log, MAIN, 1).version == 2
    assert idle(newest)


def idle(site: Site) -> bool:
    """Whether no connection is in a transaction, and nobody has a turn."""
    with site.sql() as owner:
        found = owner.execute(
            "SELECT (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'),"
            " (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            "  AND state LIKE 'idle in transaction%')"
        ).fetchone()
    return found == (0, 0)


@pytest.mark.slow
def test_a_dump_is_a_store(postgres_of: Callable[[int], Server]) -> None:
    """What was saved and brought to another server is proved there, and goes on."""
    one = postgres_of(NEWEST)
    with Server(NEWEST) as two:
        for together in (False, True):
            url, there = one.database(), two.database()
            migrate(place_of(url).address, by_transaction=together)
            with EventLog(place_of(url)) as log, closing(Site(log.place, Path())) as site:
                used(log, site)
                rows = stored(log)
            dump = subprocess.run([one.bin / "pg_dump", url], capture_output=True, check=True)
            restore = [one.bin / "psql", "-q", "-v", "ON_ERROR_STOP=1", there]
            subprocess.run(restore, input=dump.stdout, check=True, stdout=subprocess.DEVNULL)
            migrate(place_of(there).address)
            with EventLog(place_of(there)) as log:
                assert stored(log) == rows
                assert grow(log, OTHER, 2).version == 6
                whole(log)
                assert [row[2] for row in stored(log)] == sorted({row[2] for row in stored(log)})
            one.take_back(url)


# Ctrl-C


@contextmanager
def interrupted(when: Callable[[], bool]) -> Iterator[None]:
    """Ctrl-C comes as soon as something is so."""
    main = threading.get_ident()
    over = threading.Event()

    def watch() -> None:
        while not when() and not over.is_set():
            time.sleep(0.002)
        if not over.is_set():
            signal.pthread_kill(main, signal.SIGINT)

    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(LONG)
        signal.signal(signal.SIGINT, previous)


@pytest.mark.parametrize(
    "how", ["append", "exclusively", pytest.param("begin", marks=pytest.mark.slow)]
)
def test_whoever_breaks_off_while_he_waits(log: EventLog, site: Site, how: str) -> None:
    """Nothing is written, no turn is kept, and the same log goes on."""
    begin(log)
    other = site.open()
    acts: dict[str, Callable[[], object]] = {
        "append": lambda: other.append(MAIN, 1, draw(thought("x"), wish=1)),
        "exclusively": lambda: other.exclusively(MAIN, lambda _: draw(thought("x"), wish=1)),
        "begin": lambda: begin(other, "new"),
    }
    other.state(MAIN)
    with log._recorder.writing(MAIN) as cursor:
        asked = time.monotonic()

        def waits() -> bool:
            if not site.is_server:
                return time.monotonic() > asked + 0.05
            with site.sql() as owner:
                found = owner.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone()
            return found is not None and found[0] != 0

        with pytest.raises(KeyboardInterrupt), interrupted(waits):
            acts[how]()
        rows, _ = log._mapper.sealed(log.head(MAIN), MAIN, draw(thought("first"), wish=2))
        log._recorder.insert_within(cursor, rows)
    assert [row[:2] for row in stored(log)] == [(MAIN, 1), (MAIN, 2)]
    assert grow(other, MAIN, 1).version == grow(log, MAIN, 1).version - 1 == 3
    assert not site.is_server or idle(site)


def test_whoever_breaks_off_in_the_middle(log: EventLog, site: Site) -> None:
    """Ctrl-C while it is decided leaves nothing, and nobody has to wait."""
    begin(log)

    def breaks_off(*_: object) -> None:
        raise KeyboardInterrupt

    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            log.exclusively(MAIN, breaks_off)  # type: ignore[arg-type]  # draws nothing
        with pytest.raises(KeyboardInterrupt), log._recorder.unmoving(MAIN):
            breaks_off()
    assert not site.is_server or idle(site)
    assert grow(site.open(), MAIN, 1).version == 2
    assert grow(log, MAIN, 1).version == 3


# many


def test_more_threads_than_connections(newest: Site) -> None:
    """Twenty that read and write at once get what they ask for; few connections are kept."""
    log = newest.create()
    begin(log, events=30)
    gate = threading.Barrier(20)

    def reads(number: int) -> int:
        gate.wait(LONG)
        with log._recorder.unmoving(MAIN) as cursor:
            gate.wait(LONG)  # all of them have a connection now
            found = log._recorder.rows_by_position(cursor, number, 1)
        return found[0][2] - number

    with ThreadPoolExecutor(20) as threads:
        asked: list[Future[int]] = [threads.submit(reads, number) for number in range(20)]
        wait(asked, LONG)
        assert [each.result(0) for each in asked] == [1] * 20
    with newest.sql() as owner:
        found = owner.execute(
            "SELECT count(*) <= 10 FROM pg_stat_activity WHERE datname = current_database()"
        ).fetchone()
    assert found == (True,)
