"""What the user puts into the mind's pool."""

import pytest

from commands.thinking import InjectThought
from domain.errors import BadText
from tests.domain.happened import invoked, thought
from tests.spec import given


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
