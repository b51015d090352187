"""What is recorded of one invocation of a mind, whatever came of it."""

from hashlib import sha256
from typing import Any

import pytest

from commands.iterate import prepare
from commands.recording import RecordIteration
from commands.thinking import Embedded, Embedding, Placed
from domain.actors import SYSTEM
from domain.config import Config
from domain.errors import NothingAwaits
from domain.events import Caused, DraftAccepted, DraftEmitted, Event, MindInvoked
from domain.pool import Thought
from domain.protocol.dialects import prompt_text
from domain.protocol.observe import observe, thoughts_limit
from domain.protocol.prompts import examples, system_prompt
from domain.sampling import Memory, Recalled, Sample, sample
from tests.domain.happened import (
    EMBEDDER,
    FIRST,
    MODEL,
    accepted,
    asked,
    clustered,
    configured,
    drafted,
    embedded,
    exchanged,
    formed,
    invoked,
    run_began,
    seen,
    signalled,
    thought,
    vector,
    with_vector,
)
from tests.spec import ANN, Company, given
from tests.stories.cast import Rehearsed

ONE, TWO = "Because the moon pulls on both sides.", "Two bulges, one turning earth."


def came(iteration: int = 1, outcome: Any = "ok", exchange: Any = FIRST, **more: Any) -> Any:
    """What an invocation brought."""
    return RecordIteration(
        invocation=invoked(iteration, outcome=outcome), exchange=exchange, **more
    )


def test_thoughts_and_a_draft_are_recorded_together() -> None:
    """In this order: the invocation, its thoughts, its draft."""
    given(asked()).when(came(texts=("a", "b"), draft=ONE)).then(
        invoked(1), thought("a"), thought("b"), drafted(1, ONE)
    )


def test_causes_lead_back_to_the_prompt() -> None:
    """The invocation follows from what it was shown, all else from the invocation."""
    wish = given(asked()).when(came(texts=("a",), draft=ONE, seen_by=ANN))
    assert wish.decided() == [
        Caused(invoked(1), cause=2),
        Caused(thought("a"), cause=3),
        Caused(drafted(1, ONE), cause=3),
        Caused(seen(1), cause=5, by=ANN),
    ]


def test_watching_marks_a_draft_as_seen() -> None:
    """Only the new one: the others are the user's to see."""
    given(asked(), invoked(1), drafted(1, ONE)).when(came(2, draft=TWO, seen_by=ANN)).then(
        invoked(2), drafted(2, TWO), seen(2)
    )
    given(asked()).when(came(texts=("a",), seen_by=ANN)).then(
        invoked(1), thought("a"), signalled("hard", 1)
    )


def test_what_a_mind_says_about_its_draft_is_kept() -> None:
    """How sure it is, and whether it goes on."""
    given(asked()).when(came(draft=ONE, confidence=0.4, working=True)).then(
        invoked(1), drafted(1, ONE, confidence=0.4, working=True)
    )


def test_a_plus_one_is_a_soft_signal() -> None:
    """A draft of at most 16 characters on one line; it ends a row of hard signals."""
    state = (
        given(asked(), invoked(1), drafted(1, ONE), invoked(2), signalled("hard", 1, 2))
        .when(came(3, draft="+1"))
        .then(invoked(3), drafted(2, "+1", 3, signal=True), signalled("soft", 0, 3))
    )
    assert state.work.consecutive_hard == 0


@pytest.mark.parametrize(
    ("text", "signal"),
    [
        ("+1", True),
        ("x" * 16, True),
        (" " + "x" * 16 + " ", True),
        ("x" * 17, False),
        ("a\nb", False),
    ],
)
def test_the_length_of_a_signal(text: str, signal: bool) -> None:
    """Sixteen characters are one, seventeen or a second line are an answer."""
    decided = given(asked()).when(came(draft=text)).decided()
    emissions = [c.event for c in decided if isinstance(c.event, DraftEmitted)]  # type: ignore[union-attr]
    assert [e.signal for e in emissions] == [signal]


def test_thoughts_without_a_draft_are_a_hard_signal() -> None:
    """They add up within the exchange."""
    given(asked(), invoked(1), signalled("hard", 1), run_began()).when(came(2, texts=("a",))).then(
        invoked(2), thought("a", 2), signalled("hard", 2, 2)
    )


def test_skip_is_a_hard_signal() -> None:
    """With or without thoughts: the mind said something, if only that."""
    given(asked()).when(came(outcome="skipped")).then(
        invoked(1, outcome="skipped"), signalled("hard", 1)
    )
    given(asked()).when(came(outcome="skipped", texts=("a",))).then(
        invoked(1, outcome="skipped"), thought("a"), signalled("hard", 1)
    )


def test_neither_draft_nor_thought_is_true_silence() -> None:
    """Before the first draft as well; it counts in the row of hard signals."""
    state = given(asked()).when(came()).then(invoked(1), signalled("silence", 1))
    assert state.work.consecutive_hard == 1


@pytest.mark.parametrize("outcome", ["failed", "unparseable"])
def test_a_failure_says_nothing(outcome: str) -> None:
    """It is neither silence nor signal, and the row of hard signals stays as it was."""
    state = (
        given(asked(), invoked(1), signalled("hard", 1))
        .when(came(2, outcome=outcome))
        .then(invoked(2, outcome=outcome))
    )
    assert state.work.consecutive_hard == 1


def test_a_verbatim_repetition_is_the_latest_draft_again() -> None:
    """It gets an index of its own and names the newest draft with the same text."""
    state = (
        given(asked(), drafted(1, ONE), drafted(2, TWO), drafted(3, ONE, repeats=1))
        .when(came(1, draft=ONE))
        .then(invoked(1), drafted(4, ONE, 1, repeats=3))
    )
    assert state.dialogue.latest_content == state.dialogue.drafts[3]


def test_a_repetition_is_known_after_its_text_is_let_go() -> None:
    """By digest: the state no longer holds the text of draft 1."""
    many = [drafted(n, f"this is draft number {n}") for n in range(1, 151)]
    session = given(asked(), *many).session
    assert session.dialogue.drafts[0].text is None
    given(asked(), *many).when(came(draft="this is draft number 1")).then(
        invoked(1), drafted(151, "this is draft number 1", 1, repeats=1)
    )


def test_a_draft_that_comes_too_late_is_kept() -> None:
    """The exchange was accepted meanwhile: readable, never acceptable."""
    state = (
        given(*exchanged(1))
        .when(came(2, texts=("a",), draft=TWO, seen_by=ANN))
        .then(invoked(2), thought("a", 2), drafted(2, TWO, 2, late=True))
    )
    assert state.dialogue.history[0].drafts == 2
    assert state.dialogue.history[0].answer == "this is the answer number 1"


def test_a_late_draft_belongs_to_its_own_exchange() -> None:
    """The next message is already open, and gets none of it."""
    state = (
        given(*exchanged(1), asked("next", "exc_2_000", 2))
        .when(came(2, draft=TWO))
        .then(invoked(2), drafted(2, TWO, 2, late=True))
    )
    assert state.dialogue.drafts == ()
    assert state.dialogue.awaiting is not None


def test_two_late_drafts_have_two_indexes() -> None:
    """Late ones are counted on."""
    given(*exchanged(1), invoked(2), drafted(2, TWO, 2, late=True)).when(came(3, draft=ONE)).then(
        invoked(3), drafted(3, ONE, 3, late=True)
    )


@pytest.mark.parametrize("outcome", ["ok", "skipped", "failed", "unparseable"])
def test_silence_that_comes_too_late_says_nothing(outcome: str) -> None:
    """There is nothing left to be silent about; the invocation itself is kept."""
    given(*exchanged(1)).when(came(2, outcome=outcome)).then(invoked(2, outcome=outcome))


def test_the_iteration_is_counted_when_it_is_recorded() -> None:
    """Two that were asked at once are two iterations, one behind the other."""
    given(asked(), invoked(1)).when(came(1, texts=("a",))).then(
        invoked(2), thought("a", 2), signalled("hard", 1, 2)
    )


# vectors and company


def made(*numbers: float, of: int | None = None) -> Embedding:
    """A vector as an embedder gives it."""
    return Embedding(EMBEDDER, len(numbers) or 2, None if of else vector(*numbers), of)


EAST, NORTH, WEST = made(1.0, 0.0), made(0.0, 1.0), made(-1.0, 0.0)


def test_thoughts_are_recorded_with_their_vectors() -> None:
    """And the invocation with what these cost; a thought without one waits for it."""
    embeddings = Embedded("local", (EAST, None, NORTH), tokens=7, cost_usd=0.25)
    state = (
        given(asked())
        .when(came(texts=("a", "b", "c"), draft=ONE, embedded=embeddings))
        .then(
            invoked(1, embedding_tokens=7, embedding_cost_usd=0.25),
            thought("a", **with_vector(1.0, 0.0)),
            thought("b"),
            thought("c", **with_vector(0.0, 1.0)),
            drafted(1, ONE),
        )
    )
    assert [t.text for t in state.pool.waiting] == ["b"]
    assert state.work.cost_usd == 0.25


def test_equal_thoughts_of_one_reply_store_one_vector() -> None:
    """The later ones name the first, or the one that it names."""
    given(asked()).when(
        came(texts=("a", "b", "a", "a"), embedded=Embedded("local", (EAST, NORTH, EAST, EAST)))
    ).then(
        invoked(1),
        thought("a", **with_vector(1.0, 0.0)),
        thought("b", **with_vector(0.0, 1.0)),
        thought("a", **with_vector(of=4)),
        thought("a", **with_vector(of=4)),
        signalled("hard", 1),
    )
    known = made(of=3)
    given(asked(), thought("a", **with_vector())).when(
        came(texts=("a", "a"), embedded=Embedded("local", (known, known)))
    ).then(
        invoked(1),
        thought("a", **with_vector(of=3)),
        thought("a", **with_vector(of=3)),
        signalled("hard", 1),
    )


def test_new_thoughts_find_company_in_the_same_append() -> None:
    """Last of all, by the system, because of the newest thought that got its vector."""
    company = Company(formed(1, 3, 4), clustered(4, None, "dropped", was=1))
    embeddings = Embedded("local", (EAST, NORTH))
    wish = given(asked()).when(
        came(texts=("a", "b"), draft=ONE, embedded=embeddings, gather=company, seen_by=ANN)
    )
    assert wish.decided()[-3:] == [
        Caused(seen(1), cause=6, by=ANN),
        Caused(formed(1, 3, 4), cause=5, by=SYSTEM),
        Caused(clustered(4, None, "dropped", was=1), cause=5, by=SYSTEM),
    ]
    assert company.asked == [(2, [Placed(4, EAST), Placed(5, NORTH)])]


def test_without_a_vector_nobody_is_gathered() -> None:
    """Nothing was compared, so nothing is decided."""
    company = Company(formed(1, 3, 4))
    given(asked()).when(came(texts=("a",), gather=company)).then(
        invoked(1), thought("a"), signalled("hard", 1)
    )
    given(asked()).when(
        came(texts=("a",), embedded=Embedded("local", (None,)), gather=company)
    ).then(invoked(1), thought("a"), signalled("hard", 1))
    assert company.asked == []


def test_vectors_of_another_embedder_are_dropped() -> None:
    """The setting changed while the mind thought: its thoughts wait, and the cost is recorded."""
    company = Company(formed(1, 3, 4))
    embeddings = Embedded("local", (EAST,), ((3, NORTH),), tokens=7, cost_usd=0.5)
    state = (
        given(asked(), thought("a"), configured("embedding_model", "local", "openai:other"))
        .when(came(texts=("b",), embedded=embeddings, gather=company))
        .then(
            invoked(1, embedding_tokens=7, embedding_cost_usd=0.5),
            thought("b"),
            signalled("hard", 1),
        )
    )
    assert [t.text for t in state.pool.waiting] == ["a", "b"]
    assert company.asked == []


def test_thoughts_that_waited_get_theirs_in_the_same_append() -> None:
    """Because of themselves, by the system; the old and the new are gathered together."""
    company = Company(formed(1, 3, 4, 6))
    embeddings = Embedded("local", (EAST,), ((3, NORTH), (4, WEST)))
    before = given(asked(), thought("a"), thought("b"))
    wish = before.when(came(texts=("c",), embedded=embeddings, gather=company))
    assert wish.decided() == [
        Caused(invoked(1), cause=2),
        Caused(thought("c", **with_vector(1.0, 0.0)), cause=5),
        Caused(signalled("hard", 1), cause=5),
        Caused(embedded(3, 0.0, 1.0), cause=3, by=SYSTEM),
        Caused(embedded(4, -1.0, 0.0), cause=4, by=SYSTEM),
        Caused(formed(1, 3, 4, 6), cause=6, by=SYSTEM),
    ]
    assert company.asked == [(4, [Placed(3, NORTH), Placed(4, WEST), Placed(6, EAST)])]
    state = before.when(came(texts=("c",), embedded=embeddings, gather=company)).then(
        *(caused.event for caused in wish.decided() if isinstance(caused, Caused))
    )
    assert state.pool.waiting == ()
    assert state.pool.sizes == {1: 3}


def test_nobody_gets_a_vector_twice() -> None:
    """Another process may have been faster; one that has left the pool still gets its own."""
    embeddings = Embedded("local", (), ((3, NORTH), (4, EAST)))
    given(asked(), thought("a"), thought("b"), embedded(3, 0.0, 1.0)).when(
        came(draft=ONE, embedded=embeddings)
    ).then(invoked(1), drafted(1, ONE), embedded(4, 1.0, 0.0))
    given(asked(), thought("a"), thought("b"), configured("active_pool_size", 50, 1)).when(
        came(draft=ONE, embedded=embeddings)
    ).then(invoked(1), drafted(1, ONE), embedded(3, 0.0, 1.0), embedded(4, 1.0, 0.0))


def test_thoughts_that_come_too_late_for_an_answer_find_company() -> None:
    """The exchange is closed, the pool goes on: vectors and clusters as ever."""
    company = Company(formed(1, 3, 8))
    embeddings = Embedded("local", (EAST,), ((3, NORTH),))
    asking = (asked(), thought("w"), *exchanged(1)[1:])
    state = (
        given(*asking)
        .when(came(2, texts=("a",), draft=TWO, embedded=embeddings, gather=company))
        .then(
            invoked(2),
            thought("a", 2, **with_vector(1.0, 0.0)),
            drafted(2, TWO, 2, late=True),
            embedded(3, 0.0, 1.0),
            formed(1, 3, 8),
        )
    )
    assert company.asked == [(6, [Placed(3, NORTH), Placed(8, EAST)])]
    assert state.pool.waiting == ()


def auto_accept(*more: Event) -> Any:
    """A session that accepts after two iterations without a new draft."""
    return given(configured("auto_accept_after", None, 2), asked(), *more)


def test_patience_ends_in_an_acceptance() -> None:
    """The latest content draft, by the system, because of the draft."""
    wish = auto_accept(
        invoked(1), drafted(1, ONE), invoked(2), drafted(2, "+1"), invoked(3), invoked(3)
    ).when(came(4, texts=("a",)))
    state = wish.then(
        invoked(4),
        thought("a", 4),
        signalled("hard", 1, 4),
        DraftAccepted(exchange=FIRST, index=1, by="auto-accept"),
    )
    assert wish.decided()[-1] == Caused(
        DraftAccepted(exchange=FIRST, index=1, by="auto-accept"), cause=5, by=SYSTEM
    )
    assert state.dialogue.awaiting is None


def test_patience_counts_from_the_newest_draft() -> None:
    """A new draft, ``+1`` included, starts the wait anew; one iteration is not yet two."""
    auto_accept(invoked(1), drafted(1, ONE)).when(came(2)).then(
        invoked(2), signalled("silence", 1, 2)
    )
    auto_accept(invoked(1), drafted(1, ONE), invoked(2)).when(came(3, draft="+1")).then(
        invoked(3), drafted(2, "+1", 3), signalled("soft", 0, 3)
    )


def test_signals_alone_are_never_accepted() -> None:
    """However long the patience was."""
    auto_accept(invoked(1), drafted(1, "+1"), invoked(2), invoked(3)).when(came(4)).then(
        invoked(4), signalled("silence", 1, 4)
    )


def test_auto_accept_is_off_by_default() -> None:
    """Only the user accepts."""
    given(asked(), drafted(1, ONE), *(invoked(n) for n in range(1, 90))).when(came(90)).then(
        invoked(90), signalled("silence", 1, 90)
    )


# the question


def test_an_idle_session_asks_nothing() -> None:
    """There is nothing to answer."""
    with pytest.raises(NothingAwaits):
        prepare(given(*exchanged(1)).session, Rehearsed("x"), "now")


def test_a_request_carries_what_the_settings_say() -> None:
    """The most tokens, the warmth and the patience of this session."""
    session = given(
        configured("token_limit", 4000, 77), configured("temperature", None, 0.3), asked()
    ).session
    prepared = prepare(session, Rehearsed("x"), "now")
    request = prepared.request
    assert (request.max_tokens, request.temperature, request.timeout) == (77, 0.3, 180.0)
    assert (request.iteration, request.examples) == (1, ())
    assert request.system == system_prompt("full").text


@pytest.mark.parametrize("dialect", ["full", "compact"])
def test_an_invocation_holds_all_that_its_prompt_was_made_of(dialect: Any) -> None:
    """From the state, the sample and the time the same prompt comes again, byte for byte."""
    session = given(
        *exchanged(1), *(thought(f"thought {n}") for n in range(30)), asked("next", "exc_2_000", 2)
    ).session
    prepared = prepare(session, Rehearsed("x", dialect=dialect), "2026-05-02T10:30:00+00:00")
    invocation, known = prepared.invocation, {t.version: t for t in session.pool.active}
    shown = Sample(tuple(known[v] for v in invocation.sampled))
    view = observe(session, shown, invocation.user_time)
    prompt = prompt_text(view, invocation.dialect)
    assert prompt == prepared.request.prompt
    assert sha256(prompt.encode()).digest() == invocation.prompt_hash
    assert invocation.system_hash == system_prompt(dialect).sha256
    assert prepared.request.examples == examples(dialect)
    drawn = sample(session.pool, thoughts_limit(session), invocation.seed).thoughts
    assert tuple(t.version for t in drawn) == invocation.sampled
    assert invocation.recalled == ()
    assert len(drawn) == Config().thought_display_count
    assert (invocation.based_on, invocation.iteration) == (session.version, 2)


def test_what_was_called_back_is_noted_with_its_chance() -> None:
    """Which thought, which one called it, and how likely it was; the prompt shows it as such."""
    session = given(
        asked(), *(thought(f"thought {n}") for n in range(3)), formed(1, 3, 4), clustered(5, 2)
    ).session
    old = [Thought(v, f"old {v}", 0, "m", "mind") for v in range(3)]
    memory = Memory(lambda cluster: (0, 1, 2) if cluster == 2 else (), old.__getitem__)
    prepared = prepare(session, Rehearsed("x"), "now", memory)
    ((version, caller, chance),) = prepared.invocation.recalled
    assert (caller, chance) == (5, 1 / 3)
    place = prepared.invocation.sampled.index(caller)
    assert prepared.invocation.sampled[place + 1] == version
    assert sorted(prepared.invocation.sampled) == [version, 3, 4, 5]
    assert prepared.request.prompt.count("recalled: true") == 1
    assert f"old {version}" in prepared.request.prompt
    known = {t.version: t for t in (*session.pool.active, *old)}
    shown = Sample(
        tuple(known[v] for v in prepared.invocation.sampled),
        tuple(Recalled(known[v], by, with_) for v, by, with_ in prepared.invocation.recalled),
    )
    assert prompt_text(observe(session, shown, "now"), "full") == prepared.request.prompt


def test_chance_is_the_session_s_own() -> None:
    """The same state draws the same sample; the next iteration and a branch draw others."""
    session = given(asked(), *(thought(f"thought {n}") for n in range(30))).session
    mind = Rehearsed("x")

    def seed_of(**change: Any) -> int:
        return prepare(session._replace(**change), mind, "now").request.seed

    seeds = [seed_of(), seed_of(iteration=1), seed_of(id="tides/what-if"), seed_of(seed=8)]
    assert len(set(seeds)) == 4
    assert seed_of() == seeds[0]


def test_an_invocation_is_recorded_as_the_mind_was_named() -> None:
    """The thoughts are that mind's."""
    state = (
        given(asked()).when(came(texts=("a",))).then(invoked(1), thought("a"), signalled("hard", 1))
    )
    assert state.pool.active[0].mind == MODEL
    assert isinstance(came().invocation, MindInvoked)
    assert accepted().by == "user"
