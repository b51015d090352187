"""The servers that tests of stores run on."""

import os
import socket
from pathlib import Path

import psycopg
import pytest

from tests.postgres.processes import PREFIX, children, runs
from tests.postgres.servers import PACKAGED, Server


def test_it_answers_as_the_version_that_was_asked_for(every_pg_url: str) -> None:
    """A test for PostgreSQL 15 is run by no other."""
    asked = 15 if "[postgres15]" in os.environ["PYTEST_CURRENT_TEST"] else 18
    with psycopg.connect(every_pg_url) as connection:
        assert connection.info.server_version // 10_000 == asked
        assert connection.execute("SELECT 1").fetchone() == (1,)


in_proc = pytest.mark.skipif(not Path("/proc/net").exists(), reason="read from Linux's /proc")


@in_proc
def test_no_process_of_it_has_a_privilege(every_postgres: Server) -> None:
    """Whatever a test makes the server do, it does as nobody."""
    for pid in (every_postgres.pid, *children(every_postgres.pid)):
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        told = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        assert "0" not in told["Uid"].split()
        assert int(told["CapPrm"], 16) == 0
        assert told["Groups"].strip() == "" or os.geteuid() != 0


@in_proc
def test_it_listens_on_loopback_only(every_postgres: Server) -> None:
    """Nobody on another machine can reach the store of a test."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]]
    rows += [line.split() for line in Path("/proc/net/tcp6").read_text("ascii").splitlines()[1:]]
    port, loopback = f":{every_postgres.port:04X}", socket.inet_aton("127.0.0.1")[::-1].hex()
    listening = [row[1] for row in rows if row[3] == "0A" and row[1].endswith(port)]
    assert listening == [f"{loopback.upper()}{port}"]


def test_a_database_that_is_used_again_holds_nothing(every_postgres: Server) -> None:
    """No test sees what another one stored, and a process that lived on can't come back."""
    first = every_postgres.database()
    with psycopg.connect(first) as connection:
        connection.execute("CREATE SCHEMA one CREATE TABLE two (three int)")
        connection.commit()
        every_postgres.take_back(first)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    second = every_postgres.database()
    with psycopg.connect(second) as connection:
        found = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'one'").fetchall()
    every_postgres.take_back(second)
    assert (first == second, found) == (False, [])
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(first)


@pytest.mark.parametrize("graceful", [False, True], ids=["killed", "stopped"])
def test_committed_data_outlives_the_server(own_postgres: Server, *, graceful: bool) -> None:
    """A restart finds what was acknowledged, and nothing of a transaction that was open."""
    url = own_postgres.database()
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS row")
        connection.commit()
        connection.execute("INSERT INTO kept VALUES (2)")
        doomed = [own_postgres.pid, *children(own_postgres.pid)]
        own_postgres.stop() if graceful else own_postgres.kill()
        assert not [pid for pid in doomed if runs(pid)]
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    own_postgres.start()
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT row FROM kept").fetchall() == [(1,)]


def test_nothing_of_it_stays() -> None:
    """A server takes its processes and its directory along."""
    with Server() as server:
        left, pid = server.directory, server.pid
        assert left.name.startswith(PREFIX)
    assert (left.exists(), runs(pid)) == (False, False)


@pytest.mark.slow
def test_the_other_version_of_the_package_works_too() -> None:
    """Whoever wants PostgreSQL 16 gets it."""
    for version in PACKAGED:
        with Server(version, fsync=True) as server, psycopg.connect(server.url()) as connection:
            assert connection.info.server_version // 10_000 == version
