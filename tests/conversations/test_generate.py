"""The made-up conversations are what the tests and benchmarks on long talks take them for."""

from statistics import median

import pytest

from domain.tokens import estimate
from tests.conversations.generate import Exchange, conversation


@pytest.fixture(scope="module")
def talk() -> list[Exchange]:
    """A conversation of a middle length."""
    return conversation(3, 120_000)


def test_a_seed_always_gives_the_same_talk(talk: list[Exchange]) -> None:
    """What is measured on one machine is measured on another, and seeds differ."""
    assert conversation(3, 120_000) == talk
    assert conversation(4, 5_000) != conversation(5, 5_000)


@pytest.mark.parametrize("tokens", [58_000, 240_000])
def test_a_talk_is_as_long_as_asked_for(tokens: int) -> None:
    """At most one exchange longer, and an exchange is a small part of it."""
    size = sum(exchange.tokens for exchange in conversation(1, tokens))
    assert tokens <= size < tokens * 1.06


def test_messages_have_the_lengths_of_real_ones(talk: list[Exchange]) -> None:
    """Some 40 words from the user, 150 to 300 from the mind, and now and then a long paste."""
    assert 30 <= median(len(e.question.split()) for e in talk) <= 50
    assert 150 <= median(len(e.answer.split()) for e in talk) <= 300
    pastes = [e for e in talk if "```" in e.question]
    assert len(talk) / 40 <= len(pastes) <= len(talk) / 8
    assert 700 <= median(estimate(e.question) for e in pastes) <= 2_500


def test_efforts_end_every_5_to_25_exchanges(talk: list[Exchange]) -> None:
    """Each that ends was opened before, and none ends twice without being opened again."""
    ends = [place for place, exchange in enumerate(talk) if exchange.concludes]
    assert all(5 <= here - before <= 26 for before, here in zip([0, *ends], ends, strict=False))
    open_: list[str | None] = []
    for exchange in talk:
        if exchange.opens:
            open_.append(exchange.opens)
        if exchange.concludes:
            open_.remove(exchange.concludes)


def test_a_talk_holds_what_makes_memory_hard(talk: list[Exchange]) -> None:
    """Attempts that fail, facts that no longer hold, appointments, and talk about nothing."""
    has = {exchange.what for exchange in talk}
    assert has == {"open", "work", "attempt", "failed", "insight", "fact", "event", "talk", "end"}
    assert any(exchange.supersedes for exchange in talk)
    assert any(exchange.concludes and exchange.resolution is None for exchange in talk)
    assert len({e.question for e in talk if len(e.question.split()) > 10}) > len(talk) * 0.7
