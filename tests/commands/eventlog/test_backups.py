"""Backups as docs/backup.md makes them: what is restored is a store, and positions go on."""

import json
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from commands.eventlog import EventLog
from commands.eventlog.place import Place, place_of
from commands.eventlog.postgres.layout import migrate
from commands.eventlog.status import keep_writers_apart
from commands.heads import compared, heads_of, read_heads
from domain.errors import Broken
from tests.commands.eventlog.stores import MAIN, StillWorld, begin, branch, grow
from tests.commands.eventlog.test_copy import redact, rows, whole
from tests.postgres.processes import DEADLINE, alone, give, said, unprivileged
from tests.postgres.servers import ADMIN, Server


@pytest.fixture(autouse=True)
def _caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def lived(place: Place) -> EventLog:
    """A store with a branch and a redaction, open."""
    if place.url is None:
        place.home.mkdir()
    log = EventLog.create(place)
    begin(log, events=12)
    branch(log, MAIN, 6, "fork")
    grow(log, "fork", 3)
    redact(log, MAIN, 4)
    return log


def told(server: Server, program: str, *words: str | Path) -> None:
    """Run a program that came with a server."""
    command: Sequence[str | Path] = [server.bin / program, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def standing(log: EventLog, heads: dict[str, Any], tmp_path: Path) -> dict[str, str]:
    """What heads that were kept say of a store."""
    (tmp_path / "heads.json").write_text(json.dumps(heads), "utf-8")
    kept = read_heads(tmp_path / "heads.json", None)
    return {one.session: one.standing for one in compared(log, kept.kept)}


def test_a_file_is_restored_from_vacuum_into(tmp_path: Path) -> None:
    """Same rows at the same positions; writers and readers are kept apart again on demand."""
    with lived(Place(tmp_path / "store")) as log:
        with closing(sqlite3.connect(tmp_path / "store" / "log.db")) as connection:
            connection.execute("VACUUM INTO ?", (str(tmp_path / "backup.db"),))
        before = rows(log.place)
        grow(log, MAIN, 2)
        heads = heads_of(log, log.streams(), StillWorld(), None)
    restored = Place(tmp_path / "restored")
    restored.home.mkdir()
    shutil.copyfile(tmp_path / "backup.db", restored.home / "log.db")
    assert keep_writers_apart(restored)
    assert not keep_writers_apart(restored)
    assert rows(restored) == before
    whole(restored)
    with EventLog(restored) as log:
        assert standing(log, heads, tmp_path) == {"main": "cut off", "fork": "as written"}
        grow(log, MAIN, 1)
        assert log.position() == before[-1][2] + 1


def test_a_server_is_restored_from_a_dump(
    every_postgres: Server, every_pg_url: str, tmp_path: Path
) -> None:
    """Same rows at the same positions, with all guards; what came later is missed by its heads."""
    with lived(place := place_of(every_pg_url)) as log:
        told(every_postgres, "pg_dump", "-Fc", "-n", "logosphere", "-f", tmp_path / "d", place.name)
        before = rows(place)
        grow(log, MAIN, 2)
        heads = heads_of(log, log.streams(), StillWorld(), None)
    url = every_postgres.database()
    try:
        told(every_postgres, "pg_restore", "--no-owner", "-d", url, tmp_path / "d")
        restored = place_of(url)
        assert rows(restored) == before
        whole(restored)
        with psycopg.connect(url) as connection, pytest.raises(psycopg.Error, match="never"):
            connection.execute("DELETE FROM logosphere.stored_events")
        with EventLog(restored) as log:
            assert standing(log, heads, tmp_path) == {"main": "cut off", "fork": "as written"}
            grow(log, MAIN, 1)
            assert log.position() == before[-1][2] + 1
    finally:
        every_postgres.take_back(url)


def test_positions_of_transactions_survive_a_server_that_counts_anew(
    postgres: Server, pg_url: str, own_postgres: Server, tmp_path: Path
) -> None:
    """It is refused until somebody says mind store migrate; then the next one lies above all."""
    migrate(place_of(pg_url).address, by_transaction=True)
    with psycopg.connect(pg_url, autocommit=True) as connection:
        for _ in range(1000):
            connection.execute("SELECT pg_current_xact_id()")
    with EventLog(place_of(pg_url)) as log:
        begin(log, events=3)
        newest = log.position()
    told(postgres, "pg_dump", "-Fc", "-n", "logosphere", "-f", tmp_path / "d", pg_url)
    url = own_postgres.database()
    told(
        own_postgres, "pg_restore", "--no-owner", "--single-transaction", "-d", url, tmp_path / "d"
    )
    restored = place_of(url)
    with pytest.raises(Broken, match="say mind store migrate first"):
        EventLog(restored)
    migrate(restored.address)
    whole(restored)
    with EventLog(restored) as log:
        assert log.position() == newest
        grow(log, MAIN, 2)
        later = [event.position for event in log.feed(newest)]
        assert len(later) == 2
        assert newest < later[0] < later[1] == log.position()


def server_of(backup: Path, **settings: str) -> Server:
    """A server on what pg_basebackup wrote."""
    return Server(copy_of=backup, settings=settings)


@pytest.mark.slow
def test_a_whole_server_is_restored_up_to_a_moment(tmp_path: Path) -> None:
    """From its base backup and its archived write-ahead log, with all that was acknowledged."""
    with Server(settings={"archive_mode": "on", "archive_timeout": "1h"}) as server:
        archive, backup = server.directory / "archive", server.directory / "backup"
        for directory in (archive, backup):
            directory.mkdir()
            give(directory)
        server.settings["archive_command"] = f"cp %p {archive}/%f"
        server.restart()
        place = place_of(server.database())
        with lived(place) as log:
            words = ["--checkpoint=fast", f"--username={ADMIN}", f"--pgdata={backup}/data"]
            words += [f"--host={server.directory}/socket", f"--port={server.port}"]
            program = str(server.bin / "pg_basebackup")
            said([*alone(), *unprivileged(), program, *words])
            grow(log, MAIN, 5)
            server.admin("SELECT pg_create_restore_point('before')")
            then = rows(place)
            grow(log, MAIN, 5, tag="a mistake")
            heads = heads_of(log, log.streams(), StillWorld(), None)
        (name,) = server.admin("SELECT pg_walfile_name(pg_switch_wal())")
        until = time.monotonic() + DEADLINE
        while not (archive / name[0]).exists():
            assert time.monotonic() < until, server.log
            time.sleep(0.01)
        server.kill()
        (backup / "data" / "recovery.signal").touch()
        restore = {
            "restore_command": f"cp {archive}/%f %p",
            "recovery_target_name": "before",
            "recovery_target_action": "promote",
        }
        with server_of(backup / "data", **restore) as restored:
            again = place_of(restored.url(place.address.conninfo.rpartition("/")[2]))
            _wait_until_writable(restored)
            assert rows(again) == then
            whole(again)
            with EventLog(again) as log:
                assert standing(log, heads, tmp_path)["main"] == "cut off"
                grow(log, MAIN, 1)
                assert log.position() == then[-1][2] + 1


def _wait_until_writable(server: Server) -> None:
    until = time.monotonic() + DEADLINE
    while server.admin("SELECT pg_is_in_recovery()") != [(False,)]:
        assert time.monotonic() < until, server.log
        time.sleep(0.01)
