"""Two real processes on one session: nothing is lost, nothing is interleaved, one of two runs."""

from pathlib import Path

import pytest

from commands.command import Command
from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft, MarkSeen
from commands.eventlog import EventLog
from commands.handle import handle
from commands.presence import SetSignal
from commands.sessions import ChangeConfig
from commands.thinking import InjectThought
from commands.world import RealWorld
from domain.actors import Actor
from domain.errors import LogosphereError
from domain.events import (
    DraftAccepted,
    DraftEmitted,
    MessageSent,
    MindInvoked,
    RunStarted,
    RunStopped,
    ThoughtAdded,
)
from domain.recorded import Recorded
from tests.faults.machinery import MAIN, House, draft, ended, wait_for

WORLD = RealWorld(Actor("user", "ann"))


def invocations(count: int) -> "Counting":
    """Wanted: so many invocations."""
    return Counting(count)


class Counting:
    """Counts down invocations."""

    def __init__(self, count: int) -> None:
        self.left = count

    def __call__(self, recorded: Recorded) -> bool:
        """Whether this is the last one."""
        self.left -= recorded.event.kind == "mind.invoked"
        return self.left <= 0


def in_order(home: House) -> list[Recorded]:
    """All events; checked to make sense one after the other, whoever wrote them."""
    home.sound()
    events = home.events()
    shown = {r.version: r.event for r in events}
    for recorded in events:
        event = recorded.event
        if isinstance(event, MindInvoked):
            assert event.based_on < recorded.version
            asked = [e for v, e in shown.items() if v <= event.based_on]
            question = next(e for e in reversed(asked) if isinstance(e, MessageSent))
            same = [r.event for r in events if r.command == recorded.command]
            for emitted in same:
                if isinstance(emitted, DraftEmitted):
                    assert emitted.exchange == question.exchange, "an answer to what was asked"
    assert [r.at for r in events] == sorted(r.at for r in events)
    iterations = [r.event.iteration for r in events if isinstance(r.event, MindInvoked)]
    assert iterations == list(range(1, len(iterations) + 1))
    return events


def test_a_run_beside_a_busy_user(home: House) -> None:
    """While the mind works 20 iterations, all that the user does is in the log, and so is its."""
    home.init([draft(n, delay=0.05) for n in range(1, 40)], "why?")
    runner = home.started("run", "-b", "20")
    wishes: list[Command] = []
    with EventLog(home.store) as log:
        wait_for(log, "main", lambda r: isinstance(r.event, MindInvoked))
        for n in range(1, 19):
            wait_for(log, "main", invocations(n))
            wish = (
                InjectThought(text=f"mine {n}", by="user:ann"),
                SetSignal(presence="reviewing", status=f"{n}", time=WORLD.local_time()),
                ChangeConfig(key="token_limit", value=f"{1000 + n}"),
                MarkSeen(indexes=(1,) if n == 4 else ()),
            )[n % 4]
            if handle(log, MAIN, wish, WORLD).events:
                wishes.append(wish)
    told = ended(runner)
    assert told.code == 0, told
    events = in_order(home)
    users = [r for r in events if r.actor.who == "user" and r.version > 2]
    kinds = [r.event.kind for r in users]
    assert kinds.count("thought.added") == sum(isinstance(w, InjectThought) for w in wishes)
    assert kinds.count("signal.changed") == sum(isinstance(w, SetSignal) for w in wishes)
    assert kinds.count("config.changed") == sum(isinstance(w, ChangeConfig) for w in wishes)
    assert kinds.count("draft.seen") == sum(isinstance(w, MarkSeen) for w in wishes)
    assert len(wishes) > 10
    drafts = [r.event for r in events if isinstance(r.event, DraftEmitted)]
    assert [d.index for d in drafts] == list(range(1, 21))
    assert [d.text for d in drafts] == [f"the answer, number {n}" for n in range(1, 21)]
    thoughts = [r.event.text for r in events if isinstance(r.event, ThoughtAdded)]
    assert len(thoughts) == len(set(thoughts)) == 20 + kinds.count("thought.added")
    stopped = [r.event for r in events if isinstance(r.event, RunStopped)]
    assert [(e.reason, e.iterations) for e in stopped] == [("limit", 20)]


def test_accepting_while_the_mind_thinks(home: House) -> None:
    """A draft that comes after the acceptance is kept as late, and can't be accepted."""
    home.init([draft(1), draft(2, delay=1.5)], "why?")
    home.here("run").fine()
    step = home.started("step", "--debug")
    assert step.stdout is not None
    for line in step.stdout:
        if "── prompt" in line:
            break
    home.mind("accept").fine()
    told = ended(step)
    assert told.code == 0, told
    assert "late" in told.out
    events = in_order(home)
    drafts = [r.event for r in events if isinstance(r.event, DraftEmitted)]
    assert [(d.index, d.late) for d in drafts] == [(1, False), (2, True)]
    stopped = [r.event.reason for r in events if isinstance(r.event, RunStopped)]
    assert stopped == ["draft", "accepted"]
    home.here("accept", "2").refused("idle")
    assert "number 2" in home.here("drafts", "--exchange", "exc_1_000").fine().out
    assert "number 1" in home.here("history").fine().out


def test_the_next_question_while_the_mind_thinks(home: House) -> None:
    """An answer to the last question never becomes a draft of the next one."""
    home.init([draft(1), *(draft(n, delay=0.4) for n in range(2, 12))], "why?")
    home.here("run").fine()
    runner = home.started("run", "-b", "8")
    with EventLog(home.store) as log:
        wait_for(log, "main", invocations(2))
        accepted = 0
        for n in range(3, 7):
            handle(log, MAIN, AcceptDraft(), WORLD)
            accepted += 1
            handle(log, MAIN, SendMessage(text=f"and what of {n}?"), WORLD)
            before = log.position()
            runner_ended = runner.poll() is not None
            if runner_ended:
                break
            try:
                wait_for(
                    log,
                    "main",
                    lambda r, after=before: (
                        r.position > after
                        and (
                            isinstance(r.event, RunStopped)
                            or (isinstance(r.event, DraftEmitted) and not r.event.late)
                        )
                    ),
                    seconds=20,
                )
            except TimeoutError:
                break
            if log.state(MAIN).work.run is None:
                break
    told = ended(runner)
    assert told.code == 0, told
    events = in_order(home)
    assert sum(isinstance(r.event, DraftAccepted) for r in events) == accepted
    assert sum(isinstance(r.event, MessageSent) for r in events) == accepted + 1
    assert isinstance(events[-1].event, RunStopped)


def test_two_runners(home: House) -> None:
    """The second of two runners is told who runs, and neither loses anything."""
    home.init([draft(1), draft(2, delay=6), draft(3)], "why?")
    first = home.started("run", "-b", "3")
    with EventLog(home.store) as log:
        wait_for(log, "main", invocations(1))
    for args in (("run", "-b"), ("step",)):
        home.mind(*args).refused("is being run by", f"{first.pid}")
    told = ended(first)
    assert told.code == 0, told
    events = in_order(home)
    assert sum(isinstance(r.event, RunStarted) for r in events) == 1
    assert sum(isinstance(r.event, MindInvoked) for r in events) == 3


def test_runners_that_start_at_once(home: House) -> None:
    """Of four runners that start together exactly one runs; the others are refused."""
    home.init([draft(n, delay=2.0 if n == 1 else 0.0) for n in range(1, 9)], "why?")
    told = [ended(p) for p in [home.started("run", "-b", "2") for _ in range(4)]]
    assert sorted(t.code for t in told) == [0, 2, 2, 2], told
    for one in told:
        if one.code:
            one.refused("is being run by")
    events = in_order(home)
    assert sum(isinstance(r.event, MindInvoked) for r in events) == 2


def test_two_users_accept_at_once(home: House) -> None:
    """Of several acceptances at the same time one counts; the others are refused."""
    home.init([draft(1), draft(2)], "why?")
    home.here("run", "2").fine()
    told = [ended(p) for p in [home.started("accept", n) for n in (1, 2, 1, 2)]]
    assert sorted(t.code for t in told) == [0, 2, 2, 2], told
    assert home.kinds().count("draft.accepted") == 1
    in_order(home)


def test_the_same_name_at_once(home: House) -> None:
    """Of several forks and sessions of one name one is made; the others are refused."""
    home.init([], "why?")
    told = [
        ended(p)
        for p in [
            home.started(*args)
            for args in (
                ("fork", "x", "--at", "1"),
                ("new", "x"),
                ("fork", "x", "--at", "2"),
                ("new", "x", "other"),
            )
        ]
    ]
    assert sorted(t.code for t in told) == [0, 2, 2, 2], told
    home.sound()
    with EventLog(home.store) as log:
        assert log.sessions() == ["main", "x"]


@pytest.mark.parametrize("how", ["handle", "log"])
def test_an_open_log_beside_the_command_line(home: House, how: str, tmp_path: Path) -> None:
    """A long-lived process and short commands take turns without losing anything."""
    home.init([], "why?")
    with EventLog(home.store) as log:
        for n in range(4):
            home.mind("think", f"short {n}").fine()
            if how == "handle":
                handle(log, MAIN, InjectThought(text=f"long {n}", by="user:ann"), WORLD)
            else:
                assert log.state(MAIN).pool.active[-1].text == f"short {n}"
        with pytest.raises(LogosphereError):
            handle(log, MAIN, SendMessage(text="too early"), WORLD)
    home.sound()
    assert home.kinds().count("thought.added") == (8 if how == "handle" else 4)


def test_a_second_look_at_the_same_store(home: House) -> None:
    """A process that opens a store twice keeps its locks: what it is told is stored, is stored.

    Whoever closes a descriptor of its own on a file lets go of all its locks there, and the next
    process to leave would take the write-ahead log away as nobody's.
    """
    home.init([], "why?")
    with EventLog(home.store) as log:
        EventLog(home.store).close()
        home.mind("new", "other").fine()
        handle(log, MAIN, InjectThought(text="still here", by="user:ann"), WORLD)
        assert "still here" in home.mind("log", "--session", MAIN).out
    home.sound()
    assert home.kinds().count("thought.added") == 1
