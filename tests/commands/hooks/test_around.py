"""Hooks around the iterations of a run: when they are called, and what a bad one costs."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from commands.drafts import AcceptDraft
from commands.hooks.hook import Hook, as_hook
from commands.hooks.turn import Turn
from commands.minds.mind import MindFailed, MindUnavailable
from commands.thinking import InjectThought
from domain.errors import RunIsOver
from domain.events import MindInvoked, NoteAdded, RunStopped, ThoughtAdded
from tests.stories.cast import Rehearsed, Stage, kinds

THOUGHTS = "thoughts: [what of the sun?]"
DRAFT = "draft: Because the moon pulls on both sides."
AGAIN = MindFailed("The provider is in trouble (HTTP 503).", retryable=True)
NEVER = MindFailed("The key was not accepted (HTTP 401).", retryable=False)


class Spy:
    """Notes down when it is called, and with what."""

    name = "spy"

    def __init__(self) -> None:
        self.calls: list[tuple[str, int, list[str]]] = []

    def before(self, turn: Turn) -> None:
        """The mind is about to be asked."""
        self.calls.append(("before", turn.iteration, kinds(turn.events)))
        assert turn.session.iteration == turn.iteration - 1

    def after(self, turn: Turn) -> None:
        """An iteration is in the log."""
        self.calls.append(("after", turn.iteration, kinds(turn.events)))
        assert turn.session.iteration == turn.iteration


def test_hooks_are_called_around_each_iteration(stage: Stage) -> None:
    """Once before and once after, the last one and failed ones included."""
    spy = Spy()
    stage.runs(THOUGHTS, AGAIN, DRAFT, hooks=[spy])
    assert spy.calls == [
        ("before", 1, []),
        ("after", 1, ["mind.invoked", "thought.added", "mind.signalled"]),
        ("before", 2, []),
        ("after", 2, ["mind.invoked"]),
        ("before", 3, []),
        ("after", 3, ["mind.invoked", "draft.emitted", "draft.seen"]),
    ]


def test_a_failure_that_ends_the_run_has_an_after_too(stage: Stage) -> None:
    """Whatever came of the iteration, it is in the log."""
    spy = Spy()
    assert stage.runs(NEVER, hooks=[spy]).reason == "failed"
    assert [call[:2] for call in spy.calls] == [("before", 1), ("after", 1)]


@pytest.mark.parametrize("raised", [KeyboardInterrupt(), MindUnavailable("Set a key.")])
def test_what_was_broken_off_has_no_after(stage: Stage, raised: BaseException) -> None:
    """The user wants out, or nothing has happened at all."""
    spy = Spy()
    stage.runs(DRAFT)
    with suppress(MindUnavailable):
        stage.runs(raised, hooks=[spy])
    assert [call[:2] for call in spy.calls] == [("before", 2)]


def test_a_run_goes_on_from_what_a_hook_did(stage: Stage) -> None:
    """A thought that was injected before an iteration can be shown to it."""
    mind = Rehearsed(DRAFT)
    hook = made(before=lambda turn: turn.inject("Compare it with Fundy."))
    stage.runs(mind=mind, hooks=[hook])
    assert "Compare it with Fundy." in mind.requests[0].prompt
    (invoked,) = stage.events(MindInvoked)
    assert len(invoked.sampled) == 1


def test_a_user_may_act_while_a_hook_works(stage: Stage) -> None:
    """The exchange was closed meanwhile: the mind is not asked in vain, and the run says so."""
    stage.runs(DRAFT)
    mind = Rehearsed(DRAFT)
    hook = made(before=lambda _: stage.does(AcceptDraft()))
    assert stage.runs(mind=mind, hooks=[hook])[:2] == ("accepted", 0)
    assert mind.requests == []


def test_hooks_see_what_hooks_before_them_did(stage: Stage) -> None:
    """They are called in the order in which they were asked for."""
    seen: list[list[str]] = []
    first = made(before=lambda turn: turn.inject("from the first"), name="first")
    second = made(
        before=lambda turn: seen.append([t.text for t in turn.session.pool.active]), name="second"
    )
    stage.runs(DRAFT, hooks=[first, second])
    assert seen == [["from the first"]]


def test_what_a_hook_does_is_signed(stage: Stage) -> None:
    """Its own actor; caused by the iteration that has ended, or else by the newest event."""

    class Both:
        def before(self, turn: Turn) -> None:
            turn.inject("before")

        def after(self, turn: Turn) -> None:
            turn.note("after", about=[turn.inject("and after")])

    stage.runs(DRAFT, hooks=[as_hook(Both(), "both")])
    history = stage.history()
    assert kinds(history) == [
        *("session.started", "message.sent", "run.started", "thought.added", "mind.invoked"),
        *("draft.emitted", "draft.seen", "thought.added", "note.added", "run.stopped"),
    ]
    deeds = [r for r in history if str(r.actor) == "agent:hook:both"]
    assert [(r.version, r.cause) for r in deeds] == [(4, 3), (8, 5), (9, 5)]
    assert len({r.command for r in deeds}) == 3
    thoughts = [r.event for r in deeds if isinstance(r.event, ThoughtAdded)]
    assert [(t.text, t.origin, t.mind, t.iteration) for t in thoughts] == [
        ("before", "injected", "agent:hook:both", 1),
        ("and after", "injected", "agent:hook:both", 2),
    ]
    assert deeds[-1].event == NoteAdded(text="after", about=(8,), iteration=1)


BAD: list[tuple[Callable[[Turn], object], str]] = [
    (lambda _: 1 / 0, "ZeroDivisionError: division by zero (test_around.py, line"),
    (lambda turn: turn.inject(" "), "The thought is empty"),
    (lambda turn: turn.note("x", about=[99]), "has no moment '99'"),
    (lambda _: (_ for _ in ()).throw(SystemExit(3)), "SystemExit: 3"),
    (lambda _: (_ for _ in ()).throw(AGAIN), "The provider is in trouble"),
    (lambda _: (_ for _ in ()).throw(RunIsOver("x")), "This run of session 'x' is over"),
    (lambda turn: turn.nonsense, "AttributeError: 'Turn' object has no attribute 'nonsense'"),  # type: ignore[attr-defined]
    (lambda: None, "TypeError: "),  # type: ignore[misc, list-item]
    (lambda _: (_ for _ in ()).throw(ValueError("a\nb" * 999)), "ValueError: a ba ba b"),
]


@pytest.mark.parametrize(("bad", "sentence"), BAD)
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_hook_that_raises_costs_nothing(
    stage: Stage, bad: Callable[[Turn], object], sentence: str, moment: Any
) -> None:
    """It is told of in one sentence, the other hooks are called, and the run goes on."""
    told: list[str] = []
    spy = Spy()
    hooks = [made(**{moment: bad}), spy]
    assert stage.runs(THOUGHTS, DRAFT, hooks=hooks, on_problem=told.append)[:2] == ("draft", 2)
    assert [call[:2] for call in spy.calls] == [
        *(("before", 1), ("after", 1), ("before", 2), ("after", 2))
    ]
    assert [line.startswith("Hook 'made' failed ") for line in told] == [True, True]
    assert f"{moment} iteration 1: " in told[0]
    assert sentence in told[0]
    assert told[0].endswith(" The run goes on.")
    assert "\n" not in told[0]
    assert len(told[0]) < 450
    assert [r.event.kind for r in stage.history() if r.actor.who == "agent"] == []


def test_a_hook_that_always_raises_is_left_out(stage: Stage) -> None:
    """After the third time in a row; its other half goes with it. The next run tries it again."""
    told: list[str] = []
    calls: list[str] = []

    def broken(_: Turn) -> None:
        calls.append("after")
        raise ValueError("no")

    hooks = [made(before=lambda _: calls.append("before"), after=broken)]
    stage.runs(THOUGHTS, iterations=5, hooks=hooks, on_problem=told.append)
    assert calls == ["before", "after"] * 3
    assert [line.rpartition(". ")[2] for line in told] == [
        *("The run goes on.", "The run goes on."),
        "It is left out for the rest of this run.",
    ]
    stage.runs(THOUGHTS, iterations=1, hooks=hooks, on_problem=told.append)
    assert len(told) == 4


def test_a_hook_that_recovers_stays(stage: Stage) -> None:
    """Only failures in a row count."""
    told: list[str] = []

    def shaky(turn: Turn) -> None:
        if turn.iteration % 3:
            raise ValueError("no")

    stage.runs(THOUGHTS, iterations=9, hooks=[made(after=shaky)], on_problem=told.append)
    assert len(told) == 6


@pytest.mark.parametrize("moment", ["before", "after"])
def test_the_user_can_break_off_a_hook(stage: Stage, moment: str) -> None:
    """Ctrl-C is no failure of the hook: it ends the run, and what was recorded stays."""
    told: list[str] = []

    def interrupted(turn: Turn) -> None:
        turn.note("so far")
        raise KeyboardInterrupt

    hooks = [made(**{moment: interrupted})]
    stopped = stage.runs(THOUGHTS, hooks=hooks, on_problem=told.append)
    assert stopped[:2] == ("interrupted", 0 if moment == "before" else 1)
    assert told == []
    assert len(stage.events(NoteAdded)) == 1
    assert stage.events(RunStopped)[0].reason == "interrupted"


def test_a_hook_that_runs_wild_does_not_flood_the_log(stage: Stage) -> None:
    """Twenty deeds a turn, of whatever kind; the next turn has its own."""

    def wild(turn: Turn) -> None:
        while True:
            turn.inject("again")
            turn.note("and again")

    told: list[str] = []
    stage.runs(THOUGHTS, iterations=2, hooks=[made(after=wild)], on_problem=told.append)
    assert len(stage.events(NoteAdded)) == 20
    assert [e.text for e in stage.events(ThoughtAdded)].count("again") == 20
    assert "agent:hook:made has acted 20 times in one turn, which is the most." in told[0]


def test_a_turn_that_is_over_is_over(stage: Stage) -> None:
    """A hook can't keep it for later."""
    kept: list[Turn] = []
    told: list[str] = []

    def late(turn: Turn) -> None:
        kept.append(turn)
        kept[0].inject("late")

    stage.runs(THOUGHTS, iterations=2, hooks=[made(after=late)], on_problem=told.append)
    assert [e.text for e in stage.events(ThoughtAdded)].count("late") == 1
    assert "The turn of agent:hook:made is over" in told[0]


def test_what_a_hook_prints_is_no_answer(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    """Stdout may be read by a program."""
    stage.runs(DRAFT, hooks=[made(after=lambda turn: print(turn.iteration))])
    assert capsys.readouterr() == ("", "1\n")


def test_a_store_can_not_name_a_hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever lies in its directory or stands in its log, a run calls what it was given."""
    store = tmp_path / "store"
    monkeypatch.setenv("MIND_HOOKS", f"{store}/hook.py")  # only the command line reads it
    stage = Stage(store).begins(embedding_model="off")
    trap = f"from pathlib import Path\nPath({str(tmp_path / 'sprung')!r}).touch()\n"
    for name in ("hook.py", "hooks.py", "conftest.py", "sitecustomize.py"):
        (store / name).write_text(trap + "def hook(turn): turn.note('mine')\n", encoding="utf-8")
    stage.does(InjectThought(text="--hook hook.py", by="agent:hook:novelty"))
    stage.runs(DRAFT)
    assert not (tmp_path / "sprung").exists()
    assert stage.events(NoteAdded) == []
    assert not [key for key in type(stage.state.config).model_fields if "hook" in key]
    stage.log.close()


def made(name: str = "made", **moments: Callable[[Turn], object]) -> Hook:
    """A hook of these moments."""
    return as_hook(type("Made", (), {k: staticmethod(v) for k, v in moments.items()})(), name)
