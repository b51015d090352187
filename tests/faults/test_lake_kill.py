"""kill -9 at every moment of an export: a lake is as it was or as it will be, and then it will be.

What a kill leaves behind is no part of the lake for anybody who asks the manifest, and the next
export clears it away. What counts is never touched.
"""

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from commands.eventlog import EventLog
from domain.recorded import BEGINNING
from projections.analytics.catchup import catch_up
from projections.analytics.files.manifest import FILE as MANIFEST
from tests.commands.eventlog.stores import MAIN, NOON, branch, draw
from tests.domain.happened import accepted, asked, drafted, embedded, started, thought, with_vector
from tests.faults.lake_driver import export
from tests.faults.machinery import ROOT
from tests.projections.analytics.lakes import check, hashes, texts_of, whole

pytest.importorskip("duckdb")

HIDDEN = "the name that was told in confidence"
DAY = 86_400_000_000


def nothing(_: EventLog) -> None:
    """Nothing happens."""


def more(log: EventLog) -> None:
    """A branch, an answer a day later, and a vector that came late."""
    branch(log, MAIN, 4, "b")
    events = (drafted(2, "a better one, of tides"), embedded(4, 0.0, 1.0), accepted(2))
    log.append(MAIN, 5, draw(*events, at=NOON + DAY, wish=2))


def redaction(log: EventLog) -> None:
    """Something is taken away."""
    more(log)
    log.redact({MAIN: [4]}, "it named a person", draw(wish=3))


class Case(NamedTuple):
    """What an export finds that is killed."""

    earlier: bool
    """There is a lake already."""
    happens: Callable[[EventLog], None] = nothing
    """What it does not have."""
    how: dict[str, bool] = {}  # noqa: RUF012 — nobody changes it


CASES = {
    "first": Case(earlier=False),
    "redaction": Case(earlier=True, happens=redaction),
    "prune": Case(earlier=True, happens=more, how={"prune": True}),
    "anew": Case(earlier=True, happens=more, how={"force": True}),
}


class Killer:
    """Exports that end when it is wished."""

    def __init__(self, process: "subprocess.Popen[str]", lake: Path, how: dict[str, bool]) -> None:
        self._process, self._lake, self._how = process, lake, how
        self.before = lake.with_name("before")

    def kill(self, touch: int = 0, seconds: float = 0) -> bool:
        """Export from where all began; whether a kill came before it was done."""
        shutil.rmtree(self._lake, ignore_errors=True)
        if self.before.exists():
            shutil.copytree(self.before, self._lake)
        order = {"touch": touch, "seconds": seconds, "how": self._how}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return bool(json.loads(self._process.stdout.readline()))


@contextmanager
def killer(case: Case, directory: Path) -> Iterator[tuple[Killer, Path, Path]]:
    """Such exports of a store, and where it and its lake are."""
    home, lake = directory / "store", directory / "lake"
    home.mkdir()
    with EventLog.create(home) as log:
        past = (
            started(),
            asked(),
            thought("with a vector", **with_vector(1.0, 0.0)),
            thought(HIDDEN),
            drafted(1, "the first draft"),
        )
        log.begin(MAIN, BEGINNING, draw(*past))
        if case.earlier:
            export(home, lake)
            shutil.copytree(lake, directory / "before")
        case.happens(log)
        catch_up(log, home)
    command = [sys.executable, "-m", "tests.faults.lake_driver", str(home), str(lake)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) as process:
        yield Killer(process, lake, case.how), home, lake


def looked_at(home: Path, lake: Path, before: Path) -> None:
    """Check what lies there after a kill, and that the next export finishes it."""
    manifest, old = lake / MANIFEST, before / MANIFEST
    there: dict[str, Any] = hashes(lake) if lake.exists() else {}
    if manifest.exists() and (not old.exists() or manifest.read_bytes() != old.read_bytes()):
        whole(home, lake)
    elif old.exists():
        assert manifest.exists()
        assert hashes(before).items() <= there.items()
    export(home, lake)
    check(home, lake)
    assert not (lake / ".mind-export").exists()


def all_kills(case: Case, directory: Path, *, stride: int) -> int:
    """Kill at one moment after the other, so many apart; how many these were."""
    with killer(case, directory) as (kill, home, lake):
        kills, touch = 0, 1
        while kill.kill(touch):
            looked_at(home, lake, kill.before)
            if case.happens is redaction:
                assert HIDDEN not in texts_of(lake)
            kills, touch = kills + 1, touch + stride
        check(home, lake)
    return kills


def test_some_moments(tmp_path: Path) -> None:
    """Some of those of the test below."""
    assert all_kills(CASES["redaction"], tmp_path, stride=11) >= 4


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_moment(tmp_path: Path, name: str) -> None:
    """Whatever the lake held: it is as before or complete, and the next export completes it."""
    assert all_kills(CASES[name], tmp_path, stride=1) >= 30


@pytest.mark.slow
@pytest.mark.parametrize("name", ["first", "redaction"])
def test_any_moment(tmp_path: Path, name: str) -> None:
    """Also while DuckDB writes, which nobody can see."""
    chance, kills = random.Random(3), 0  # noqa: S311 — repeatable
    with killer(CASES[name], tmp_path) as (kill, home, lake):
        for _ in range(60):
            if kill.kill(seconds=chance.random() * 0.35):
                looked_at(home, lake, kill.before)
                kills += 1
    assert kills >= 20
