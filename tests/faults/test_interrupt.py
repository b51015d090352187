"""Ctrl-C: the first ends a run after its iteration, the second breaks it off; all is in the log."""

import signal
import subprocess

from commands.eventlog import EventLog
from domain.events import DraftEmitted, MindInvoked, RunStopped
from tests.faults.machinery import House, draft, ended, wait_for


def running(home: House) -> "subprocess.Popen[str]":
    """A run of twenty that has one iteration behind it."""
    runner = home.started("run", "-b", "20")
    with EventLog(home.store) as log:
        wait_for(log, "main", lambda r: isinstance(r.event, MindInvoked))
    return runner


def test_once(home: House) -> None:
    """The iteration that is going on is finished and kept; the run says that it was interrupted."""
    home.init([draft(1), draft(2, delay=1.0), draft(3)], "why?")
    runner = running(home)
    runner.send_signal(signal.SIGINT)
    told = ended(runner)
    assert told.code == 0, told
    assert "Traceback" not in told.err
    assert "interrupted" in told.err
    events = [r.event for r in home.events()]
    assert [e.outcome for e in events if isinstance(e, MindInvoked)] == ["ok", "ok"]
    assert [e.index for e in events if isinstance(e, DraftEmitted)] == [1, 2]
    stopped = events[-1]
    assert isinstance(stopped, RunStopped)
    assert (stopped.reason, stopped.iterations) == ("interrupted", 2)
    home.sound()
    home.here("run", "1").fine()


def test_twice(home: House) -> None:
    """The second one ends it at once; the iteration stands in the log as broken off."""
    home.init([draft(1), draft(2, delay=60), draft(3)], "why?")
    runner = running(home)
    assert runner.stderr is not None
    runner.send_signal(signal.SIGINT)
    heard = ""
    for line in runner.stderr:
        heard += line
        if "Ctrl-C again" in line:
            break
    runner.send_signal(signal.SIGINT)
    told = ended(runner, 20)
    assert "Traceback" not in told.err
    assert told.code in {0, 130}, told
    events = [r.event for r in home.events()]
    asked = [e for e in events if isinstance(e, MindInvoked)]
    assert [e.outcome for e in asked] == ["ok", "failed"]
    assert "broke off" in (asked[-1].error or "")
    stopped = events[-1]
    assert isinstance(stopped, RunStopped)
    assert (stopped.reason, stopped.iterations) == ("interrupted", 2)
    home.sound()
    home.here("run", "1").fine()


def test_interrupting_a_follower(home: House) -> None:
    """``mind log --follow`` is ended by Ctrl-C without a fuss."""
    home.init([], "why?")
    follower = home.started("log", "--follow", "--json")
    assert follower.stdout is not None
    assert '"version": 1' in follower.stdout.readline()
    home.mind("think", "news").fine()
    for line in follower.stdout:
        if "news" in line:
            break
    follower.send_signal(signal.SIGINT)
    told = ended(follower, 20)
    assert "Traceback" not in told.err
    assert told.code in {0, 130}
