"""kill -9 at any moment: the store opens, and all that was acknowledged is there."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from commands.eventlog import EventLog
from commands.handle import handle
from commands.thinking import InjectThought
from commands.world import RealWorld
from domain.actors import Actor
from domain.ids import SessionId
from tests.faults.machinery import ROOT, House, draft, wait_for

Acknowledged = dict[tuple[str, int], str]


def killed(store: Path, chance: random.Random) -> Acknowledged:
    """What a driver had acknowledged when it was killed at a random moment."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.faults.driver", str(store), str(chance.getrandbits(32))],
        stdout=subprocess.PIPE,
        cwd=ROOT,
    ) as driver:
        assert driver.stdout is not None
        lines = [driver.stdout.readline() for _ in range(chance.randint(1, 25))]
        until = time.perf_counter() + chance.random() * 0.01
        while time.perf_counter() < until:
            pass
        driver.kill()
        lines += driver.stdout.readlines()
    assert driver.returncode == -signal.SIGKILL
    found = [json.loads(line) for line in lines if line.endswith(b"\n")]
    assert len(found) >= 1
    return {(session, version): hash_ for session, version, hash_ in found}


def looked_at(store: Path, acknowledged: Acknowledged, *, whole: bool) -> None:
    """Check a store after a kill, and that the next command works."""
    with EventLog(store) as log:
        for (session, version), hash_ in acknowledged.items():
            assert log.head(SessionId(session), version).hash.hex() == hash_
        names = log.sessions()
        findings = [f for v in log.verify(None if whole else names[-3:]) for f in v.findings]
        assert not findings
        for name in names if whole else names[-3:]:
            versions = [r.version for r in log.read(name)]
            assert versions == list(range(1, len(versions) + 1))
            assert log.state(name).version == len(versions)
        world = RealWorld(Actor("user", "ann"))
        handle(log, names[-1], InjectThought(text="after the kill", by="ann"), world)
        newest = log.newest(names[-1], None)
        assert newest is not None
        assert newest.event.kind == "thought.added"
    with EventLog(store) as cold:
        for name in names if whole else names[-1:]:
            with EventLog(store, writable=False) as reader:
                assert reader.state(name) == cold.state(name)


def many_kills(store: Path, kills: int, seed: int) -> None:
    """So many kills of processes that work on one and the same store."""
    print(f"seed {seed}")
    chance = random.Random(seed)  # noqa: S311 — repeatable
    with EventLog.create(store):
        pass
    everything: Acknowledged = {}
    for number in range(kills):
        acknowledged = killed(store, chance)
        everything |= acknowledged
        looked_at(store, acknowledged, whole=number % 10 == 9)
    looked_at(store, everything, whole=True)
    assert len(everything) > kills


@pytest.mark.parametrize("seed", [1, 2])
def test_5_kills(tmp_path: Path, seed: int) -> None:
    """Nothing that was acknowledged is lost to 5 kills in a row."""
    many_kills(tmp_path, 5, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 16))
def test_50_kills(tmp_path: Path, seed: int) -> None:
    """Nor to 50, six times over."""
    many_kills(tmp_path, 50, seed)


def test_half_a_wish_is_never_there(tmp_path: Path) -> None:
    """What was not acknowledged is there as a whole wish or not at all."""
    chance = random.Random(5)  # noqa: S311 — repeatable
    with EventLog.create(tmp_path):
        pass
    for _ in range(3):
        killed(tmp_path, chance)
    with EventLog(tmp_path) as log:
        wishes: dict[bytes, list[str]] = {}
        for recorded in log.feed():
            wishes.setdefault(recorded.command, []).append(recorded.event.kind)
    iterations = [kinds for kinds in wishes.values() if "mind.invoked" in kinds]
    assert iterations
    whole = ["mind.invoked", "thought.added", "thought.added", "draft.emitted", "draft.seen"]
    assert all(kinds == whole for kinds in iterations)


def test_the_next_run_goes_on(home: House) -> None:
    """A run that was killed is closed as lost by the next one, which carries on."""
    home.init([draft(1), draft(2, delay=60), draft(3)], "why?")
    home.here("config", "--set", "timeout=100").fine()
    runner = home.started("run", "-b", "5")
    with EventLog(home.store) as log:
        wait_for(log, "main", lambda r: r.event.kind == "mind.invoked")
    runner.kill()
    runner.communicate(timeout=20)
    home.script([draft(1), draft(2), draft(3)])
    home.mind("run", "-b", "1").fine()
    stopped = [r.event for r in home.events() if r.event.kind == "run.stopped"]
    assert [getattr(e, "reason", None) for e in stopped] == ["lost", "limit"]
    assert home.kinds().count("mind.invoked") == 2
    home.sound()


def test_a_killed_runner_that_nobody_has_buried(home: House) -> None:
    """A zombie holds no session: containers without an init leave them standing."""
    home.init([draft(1), draft(2, delay=60), draft(3)], "why?")
    home.here("config", "--set", "timeout=100").fine()
    runner = home.started("run", "-b", "5")
    try:
        with EventLog(home.store) as log:
            wait_for(log, "main", lambda r: r.event.kind == "mind.invoked")
        runner.kill()
        os.waitid(os.P_PID, runner.pid, os.WEXITED | os.WNOWAIT)  # dead, but not reaped
        home.script([draft(1), draft(2), draft(3)])
        home.mind("run", "-b", "1").fine()
    finally:
        runner.communicate(timeout=20)
    stopped = [r.event for r in home.events() if r.event.kind == "run.stopped"]
    assert [getattr(e, "reason", None) for e in stopped] == ["lost", "limit"]


def making(home: House, store: Path, name: str) -> "subprocess.Popen[str]":
    """A process that is ready to run ``mind init``."""
    driver = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.init_driver", str(store), name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=home.env,
        text=True,
        cwd=ROOT,
    )
    assert driver.stdout is not None
    assert driver.stdout.readline() == "ready\n"
    return driver


def go(driver: "subprocess.Popen[str]") -> None:
    """Let it begin."""
    assert driver.stdin is not None
    driver.stdin.write("go\n")
    driver.stdin.flush()


SOME = [*range(4), *(pytest.param(number, marks=pytest.mark.slow) for number in range(4, 24))]


@pytest.mark.parametrize("number", SOME)
def test_init_is_killed(home: House, number: int) -> None:
    """Whenever ``mind init`` is killed, repeating it gives the store that was wished for."""
    chance = random.Random(number)  # noqa: S311 — repeatable
    driver = making(home, home.store, "main")
    go(driver)
    until = time.perf_counter() + 0.01 + chance.random() * 0.07
    while time.perf_counter() < until:
        pass
    driver.kill()
    said = driver.communicate(timeout=20)[0].strip()
    left = sorted(f.name for f in home.store.iterdir()) if home.store.exists() else None
    print(f"seed {number}: {said!r}, {left}")
    again = home.here("init", home.store, "why?", "--thought", "a", "--thought", "b")
    if again.code:
        again.refused("is a store already")
    else:
        assert said != "0", "a store that was made can't be made again"
    home.sound()
    assert home.kinds()[:2] == ["session.started", "message.sent"]
    assert not [f.name for f in home.store.iterdir() if ".new" in f.name]


def test_init_is_one_append(home: House) -> None:
    """A kill can't come between the first message and the first thoughts: they are one wish."""
    home.here("init", home.store, "why?", "--thought", "a", "--thought", "b").fine()
    assert home.kinds() == ["session.started", "message.sent", "thought.added", "thought.added"]
    assert len({r.command for r in home.events()}) == 1


@pytest.mark.parametrize("rounds", [1, pytest.param(6, marks=pytest.mark.slow)])
def test_inits_at_once(home: House, rounds: int) -> None:
    """Of several that make the same store one succeeds, and it is its store that is there."""
    home.store.mkdir()
    crowds = []
    for round_ in range(rounds):
        store = home.store / f"{round_}"
        crowd = [making(home, store, f"n{number}") for number in range(6)]
        for process in crowd:
            go(process)
        crowds.append((store, [process.communicate(timeout=60) for process in crowd]))
    for store, said in crowds:
        print([out.strip() for out, _ in said])
        made = [f"n{number}" for number, (out, _) in enumerate(said) if out.strip() == "0"]
        assert not any("Traceback" in err for _, err in said), said
        with EventLog(store) as log:
            assert sorted(log.sessions()) == sorted(made), (
                "all that was acknowledged is there, and nothing else"
            )
        assert len(made) == 1
        assert {out.strip() for out, _ in said} == {"0", "2"}
