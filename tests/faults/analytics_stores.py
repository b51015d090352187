"""Stores with a database, other processes that ask, and what the next question has to find."""

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from commands.eventlog import EventLog
from commands.sessions import start_session
from projections.analytics.catchup import CaughtUp, build, catch_up
from projections.analytics.compare import compared
from projections.analytics.database import connect
from projections.analytics.place import FILE
from tests.faults.analytics_asker import COUNT
from tests.faults.analytics_driver import ANN, MAIN, happen
from tests.faults.machinery import ROOT

duckdb = pytest.importorskip("duckdb")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose database is caught up."""
    store = tmp_path_factory.mktemp("template") / "store"
    store.mkdir()
    made(store, 12)
    return store


@pytest.fixture
def store(template: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(template, tmp_path / "store"))


def made(store: Path, iterations: int, seed: int = 1) -> None:
    """A store in which something has happened, with its database."""
    with EventLog.create(store) as log:
        start_session(log, MAIN, ANN, message="why two tides?")
        happen(log, random.Random(seed), iterations)  # noqa: S311 — repeatable
        assert catch_up(log, store).why == f"There was no {FILE}"


def more(store: Path, iterations: int = 1) -> None:
    """Something else happens."""
    with EventLog(store) as log:
        happen(log, random.Random(2), iterations)  # noqa: S311 — repeatable


def asked(store: Path, *, sound: bool = True) -> CaughtUp:
    """The next question, whose answer is right."""
    with EventLog(store) as log:
        found = catch_up(log, store)
        build(log, store.parent / "whole")
    assert found.behind == 0
    if sound:
        assert compared(store / FILE, store.parent / "whole") == []
    return found


def built_anew(store: Path) -> str | None:
    """Why the next question would build it anew, if it does."""
    with EventLog(store) as log:
        return catch_up(log, store).why


def asking(what: str, store: Path, *args: object, before: Any = ()) -> "subprocess.Popen[str]":
    """Another process that asks."""
    command = [*before, sys.executable, "-m", "tests.faults.analytics_asker", what, str(store)]
    return subprocess.Popen(
        [*command, *map(str, args)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def heard(process: "subprocess.Popen[str]") -> Any:
    """What it says next."""
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def told(process: "subprocess.Popen[str]") -> list[Any]:
    """All that it says until its end."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return [json.loads(line) for line in out.splitlines()]


@contextmanager
def holding(what: str, store: Path) -> "Iterator[Callable[[], list[int]]]":
    """Another process that has the database open; call it to let it count again."""
    process = asking(what, store)

    def count() -> list[int]:
        assert process.stdin is not None
        process.stdin.write("again\n")
        process.stdin.flush()
        return list(heard(process))

    try:
        assert heard(process)[0] > 0
        yield count
    finally:
        process.communicate(timeout=60)


def counted(store: Path) -> tuple[int, ...]:
    """Events in the database, by number, by position, and the newest."""
    with closing(connect(store / FILE, read_only=True)) as connection:
        return tuple(connection.execute(COUNT).fetchall()[0])
