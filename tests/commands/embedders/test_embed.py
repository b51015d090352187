"""Embedding batch by batch: what is asked again, what is lost, and what is said about it."""

import threading
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from commands.embedders.embed import LOST_IN_A_ROW, Embedded, Embeddings, embed
from commands.embedders.embedder import Answer, EmbedderFailed, EmbedderUnavailable
from domain.clustering.vectors import unpacked
from tests.commands.embedders.conftest import Time

Mood = BaseException | Sequence[Sequence[float]] | None


class Moody:
    """An embedder that fails or answers as it is told, then well; each attempt takes a second."""

    name = "moody"
    model = "moody-1"

    def __init__(self, time: Time, moods: Iterable[Mood] = ()) -> None:
        self.time, self.moods = time, list(moods)
        self.asked: list[tuple[str, ...]] = []
        self.timeouts: list[float] = []

    def vectors(self, texts: Sequence[str], timeout: float) -> Answer:
        """Do what comes next."""
        self.asked.append(tuple(texts))
        self.timeouts.append(timeout)
        self.time.now += 1
        mood = self.moods.pop(0) if self.moods else None
        if isinstance(mood, BaseException):
            raise mood
        rows = [[len(text), 1.0, 0.0] for text in texts] if mood is None else mood
        return Answer(np.array(rows), tokens=len(texts), cost_usd=0.5)

    def embed(self, texts: Sequence[str], **how: Any) -> Embeddings:
        """Embed with this embedder and this clock."""
        how = {"pause": self.time.sleep, "clock": self.time, "chance": lambda: 0.5, **how}
        return embed(self, texts, **how)


def passing(retry_after: float | None = None) -> EmbedderFailed:
    """A failure that may pass."""
    return EmbedderFailed("It hiccuped.", retryable=True, retry_after=retry_after)


FINAL = EmbedderFailed("It said no.", retryable=False)
MANY = [f"thought {number}" for number in range(150)]


def missing(result: Embeddings) -> list[int]:
    """Where there is no vector."""
    return [place for place, one in enumerate(result.found) if one is None]


@pytest.mark.parametrize(("precision", "size"), [("float16", 6), ("float32", 12)])
def test_vectors_are_stored_with_length_one(time: Time, precision: str, size: int) -> None:
    """A result has the bytes, the dimension and the model, and what it took."""
    result = Moody(time).embed(["abc"], precision=precision)
    [one] = result.found
    assert one is not None
    assert (len(one.data), one.dimension, one.model) == (size, 3, "moody-1")
    np.testing.assert_allclose(unpacked(one.data, 3), np.array([3, 1, 0]) / 10**0.5, atol=1e-3)
    assert result[1:] == (None, 1, 0.5)


def test_nothing_is_asked_for_no_texts(time: Time) -> None:
    """No texts and texts without words cost nothing; the latter are said."""
    moody = Moody(time)
    assert moody.embed([]) == Embeddings((), None, 0, 0)
    result = moody.embed(["", " \n", "\ud800"])
    assert result.found == (None, None, None)
    assert result.problem == "None of 3 texts has a vector: a text without words has none."
    assert moody.asked == []


def test_equal_texts_are_asked_for_once(time: Time) -> None:
    """Texts come back in order, the equal ones with the same vector, the blank ones without."""
    moody = Moody(time)
    result = moody.embed(["a", "", "bb", "a", "A"])
    assert moody.asked == [("a", "bb", "A")]
    assert result.found[0] == result.found[3] != result.found[2]
    assert missing(result) == [1]
    assert result.problem == "1 of 5 texts has no vector: a text without words has none."


def test_many_texts_go_in_batches(time: Time) -> None:
    """Tokens and costs of all batches are added up."""
    moody = Moody(time)
    result = moody.embed(MANY)
    assert list(map(len, moody.asked)) == [64, 64, 22]
    assert (missing(result), *result[1:]) == ([], None, 150, 1.5)


@pytest.mark.parametrize(
    ("moods", "asked", "pauses", "lost", "problem"),
    [
        ([passing()], 2, [0.5], 0, None),
        ([passing(), passing()], 3, [0.5, 1.0], 0, None),
        ([passing(7)], 2, [7], 0, None),
        ([passing(0.1)], 2, [0.5], 0, None),
        ([passing()] * 3, 3, [0.5, 1.0], 2, "It hiccuped."),
        ([FINAL], 1, [], 2, "It said no."),
        ([passing(3600)], 1, [], 2, "It hiccuped."),
        ([EmbedderUnavailable("Set it up first.")], 1, [], 2, "Set it up first."),
        ([[[1, 2]]], 2, [0.5], 0, None),
        ([[[1, 2]]] * 3, 3, [0.5, 1.0], 2, "moody answered with 1 vectors for 2 texts: try again."),
        ([[1, 2]], 2, [0.5], 0, None),
    ],
)  # fmt: skip
def test_what_is_asked_again(
    time: Time, moods: list[Mood], asked: int, pauses: list[float], lost: int, problem: str | None
) -> None:
    """A failure that may pass is met with patience, any other one with a sentence."""
    moody = Moody(time, moods)
    result = moody.embed(["a", "bb"])
    assert (len(moody.asked), time.pauses, len(missing(result))) == (asked, pauses, lost)
    assert result.problem == (problem and f"None of 2 texts has a vector: {problem}")
    assert result.tokens == (None if lost else 2)


def test_a_failing_batch_loses_only_its_own_texts(time: Time) -> None:
    """The batches before and after it are kept."""
    result = Moody(time, [None, FINAL]).embed(MANY)
    assert missing(result) == list(range(64, 128))
    assert result.problem == "64 of 150 texts have no vector: It said no."
    assert (result.tokens, result.cost_usd) == (86, 1.0)


def test_one_failing_batch_after_another_is_enough(time: Time) -> None:
    """A refused key is not shown a hundred times: the rest is not asked for."""
    moody = Moody(time, [FINAL] * 10)
    result = moody.embed([f"thought {number}" for number in range(640)])
    assert len(moody.asked) == LOST_IN_A_ROW
    assert len(missing(result)) == 640


@pytest.mark.parametrize("bad", [[np.nan, 1, 1], [np.inf, 0, 1], [0, 0, 0]])
def test_a_bad_row_loses_only_its_own_text(time: Time, bad: list[float]) -> None:
    """A vector without a direction is none; its neighbours are kept."""
    result = Moody(time, [[[1, 2, 3], bad, [3, 2, 1]]]).embed(["a", "b", "c"])
    assert missing(result) == [1]
    assert result.problem is not None
    assert result.problem.startswith("1 of 3 texts has no vector: moody gave none")


def test_a_session_has_one_dimension(time: Time) -> None:
    """Vectors of another length than the session's are refused, with what to do."""
    moody = Moody(time)
    assert missing(moody.embed(["a", "b"], dimension=3)) == []
    result = moody.embed(["a", "b"], dimension=4)
    assert missing(result) == [0, 1]
    assert result.problem == (
        "None of 2 texts has a vector: moody gave vectors of 3 numbers where others have 4:"
        " embed all of them with one model."
    )


def test_the_first_batch_says_the_dimension(time: Time) -> None:
    """A later batch of another dimension is lost; one without any good row decides nothing."""
    bad, good, other = [[0.0] * 5] * 64, [[1.0] * 3] * 64, [[1.0] * 4] * 22
    result = Moody(time, [bad, good, other]).embed(MANY)
    assert missing(result) == [*range(64), *range(128, 150)]
    assert result.problem is not None
    again = Moody(time, [good, other]).embed(MANY[:86])
    assert again.problem == (
        "22 of 86 texts have no vector: moody gave vectors of 4 numbers after some of 3: try again."
    )


def test_all_of_it_has_one_budget_of_time(time: Time) -> None:
    """Each attempt gets what is left, no pause outlasts it, and then the rest is said."""
    moody = Moody(time, [None, passing(1.5), None])
    result = moody.embed(MANY, timeout=2.5, budget=3.5)
    assert (moody.timeouts, time.pauses) == ([2.5, 2.5, 1.5], [])
    assert missing(result) == list(range(64, 128))
    moody = Moody(time)
    late = moody.embed(MANY, timeout=2.5, budget=2.0)
    assert moody.timeouts == [2.0, 1.0]
    assert late.problem is not None
    assert "had no time left" in late.problem


def test_an_unknown_price_makes_the_sum_unknown(time: Time) -> None:
    """A sum with a gap in it is None, never too small."""

    class Silent(Moody):
        def vectors(self, texts: Sequence[str], timeout: float) -> Answer:
            told = super().vectors(texts, timeout)
            return told if len(self.asked) == 1 else told._replace(tokens=None, cost_usd=None)

    result = Silent(time).embed(MANY)
    assert (result.tokens, result.cost_usd, result.problem) == (None, None, None)


def test_ctrl_c_passes_through(time: Time) -> None:
    """An interrupt is no failure of the provider."""
    with pytest.raises(KeyboardInterrupt):
        Moody(time, [KeyboardInterrupt()]).embed(["a"])


def test_a_pause_can_be_an_event(time: Time) -> None:
    """Whoever stops a runner from another thread need not wait for a pause to end."""
    event = threading.Event()
    event.set()
    result = Moody(time, [passing()]).embed(["a"], pause=event.wait)
    assert isinstance(result.found[0], Embedded)
