"""The state that commands decide by: exhaustive, pure, bounded, and of a known shape."""

import pickle
import types
from hashlib import sha256
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given as for_all
from hypothesis import settings

from domain.config import Config
from domain.dialogue import TEXTS_KEPT
from domain.events import EVENTS, Event, SessionEvent, SessionForked, SessionStarted
from domain.ids import CommandId, SessionId
from domain.recorded import Recorded
from domain.session import COMMANDS_KEPT, SHAPE, Session, evolve, fold
from tests.domain.happened import (
    FIRST,
    STARTED,
    accepted,
    asked,
    configured,
    drafted,
    exchanged,
    invoked,
    present,
    pruned,
    run_began,
    run_ended,
    seen,
    signalled,
    thought,
)
from tests.golden.write import EXAMPLES
from tests.spec import after, given, recorded
from tests.strategies import histories

OF_SESSIONS = tuple(event for event in EXAMPLES if isinstance(event, SessionEvent))

SHAPES = {4: "5e0583866e9ad5fe"}
"""The state's fields and their types under each number, as a hash."""


def described(kind: Any) -> str:
    """A type in words that are the same in every version of Python."""
    if get_origin(kind) is Annotated:
        return described(get_args(kind)[0])
    if hasattr(kind, "__supertype__"):
        return f"{kind.__name__}:{described(kind.__supertype__)}"
    if get_origin(kind) in {types.UnionType, Union}:
        return "|".join(sorted(map(described, get_args(kind))))
    if get_args(kind):
        origin = get_origin(kind).__name__.lower()
        return f"{origin}[{','.join(map(described, get_args(kind)))}]"
    if hasattr(kind, "_fields") or kind is Config:
        hints = get_type_hints(kind)
        fields = kind.model_fields if kind is Config else kind._fields
        return f"{kind.__name__}({','.join(f'{f}={described(hints[f])}' for f in fields)})"
    return getattr(kind, "__name__", repr(kind))


def test_a_new_shape_has_a_new_number() -> None:
    """Else a snapshot of another shape would be read as one of this."""
    shape = sha256(described(Session).encode()).hexdigest()[:16]
    assert SHAPES.get(SHAPE) == shape, (
        f"The fields of the state have changed: raise SHAPE in domain/session.py,"
        f" and add {SHAPE + 1}: {shape!r} to SHAPES here. {described(Session)}"
    )


def test_the_shape_goes_down_to_the_last_field() -> None:
    """No part of the state may change unnoticed."""
    words = described(Session)
    parts = ("Config", "Draft", "Asked", "Exchange", "Pool", "Thought", "Signal", "Run")
    for part in (f"{name}(" for name in parts):
        assert part in words
    for field in Config.model_fields:
        assert f"{field}=" in words


def test_every_kind_of_event_is_handled() -> None:
    """A new event without a case would be a KeyError in every session that has it."""
    assert {type(e) for e in EXAMPLES} == set(EVENTS.values())
    assert {type(e) for e in OF_SESSIONS} == set(get_args(SessionEvent))
    for example in OF_SESSIONS:
        if isinstance(example, SessionStarted):
            continue
        state = given(
            *exchanged(1), asked("next", "exc_2_000", 2), drafted(1, "x" * 20, exchange="exc_2_000")
        ).session
        event = example
        if "exchange" in type(event).model_fields:
            event = event.model_copy(update={"exchange": "exc_2_000"})
        if "index" in type(event).model_fields and event.kind == "draft.accepted":
            event = event.model_copy(update={"index": 1})
        if event.kind == "config.changed":
            event = configured("token_limit", 4000, 99)
        (one,) = recorded([event], state.version)
        assert evolve(state, one).version == state.version + 1


def test_kinds_are_written_the_same_way() -> None:
    """``noun.happened`` in lower case, and the key of its own class."""
    for kind, event in EVENTS.items():
        assert event.model_fields["kind"].default == kind
        noun, _, verb = kind.partition(".")
        assert noun.islower()
        assert verb.islower()
        assert event.__doc__


def test_a_history_begins_with_a_beginning() -> None:
    """Nothing else can be first, and it can't come twice."""
    for example in EXAMPLES:
        if not isinstance(example, SessionStarted):
            with pytest.raises(ValueError, match="can't begin with"):
                after(example)
    with pytest.raises(ValueError, match="in the middle"):
        after(STARTED, STARTED)


@for_all(histories())
@settings(deadline=None, max_examples=150)
def test_evolve_never_changes_its_input(history: list[Recorded]) -> None:
    """Neither the state before nor the event: both are byte for byte what they were."""
    state: Session | None = None
    for one in history:
        before, what = pickle.dumps(state), pickle.dumps(one)
        state_before = state
        state = evolve(state, one)
        assert pickle.dumps(state_before) == before
        assert pickle.dumps(one) == what
        assert state is not state_before


@for_all(histories())
@settings(deadline=None, max_examples=60)
def test_a_fold_may_rest_anywhere(history: list[Recorded]) -> None:
    """The state is all that the next event needs: a fold in two parts is the whole fold."""
    whole = fold(history)
    for cut in range(0, len(history), max(1, len(history) // 5)):
        assert fold(history[cut:], fold(history[:cut])) == whole
    assert whole is not None
    assert (whole.version, whole.at) == (history[-1].version, history[-1].at)


@for_all(histories())
@settings(deadline=None, max_examples=60)
def test_what_holds_in_every_state(history: list[Recorded]) -> None:
    """Indexes count from 1, nothing awaits without an exchange, the pool keeps its size."""
    state: Session | None = None
    for one in history:
        state = evolve(state, one)
        dialogue = state.dialogue
        assert [d.index for d in dialogue.drafts] == list(range(1, len(dialogue.drafts) + 1))
        assert dialogue.awaiting or not dialogue.drafts
        assert len({e.id for e in dialogue.history}) == len(dialogue.history)
        assert len(state.pool.active) <= state.config.active_pool_size
        versions = [t.version for t in state.pool.active]
        assert versions == sorted(set(versions))
        assert state.pool.dimension is not None or state.pool.waiting == state.pool.active
        assert state.pool.sizes.total() == sum(t.cluster is not None for t in state.pool.active)
        assert len(state.commands) <= COMMANDS_KEPT
        assert len(state.attention.signals) <= 3
        assert state.id == one.session


def test_a_thousand_drafts_keep_a_hundred_texts() -> None:
    """Every draft stays known by index, version and digest; the oldest texts are let go."""
    many = [drafted(n, f"draft number {n} of a thousand") for n in range(1, 1001)]
    drafts = given(asked(), *many).session.dialogue.drafts
    assert len(drafts) == 1000
    assert all(d.text is None for d in drafts[:-TEXTS_KEPT])
    assert [d.text for d in drafts[-TEXTS_KEPT:]] == [e.text for e in many[-TEXTS_KEPT:]]
    assert len({d.digest for d in drafts}) == 1000
    assert [d.version for d in drafts] == list(range(3, 1003))
    assert len(pickle.dumps(drafts)) < 150_000


def test_five_hundred_exchanges_keep_a_hundred() -> None:
    """The others are only counted: they can be read in the log."""
    state = given(*(event for n in range(1, 501) for event in exchanged(n))).session
    assert state.dialogue.accepted == 500
    assert [e.id for e in state.dialogue.history] == [f"exc_{n}_000" for n in range(401, 501)]
    assert state.dialogue.history[-1].answer == "this is the answer number 500"
    assert state.iteration == 500
    assert len(pickle.dumps(state)) < 40_000


def test_the_newest_commands_are_known() -> None:
    """Thirty-two of them, each once however many events it became."""
    many = [thought(str(n)) for n in range(100)]
    history = recorded([STARTED, *many])
    same = [r._replace(command=history[-1].command) for r in recorded(many[:3], 101)]
    state = fold([*history, *same])
    assert state is not None
    assert state.commands == tuple(CommandId(n.to_bytes(16, "big")) for n in range(70, 102))


def test_a_branch_is_nobody_s_run() -> None:
    """It has the parent's past and its own name; the run goes on in the parent alone."""
    before = given(asked(), run_began(), invoked(1), signalled("hard", 1))
    fork = SessionForked(parent="tides", at_version=5, parent_hash=bytes(32))
    (one,) = recorded([fork], before.session.version)
    child = evolve(before.session, one._replace(session=SessionId("tides/what-if")))
    assert (child.id, child.work.run) == ("tides/what-if", None)
    assert child.work.consecutive_hard == 1
    assert child.dialogue == before.session.dialogue
    assert before.session.work.run is not None


def test_hard_signals_in_a_row() -> None:
    """A draft of any kind ends the row, a new message too; a run counts its own."""
    state = given(
        asked(),
        invoked(1),
        signalled("hard", 1),
        run_began(),
        invoked(2),
        signalled("silence", 2, 2),
    ).session
    assert state.work.consecutive_hard == 2
    assert state.work.run is not None
    assert state.work.run.hard == 1
    (one,) = recorded([drafted(1, "+1", 3)], state.version)
    drawn = evolve(state, one)
    assert drawn.work.consecutive_hard == 0
    assert drawn.work.run is not None
    assert drawn.work.run.hard == 0
    idle = given(
        asked(), invoked(1), drafted(1, "x" * 20), signalled("hard", 1), accepted(1)
    ).session
    (one,) = recorded([asked("next", "exc_2_000", 2)], idle.version)
    assert evolve(idle, one).work.consecutive_hard == 0


def test_a_late_draft_ends_no_row() -> None:
    """It says nothing about the exchange that is open now."""
    state = given(
        *exchanged(1), asked("next", "exc_2_000", 2), invoked(2), signalled("hard", 1, 2)
    ).session
    (one,) = recorded([drafted(2, "x" * 20, 3, late=True)], state.version)
    assert evolve(state, one).work.consecutive_hard == 1


def test_what_the_mind_s_work_has_come_to() -> None:
    """Tokens and known costs add up; unknown costs are counted, never taken for nothing."""
    state = given(
        asked(),
        invoked(1, tokens_in=10, tokens_out=5, cost_usd=0.25),
        invoked(2, tokens_in=1, outcome="failed"),
        invoked(3, cost_usd=0.0, embedding_tokens=99, embedding_cost_usd=0.5),
        invoked(4, cost_usd=0.125, embedding_tokens=3),
    ).session
    assert state.work[2:] == (11, 5, 0.875, 1)


def test_failures_in_a_row() -> None:
    """Of the run that is going on; one that went well ends the row."""

    def failures(*outcomes: Any) -> int:
        calls = [invoked(n, outcome=o) for n, o in enumerate(outcomes, 1)]
        run = given(asked(), run_began(), *calls).session.work.run
        assert run is not None
        assert run.iterations == len(outcomes)
        return run.failures

    assert failures("failed", "unparseable") == 2
    assert failures("failed", "ok", "failed") == 1
    assert failures("failed", "skipped") == 0


def test_the_end_of_another_run_ends_nothing() -> None:
    """A runner that was taken over can't close the run of its successor."""
    state = given(
        asked(), run_began("a"), run_ended("lost", 0, "a"), run_began("b"), run_ended(run="a")
    ).session
    assert state.work.run is not None
    assert state.work.run.id == "b"


def test_pruning_and_seeing_leave_the_rest_alone() -> None:
    """Unknown exchanges and those of the past are passed over."""
    state = given(*exchanged(1), pruned(FIRST, "exc_9_000"), seen(1), present("engaged")).session
    assert [e.pruned for e in state.dialogue.history] == [True]
    (one,) = recorded([seen(1, exchange="exc_7_000")], state.version)
    assert evolve(state, one).dialogue == state.dialogue


def test_events_are_frozen_and_closed() -> None:
    """No field can be set, none can be added."""
    for example in EXAMPLES:
        with pytest.raises(ValueError, match="frozen"):
            example.kind = "other"
        with pytest.raises(ValueError, match="Extra inputs"):
            type(example).from_wire({**example.wire(), "colour": "blue"})
        assert isinstance(example, Event)
        assert type(example).from_wire(example.wire()) == example
