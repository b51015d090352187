"""What the user puts into the mind's pool, and vectors for what is there."""

import pytest

from commands.thinking import (
    ChangeEmbedder,
    Embedded,
    Embedding,
    EmbedWaiting,
    InjectThought,
    Placed,
)
from domain.actors import SYSTEM
from domain.errors import BadText
from domain.events import Caused, Event
from tests.domain.happened import (
    EMBEDDER,
    asked,
    clustered,
    configured,
    embedded,
    formed,
    invoked,
    thought,
    vector,
    with_vector,
)
from tests.spec import Company, given

EAST = Embedding(EMBEDDER, 2, vector(1.0, 0.0))
NORTH = Embedding(EMBEDDER, 2, vector(0.0, 1.0))
WEST = Embedding(EMBEDDER, 2, vector(-1.0, 0.0))


def injected(text: str, **more: object) -> Event:
    """The user's thought, as it is recorded."""
    return thought(text, mind="user:ann", origin="injected", **more)


def test_a_thought_is_injected() -> None:
    """It is marked as the user's, and seen first by the coming iteration."""
    state = (
        given(invoked(1))
        .when(InjectThought(text=" what of the sun? ", by="user:ann"))
        .then(thought("what of the sun?", 2, mind="user:ann", origin="injected"))
    )
    assert [t.text for t in state.pool.active] == ["what of the sun?"]


def test_a_full_pool_lets_the_oldest_go() -> None:
    """First in, first out; the total counts all there ever were."""
    many = [thought(f"thought {n}") for n in range(60)]
    state = (
        given(*many)
        .when(InjectThought(text="one more", by="user:ann"))
        .then(thought("one more", mind="user:ann", origin="injected"))
    )
    assert len(state.pool.active) == 50
    assert state.pool.active[0].text == "thought 11"
    assert state.pool.total == 61


@pytest.mark.parametrize("text", ["", "  ", "a\0b", "\udc00", "x" * 200_001])
def test_a_thought_that_is_no_text(text: str) -> None:
    """The rules of messages hold for thoughts, and the sentence says thought."""
    given().when(InjectThought(text=text, by="user:ann")).refused(BadText, "The thought")


def test_an_injected_thought_finds_company() -> None:
    """With its own vector, and with those that have waited for theirs."""
    company = Company(formed(1, 3, 4, 5))
    embeddings = Embedded("local", (EAST,), ((3, NORTH), (4, WEST)))
    wish = given(asked(), thought("a"), thought("b")).when(
        InjectThought(text="c", by="user:ann", embedded=embeddings, gather=company)
    )
    state = wish.then(
        injected("c", **with_vector(1.0, 0.0)),
        embedded(3, 0.0, 1.0),
        embedded(4, -1.0, 0.0),
        formed(1, 3, 4, 5),
    )
    assert company.asked == [(4, [Placed(3, NORTH), Placed(4, WEST), Placed(5, EAST)])]
    assert [t.cluster for t in state.pool.active] == [1, 1, 1]
    decided = wish.decided()
    assert decided[1:] == [
        Caused(embedded(3, 0.0, 1.0), cause=3, by=SYSTEM),
        Caused(embedded(4, -1.0, 0.0), cause=4, by=SYSTEM),
        Caused(formed(1, 3, 4, 5), cause=5, by=SYSTEM),
    ]


def test_an_injected_thought_may_repeat_another_one() -> None:
    """Its vector is named, not stored again."""
    same = Embedded("local", (EAST._replace(data=None, of=2),))
    given(thought("a", **with_vector())).when(
        InjectThought(text="a", by="user:ann", embedded=same)
    ).then(injected("a", **with_vector(of=2)))


def test_an_injected_thought_waits_where_there_is_no_embedder() -> None:
    """Nothing is lost but the company, and that can be made up for."""
    company = Company(formed(1, 2))
    off = Embedded("off", (EAST,))
    state = (
        given()
        .when(InjectThought(text="a", by="user:ann", embedded=off, gather=company))
        .then(injected("a"))
    )
    assert state.pool.waiting == state.pool.active
    assert company.asked == []


# vectors that come later


def test_those_that_wait_get_their_vectors() -> None:
    """The oldest first, and all of them find company at once."""
    company = Company(clustered(2, 1, "joined"))
    embeddings = Embedded("local", waiting=((2, EAST), (3, NORTH)))
    wish = given(thought("a"), thought("b")).when(EmbedWaiting(embedded=embeddings, gather=company))
    state = wish.then(embedded(2, 1.0, 0.0), embedded(3, 0.0, 1.0), clustered(2, 1, "joined"))
    assert company.asked == [(3, [Placed(2, EAST), Placed(3, NORTH)])]
    assert state.pool.waiting == ()
    assert wish.decided()[-1] == Caused(clustered(2, 1, "joined"), cause=3, by=SYSTEM)


def test_those_that_have_a_vector_by_now_are_left_alone() -> None:
    """Somebody else embedded them meanwhile: a wish that comes too late becomes nothing."""
    company = Company(clustered(2, 1, "joined"))
    embeddings = Embedded("local", waiting=((2, EAST),))
    given(thought("a"), embedded(2)).when(EmbedWaiting(embedded=embeddings, gather=company)).then()
    given(thought("a", **with_vector())).when(
        EmbedWaiting(embedded=embeddings, gather=company)
    ).then()
    assert company.asked == []


def test_vectors_of_another_embedder_are_no_use_to_those_that_wait() -> None:
    """The setting changed while they were made."""
    company = Company(clustered(2, 1, "joined"))
    embeddings = Embedded("local", waiting=((2, EAST),))
    given(thought("a"), configured("embedding_model", "local", "openai:other")).when(
        EmbedWaiting(embedded=embeddings, gather=company)
    ).then()
    given().when(EmbedWaiting()).then()
    assert company.asked == []


def test_what_repeats_another_names_it() -> None:
    """One vector is stored for a text, whenever it comes."""
    same = Embedded("local", waiting=((3, EAST._replace(data=None, of=2)),))
    given(thought("a", **with_vector()), thought("a")).when(EmbedWaiting(embedded=same)).then(
        embedded(3, of=2)
    )


# another embedder


def test_another_embedder_makes_the_pool_anew() -> None:
    """The setting, a vector for each thought of the pool, and new clusters, all in one append."""
    company = Company(formed(2, 3, 4))
    there = (
        *(thought("a", **with_vector()), thought("b", **with_vector()), thought("c")),
        formed(1, 2, 3),
    )
    axes = {2: (1.0, 0.0, 0.0), 3: (0.0, 1.0, 0.0), 4: (0.0, 0.0, 1.0)}
    new = {version: Embedding("other", 3, vector(*axis)) for version, axis in axes.items()}
    anew = Embedded("openai:other", waiting=tuple(new.items()))
    wish = given(*there).when(ChangeEmbedder(model="openai:other", embedded=anew, gather=company))

    def again(version: int) -> Event:
        return embedded(version, *axes[version]).model_copy(update={"embedding_model": "other"})

    state = wish.then(
        configured("embedding_model", "local", "openai:other"),
        *(again(version) for version in (2, 3, 4)),
        formed(2, 3, 4),
    )
    assert [t.cluster for t in state.pool.active] == [None, 2, 2]
    assert (state.pool.dimension, state.pool.waiting) == (3, ())
    assert company.asked == [(5, [Placed(*pair) for pair in new.items()])]
    assert wish.decided()[1:] == [
        *(Caused(again(version), cause=version, by=SYSTEM) for version in (2, 3, 4)),
        Caused(formed(2, 3, 4), cause=4, by=SYSTEM),
    ]


def test_what_has_left_the_pool_keeps_no_vector() -> None:
    """Only the pool is compared from now on; a thought that came since waits."""
    anew = Embedded("openai:other", waiting=((2, EAST), (3, NORTH)))
    there = (configured("active_pool_size", 50, 2), thought("a"), thought("b"), thought("c"))
    state = (
        given(*there)
        .when(ChangeEmbedder(model="openai:other", embedded=anew))
        .then(configured("embedding_model", "local", "openai:other"))
    )
    assert [t.text for t in state.pool.waiting] == ["b", "c"]
    anew = Embedded("openai:other", waiting=((3, EAST), (4, NORTH)))
    state = (
        given(*there)
        .when(ChangeEmbedder(model="openai:other", embedded=anew))
        .then(configured("embedding_model", "local", "openai:other"), embedded(4, 0.0, 1.0))
    )
    assert [t.text for t in state.pool.waiting] == ["c"]


def test_the_same_embedder_can_begin_again() -> None:
    """What stands behind its name may be another model by now."""
    again = Embedded("local", waiting=((2, NORTH),))
    state = (
        given(thought("a", **with_vector()), formed(1, 2))
        .when(ChangeEmbedder(model="local", embedded=again))
        .then(configured("embedding_model", "local", "local"), embedded(2, 0.0, 1.0))
    )
    assert [(t.embedded, t.cluster) for t in state.pool.active] == [(True, None)]


def test_an_embedder_can_be_switched_off() -> None:
    """Then nothing has a vector, and nothing is gathered."""
    state = (
        given(thought("a", **with_vector()), formed(1, 2))
        .when(ChangeEmbedder(model="off", embedded=Embedded("off")))
        .then(configured("embedding_model", "local", "off"))
    )
    assert (state.pool.sizes, state.pool.dimension) == ({}, None)
    assert state.pool.waiting == state.pool.active
