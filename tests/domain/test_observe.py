"""What a mind is shown of a state: limits applied, ages counted, nothing torn out of order."""

from hypothesis import given as for_all
from hypothesis import settings

from domain.pool import Thought
from domain.protocol.copies import without_copies
from domain.protocol.observe import observe
from domain.protocol.output import Output
from domain.protocol.view import (
    ClusterMark,
    HardSignals,
    Limit,
    SignalSeen,
    ThoughtSeen,
    TurnSeen,
    View,
)
from domain.recorded import Recorded
from domain.sampling import Recalled, Sample
from domain.session import fold
from tests.domain.happened import (
    asked,
    configured,
    drafted,
    exchanged,
    formed,
    invoked,
    present,
    pruned,
    seen,
    signalled,
    thought,
)
from tests.spec import Given, given
from tests.strategies import histories

NOW = "2026-05-02T10:30:00+00:00"
NOTHING = Sample(())


def shown(moment: Given) -> View:
    """What the coming iteration would see, without a sample."""
    return observe(moment.session, NOTHING, NOW)


def test_the_beginning() -> None:
    """The message that awaits, of age 0, and the limits."""
    view = shown(given(asked()))
    assert view.awaiting == TurnSeen("user", "why two tides?", 0)
    assert (view.iteration, view.user_time, view.drafts, view.history) == (1, NOW, (), ())
    assert (view.thoughts_limit, view.history_limit, view.drafts_limit) == (
        Limit(3000, 10),
        Limit(8000, 40),
        Limit(2000, 16),
    )


def test_ages_are_iterations() -> None:
    """Counted from when a thing came to be to the iteration that is about to happen."""
    view = shown(
        given(
            present("engaged", "here", 1),
            *exchanged(1),
            asked("next", "exc_2_000", 2),
            invoked(2),
            drafted(1, "x" * 20, 2),
            present("absent", "", 3),
            invoked(3),
            invoked(4),
        )
    )
    assert view.iteration == 5
    assert view.history == (
        TurnSeen("user", "question 1", 4),
        TurnSeen("self", "this is the answer number 1", 4),
    )
    assert view.awaiting is not None
    assert (view.awaiting.age, view.drafts[0].age) == (3, 3)
    assert view.signals == (
        SignalSeen("absent", "", "Sat 10:30", 2),
        SignalSeen("engaged", "here", "Sat 10:30", 4),
    )


def test_the_newest_drafts_are_shown_oldest_first() -> None:
    """With absolute indexes, and with the number of all drafts."""
    many = [drafted(n, f"draft number {n} with some text") for n in range(1, 21)]
    view = shown(given(configured("draft_display_count", 16, 3), asked(), *many, seen(19)))
    assert [(d.index, d.user_seen) for d in view.drafts] == [(18, False), (19, True), (20, False)]
    assert view.drafts_total == 20


def test_a_draft_too_long_for_the_rest_is_left_out() -> None:
    """A shorter one before it may still fit; the latest is shown however long it is."""
    three = (drafted(1, "short enough draft"), drafted(2, "y" * 90), drafted(3, "z" * 50))
    view = shown(given(configured("draft_display_chars", 2000, 100), asked(), *three))
    assert [d.index for d in view.drafts] == [1, 3]
    view = shown(
        given(configured("draft_display_chars", 2000, 100), asked(), drafted(1, "x" * 5000))
    )
    assert [d.index for d in view.drafts] == [1]


def test_pruned_exchanges_are_not_shown() -> None:
    """Those around them are."""
    past = [event for n in range(1, 4) for event in exchanged(n)]
    view = shown(given(*past, pruned("exc_2_000")))
    assert [t.text for t in view.history if t.sender == "user"] == ["question 1", "question 3"]


def test_a_thought_is_shown_with_its_cluster() -> None:
    """The cluster's number, and how many thoughts of the pool it has, shown or not."""
    session = given(
        asked(), *(thought(f"t{n}", 1) for n in range(4)), formed(2, 3, 4, 5), invoked(1)
    ).session
    view = observe(session, Sample(session.pool.active[1:]), NOW)
    assert view.thoughts == (
        ThoughtSeen("t1", 1, ClusterMark(2, 3)),
        ThoughtSeen("t2", 1, ClusterMark(2, 3)),
        ThoughtSeen("t3", 1),
    )


def test_a_thought_that_was_called_back_has_the_cluster_of_its_caller() -> None:
    """It has left the pool, where clusters are known; its age counts from when it was new."""
    session = given(
        configured("active_pool_size", 50, 2),
        asked(),
        thought("old", 1),
        thought("newer", 2),
        thought("newest", 3),
        formed(1, 4, 5),
        invoked(3),
    ).session
    caller, other = session.pool.active
    assert (caller.text, caller.cluster) == ("newer", 1)
    old = Thought(4, "old", 1, "m", "mind")
    drawn = Sample((other, caller, old), (Recalled(old, caller.version, 1.0),))
    assert observe(session, drawn, NOW).thoughts == (
        ThoughtSeen("newest", 1),
        ThoughtSeen("newer", 2, ClusterMark(1, 1)),
        ThoughtSeen("old", 3, ClusterMark(1, 1), recalled=True),
    )


def test_how_close_the_run_is_to_a_pause() -> None:
    """Hard signals in a row up to now, and how many end a run."""
    assert shown(given(asked())).hard_signals == HardSignals(0, 3)
    tired = (configured("hard_signal_threshold", 3, 7), asked(), signalled("hard", 1))
    assert shown(given(*tired, signalled("silence", 2))).hard_signals == HardSignals(2, 7)


@for_all(histories())
@settings(deadline=None, max_examples=80)
def test_limits_hold_in_every_state(history: list[Recorded]) -> None:
    """Counts and characters, but for the newest item, which is always shown; ages count up."""
    session = fold(history)
    assert session is not None
    view = observe(session, NOTHING, NOW)
    for items, limit in ((view.drafts, view.drafts_limit), (view.history, view.history_limit)):
        assert len(items) <= limit.count
        assert sum(len(i.text) for i in items) <= max(
            limit.chars, len(items[-1].text) if items else 0
        )
    everything = (*view.drafts, *view.history, *view.signals)
    assert all(item.age >= 0 for item in everything)
    indexes = [d.index for d in view.drafts]
    assert indexes == sorted(indexes)
    assert view.drafts_total == len(session.dialogue.drafts)
    assert bool(view.drafts) == bool(session.dialogue.drafts)


# small models copy what they are shown

LONG = "The moon pulls the near water more than it pulls the middle of the Earth."
VIEW = shown(given(asked(), drafted(1, LONG), drafted(2, "Two bulges stand."), drafted(3, "+1")))
SHOWN = VIEW._replace(thoughts=(ThoughtSeen("The far bulge", 1),))
REPLY = '{"thoughts": ["greet back"], "draft": "Hello to you, too, and to everybody else here."}'
EXAMPLES = (("awaiting: hello", REPLY),)


def left(output: Output) -> Output:
    """What is left of a small model's output."""
    return without_copies(output, SHOWN, EXAMPLES)


def test_copied_thoughts_are_left_out() -> None:
    """Those of the prompt and the second of two, whatever the case and spaces."""
    output = left(Output(("the  FAR bulge", LONG, "Why two tides?", "my own", "My own.")))
    assert output.thoughts == ("my own",)
    assert output.repairs == ("Left out a thought that was copied from the prompt.",) * 4


def test_a_long_stretch_of_the_prompt_is_a_copy() -> None:
    """Forty characters of a draft or of an example; a few words stand in others by chance."""
    assert left(Output((LONG[4:60],))).thoughts == ()
    assert left(Output(("Hello to you, too, and to everybody else here",))).thoughts == ()
    assert left(Output(("the near water",))).thoughts == ("the near water",)


def test_the_latest_answer_again_is_no_draft() -> None:
    """A signal in between does not make it new."""
    output = left(Output(draft="two bulges  stand"))
    assert output.draft is None
    assert output.repairs == ("Left out a draft that was the same as the latest one.",)


def test_a_draft_that_was_copied_is_no_draft() -> None:
    """Neither the question handed back nor an example's answer, which nobody asked for."""
    for copy in ("Why two tides?", "Hello to you, too, and to everybody else here."):
        assert left(Output(draft=copy)).draft is None


def test_what_is_new_is_left_alone() -> None:
    """Thoughts and draft as they were written, and no repair."""
    new = Output(("a new thought",), "A new draft.", confidence=0.5)
    assert left(new) == new
