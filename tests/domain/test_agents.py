"""The state of an agent: what it is, what it does now, what it has used up."""

import pickle
from collections.abc import Callable, Sequence
from typing import Any, get_args

import pytest
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st

from domain.agents import COMMANDS_KEPT, Agent, Prompt, Report, evolve
from domain.events import (
    AgentDrafted,
    AgentEvent,
    AgentUndrafted,
    BackendOpened,
    ContextReset,
    ConversationCompacted,
    Event,
    EventRedacted,
    LoopNoticed,
    PeerAnswered,
    PeerAsked,
    PromptSubmitted,
    PromptWithdrawn,
    StopAsked,
    ToolCalled,
    TurnCompleted,
    TurnFailed,
    TurnLost,
    TurnStarted,
    WorkerDispatched,
    WorkerKilled,
    WorkerReported,
)
from domain.ids import SessionId
from domain.limits import Spent
from domain.recorded import Recorded
from tests.golden.write import EXAMPLES
from tests.spec import SECOND, recorded

DRAFTED = AgentDrafted(
    role="analyst",
    instructions="You read gauges.",
    model="local",
    client="cli",
    project="harbour",
    task="gauges",
)
STREAM, HERE = SessionId("agent:analyst-1"), "here:1:0"


def told(events: Sequence[Event]) -> list[Recorded]:
    """Events as the log would hold them in the stream of an agent: one a second."""
    return recorded(events, stream=STREAM)


def after(*events: Event) -> Agent:
    """An agent to which these events have happened since it was drafted."""
    agent: Agent | None = None
    for one in told([DRAFTED, *events]):
        agent = evolve(agent, one)
    assert agent is not None
    return agent


def asked(text: str = "Which gauge lags?") -> PromptSubmitted:
    """Somebody says something."""
    return PromptSubmitted(text=text)


def started(turn: int, prompt: int) -> TurnStarted:
    """A turn begins."""
    return TurnStarted(turn=turn, prompt=prompt, holder=HERE)


def completed(turn: int, prompt: int, **fields: Any) -> TurnCompleted:
    """A turn has its answer."""
    return TurnCompleted(turn=turn, prompt=prompt, text="The one at the weir.", model="m", **fields)


def failed(turn: int, prompt: int, **fields: Any) -> TurnFailed:
    """A turn has none."""
    return TurnFailed(turn=turn, prompt=prompt, reason="failed", detail="HTTP 500", **fields)


# who an agent is and what it does


def test_an_agent_is_named_by_its_stream() -> None:
    """And knows under which role it was drafted, and when."""
    agent = after()
    assert (agent.id, agent.drafted, agent.begun, agent.version) == (
        "analyst-1",
        DRAFTED,
        SECOND,
        1,
    )
    assert agent.active
    assert agent.way == "conversation"


def test_every_event_of_an_agent_is_handled() -> None:
    """A new event without a case would be an error in every agent that has it."""
    examples = {type(e): e for e in EXAMPLES if isinstance(e, AgentEvent)}
    assert set(examples) == set(get_args(AgentEvent))
    state = after(asked())
    for kind, example in examples.items():
        if kind is AgentDrafted:
            continue
        event = example.model_copy(update={"prompt": 2}) if kind is TurnStarted else example
        one = told([DRAFTED, asked(), event])[-1]
        assert evolve(state, one).version == 3


@pytest.mark.parametrize(
    "event", [e for e in EXAMPLES if not isinstance(e, AgentEvent)], ids=lambda e: e.kind
)
def test_what_happens_to_others_does_not_happen_to_an_agent(event: Event) -> None:
    """It is said, not passed over."""
    with pytest.raises(ValueError, match="does not happen to an agent"):
        after(event)


def test_an_agent_begins_with_its_draft() -> None:
    """Nothing else can be first, and it can't come twice."""
    (one,) = told([asked()])
    with pytest.raises(ValueError, match=r"can't begin with prompt\.submitted"):
        evolve(None, one)
    with pytest.raises(ValueError, match="does not happen"):
        after(DRAFTED)


def test_prompts_wait_in_the_order_in_which_they_came() -> None:
    """A turn takes the one that it names; one that was taken back is gone."""
    agent = after(asked("a"), asked("b"), asked("c"), PromptWithdrawn(prompt=3), started(1, 2))
    assert agent.queue == (Prompt(4, "c", None),)
    assert agent.turn is not None
    assert (agent.turn.number, agent.turn.prompt.text, agent.turn.holder) == (1, "a", HERE)
    assert agent.turn.at == 6 * SECOND


def test_a_turn_adds_to_what_was_used() -> None:
    """Cached tokens count; what nobody can say is counted as unknown."""
    first = completed(
        *(1, 2),
        tokens_in=100,
        tokens_out=10,
        cache_read=50,
        cache_creation=5,
        cost_usd=0.25,
        calls=2,
        latency_ms=1500,
        context_tokens=90,
        context_window=1000,
    )
    agent = after(asked(), started(1, 2), first)
    assert agent.turn is None
    assert (agent.turns, agent.completed, agent.failed, agent.lost) == (1, 1, 0, 0)
    assert agent.spent == Spent(0.25, 165, 2, 1.5)
    assert (agent.tokens_in, agent.tokens_out, agent.unknown_costs) == (155, 10, 0)
    assert agent.context_pct == 9.0
    second = after(
        *(asked(), started(1, 2), first, asked(), started(2, 5)),
        failed(2, 5, calls=1, tokens_in=7, unknown_costs=1, latency_ms=500),
    )
    assert second.spent == Spent(0.25, 172, 3, 2.0)
    assert (second.turns, second.completed, second.failed, second.unknown_costs) == (2, 1, 1, 1)
    assert second.context_pct == 9.0, "a failed turn says nothing about the context"


def test_a_failure_before_any_call_costs_nothing() -> None:
    """So nobody has to say what."""
    assert after(asked(), started(1, 2), failed(1, 2)).unknown_costs == 0


def test_a_turn_that_is_to_stop_goes_on_until_it_has_an_end() -> None:
    """A wish about another turn changes nothing."""
    going = (asked(), started(1, 2))
    assert after(*going, StopAsked(turn=7)).turn == after(*going).turn
    turn = after(*going, StopAsked(turn=1)).turn
    assert turn is not None
    assert turn.stopping
    again = after(*going, StopAsked(turn=1), failed(1, 2), asked(), started(2, 6)).turn
    assert again is not None
    assert not again.stopping


def test_a_lost_turn_is_counted() -> None:
    """The agent goes on."""
    agent = after(asked(), started(1, 2), TurnLost(turn=1, prompt=2))
    assert (agent.turn, agent.lost, agent.active) == (None, 1, True)


def test_a_context_is_full_at_most() -> None:
    """And nobody knows how full while nobody says how large it is."""
    assert after().context_pct is None
    full = completed(1, 2, context_tokens=3000, context_window=1000)
    assert after(asked(), started(1, 2), full).context_pct == 100.0


def test_a_reset_shows_nothing_of_what_was() -> None:
    """Neither turns, nor their summary, nor the session of the backend."""
    before = (
        *(asked(), started(1, 2), BackendOpened(session="abc")),
        ConversationCompacted(upto=1, pre_tokens=900, summary="The weir lags."),
        completed(1, 2, context_tokens=900, context_window=1000),
    )
    agent = after(*before)
    assert (agent.backend, agent.summary, agent.compacted_upto) == ("abc", "The weir lags.", 1)
    agent = after(*before, ContextReset())
    assert (agent.backend, agent.summary, agent.shown_after) == (None, "", 7)
    assert agent.context_pct == 0.0


def test_workers_are_known_until_they_end() -> None:
    """Whether they report or are killed."""
    sent = [
        WorkerDispatched(worker=name, role="reader", prompt="Read.")
        for name in ("reader-1", "reader-2", "reader-3")
    ]
    agent = after(
        *sent,
        WorkerReported(worker="reader-2", status="success", summary="read"),
        WorkerKilled(worker="reader-3", reason="asked", detail="enough"),
    )
    assert agent.workers == ("reader-1",)
    assert agent.active
    assert agent.report is None


@pytest.mark.parametrize(
    ("event", "how", "reason"),
    [
        (AgentUndrafted(turns=0, cost_usd=0.0, duration_ms=0), "undrafted", "asked"),
        (WorkerReported(worker="analyst-1", status="partial", summary="x"), "reported", "partial"),
        (WorkerKilled(worker="analyst-1", reason="budget", detail="x"), "killed", "budget"),
    ],
)
def test_an_end_is_an_end(event: Event, how: str, reason: str) -> None:
    """Nothing waits any more, no turn goes on."""
    agent = after(asked(), asked(), started(1, 2), event)
    assert agent.ended is not None
    assert (agent.ended.how, agent.ended.reason, agent.ended.at) == (how, reason, 5 * SECOND)
    assert (agent.active, agent.queue, agent.turn) == (False, (), None)


def test_a_report_is_kept() -> None:
    """All of it."""
    report = Report("partial", "Two.", ("a",), ("b",), ("c", "d"))
    event = WorkerReported(worker="analyst-1", **report._asdict())
    assert after(event).report == report


def test_words_about_others_change_nothing_else() -> None:
    """They are told in the transcript alone."""
    called = ToolCalled(turn=1, call="c", name="t", arguments="{}", result="r")
    words = (
        called,
        LoopNoticed(turn=1, call="t {}", times=3),
        PeerAsked(agent="reader-1", prompt=2, text="And?"),
        PeerAnswered(agent="reader-1", prompt=2, text="So."),
        EventRedacted(version=1, what="agent.drafted", digest=b"", stub=b"", reason="x"),
    )
    before = after(asked(), started(1, 2))
    for word in words:
        one = told([DRAFTED, asked(), started(1, 2), word])[-1]
        now = evolve(before, one)
        same = before._replace(version=4, at=4 * SECOND, commands=now.commands)
        assert now == same


def test_the_newest_commands_are_known() -> None:
    """So that one is never fulfilled twice; not all of them for ever."""
    agent = after(*(asked(str(n)) for n in range(100)))
    assert len(agent.commands) == COMMANDS_KEPT
    assert agent.commands[-1] == (101).to_bytes(16, "big")


# for any life

Draw = Callable[[Agent], Event | None]
LIFE: tuple[Draw, ...] = (
    lambda _: asked(),
    lambda a: PromptWithdrawn(prompt=a.queue[-1].id) if a.queue else None,
    lambda a: started(a.turns + 1, a.queue[0].id) if a.queue and a.turn is None else None,
    lambda a: completed(a.turns, a.turn.prompt.id, tokens_in=3, cost_usd=0.5) if a.turn else None,
    lambda a: (
        failed(a.turns, a.turn.prompt.id, calls=1, tokens_in=2, unknown_costs=1) if a.turn else None
    ),
    lambda a: StopAsked(turn=a.turns) if a.turn else None,
    lambda a: TurnLost(turn=a.turns, prompt=a.turn.prompt.id) if a.turn else None,
    lambda _: ContextReset(),
    lambda a: WorkerDispatched(worker=f"reader-{a.version}", role="reader", prompt="Read."),
    lambda a: WorkerKilled(worker=a.workers[0], reason="asked", detail="x") if a.workers else None,
)


@st.composite
def lives(draw: st.DrawFn) -> list[Recorded]:
    """What may happen to an agent, in an order in which it can."""
    events: list[Event] = [DRAFTED]
    agent = after()
    for choice in draw(st.lists(st.integers(0, len(LIFE) - 1), max_size=25)):
        event = LIFE[choice](agent)
        if event is not None:
            events.append(event)
            agent = evolve(agent, told(events)[-1])
    return told(events)


@for_all(lives())
@settings(deadline=None, max_examples=60)
def test_evolve_never_changes_its_input_and_adds_up(life: list[Recorded]) -> None:
    """Each turn that began ended in one way or goes on; sums are sums."""
    state: Agent | None = None
    for one in life:
        before, what, kept = pickle.dumps(state), pickle.dumps(one), state
        state = evolve(state, one)
        assert pickle.dumps(kept) == before
        assert pickle.dumps(one) == what
        going = state.turn is not None
        assert state.turns == state.completed + state.failed + state.lost + going
        ids = [prompt.id for prompt in state.queue]
        assert ids == sorted(set(ids))
        assert state.tokens_in == state.spent.tokens == 3 * state.completed + 2 * state.failed
        assert state.unknown_costs == state.failed
        assert state.spent.cost_usd == 0.5 * state.completed
        assert (state.version, state.at) == (one.version, one.at)
