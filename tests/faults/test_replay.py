"""A replay that is killed, or interrupted, goes on where it was."""

import signal

from commands.eventlog import EventLog
from domain.events import MindInvoked, RunStopped
from tests.faults.machinery import House, draft, ended, wait_for


def told(home: House) -> None:
    """Two exchanges, with three iterations."""
    home.init([draft(1), draft(2), draft(3)], "why?")
    home.here("run", "-b", "2").fine()
    home.here("accept").fine()
    home.here("message", "and the sun?").fine()
    home.here("run", "1").fine()
    home.here("config", "--set", "timeout=100").fine()


def drafts(home: House) -> list[str]:
    """The kinds of what the users of the branch and its mind did."""
    of_runs = ("run.started", "run.stopped")
    return [kind for kind in home.kinds("what-if") if kind not in of_runs]


def test_kill(home: House) -> None:
    """Killed while the mind is at work: nothing is lost, and nothing is done twice."""
    told(home)
    home.script([draft(1), draft(2), draft(3)])
    home.here("replay", "whole").fine()
    home.script([draft(1), draft(2, delay=60), draft(3)])
    replay = home.started("replay", "what-if")
    with EventLog(home.store) as log:
        wait_for(log, "what-if", lambda r: isinstance(r.event, MindInvoked))
    replay.kill()
    replay.communicate(timeout=20)
    home.script([draft(1), draft(2), draft(3)])
    home.mind("replay", "--continue", "what-if").fine()
    of_runs = ("run.started", "run.stopped")
    assert drafts(home) == [kind for kind in home.kinds("whole") if kind not in of_runs]
    stopped = [r.event.reason for r in home.events("what-if") if isinstance(r.event, RunStopped)]
    assert stopped == ["lost", "limit", "limit"]
    home.here("replay", "--check", "--all").fine()
    home.sound()


def test_interrupt(home: House) -> None:
    """Ctrl-C lets the iteration end; the rest follows when it goes on."""
    told(home)
    home.script([draft(1), draft(2, delay=1.0), draft(3)])
    replay = home.started("replay", "what-if")
    with EventLog(home.store) as log:
        wait_for(log, "what-if", lambda r: isinstance(r.event, MindInvoked))
    replay.send_signal(signal.SIGINT)
    stopped = ended(replay)
    assert stopped.code == 0, stopped
    assert "mind replay --continue what-if" in stopped.err
    assert "Traceback" not in stopped.err
    assert home.kinds("what-if").count("mind.invoked") == 2
    assert home.kinds("what-if")[-1] == "run.stopped"
    home.here("replay", "--continue", "what-if").fine()
    assert home.kinds("what-if").count("mind.invoked") == 3
    home.sound()
