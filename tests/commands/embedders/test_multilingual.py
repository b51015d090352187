"""The embedder for many languages: the real model."""

import socket
from typing import NoReturn

import numpy as np
import pytest

from commands.embedders.choose import make_embedder
from commands.embedders.embed import embed
from commands.embedders.embedder import Embedder, EmbedderFailed
from commands.embedders.multilingual import MultilingualEmbedder

SAME = ["The moon pulls the sea.", "La lune attire la mer.", "Der Mond zieht das Meer an."]
OTHER = ["Le chat dort toute la journée.", "Prices rise when demand grows."]


@pytest.fixture(scope="module")
def multilingual() -> Embedder:
    """The embedder as it is chosen."""
    return make_embedder("local:multilingual", {})


def test_what_means_the_same_in_another_language_is_near(multilingual: Embedder) -> None:
    """A translation is nearer than any other sentence, also one of the same language."""
    rows = multilingual.vectors([*SAME, *OTHER], 60).rows
    assert rows.shape == (5, 512)
    cosines = rows @ rows.T
    assert cosines[0, 1] > 0.7
    assert cosines[0, 2] > 0.5
    assert cosines[:3, 3:].max() < 0.35


def test_no_network_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    """It makes vectors on a machine that has no sockets."""

    def none_here(*_: object, **__: object) -> NoReturn:
        raise AssertionError("it opened a socket")

    monkeypatch.setattr(socket, "socket", none_here)
    assert embed(make_embedder("local:multilingual", {}), SAME).problem is None


def test_a_vector_does_not_depend_on_its_neighbours(multilingual: Embedder) -> None:
    """Alone or among others, a text has the same bytes."""
    together = multilingual.vectors(SAME, 60).rows
    alone = np.vstack([multilingual.vectors([text], 60).rows for text in SAME])
    assert together.tobytes() == alone.tobytes()


def test_any_text_with_words_has_a_vector(multilingual: Embedder) -> None:
    """Odd and huge texts are read as far as they go; blank ones have no vector."""
    texts = ["月が海を引く", "🎉", "a\ud800b", "\x00 x", "word " * 1_000_000, "", " \n"]
    result = embed(multilingual, texts)
    assert [one is None for one in result.found] == [False] * 5 + [True] * 2
    assert (result.tokens, result.cost_usd) == (None, 0.0)


def test_too_little_time_is_a_sentence() -> None:
    """The clock is looked at before each text; time that is up is not tried again."""
    ticks = iter(range(100))
    slow = MultilingualEmbedder("local:multilingual", clock=lambda: next(ticks))
    with pytest.raises(EmbedderFailed, match="allow more time") as failed:
        slow.vectors(SAME, 1.5)
    assert not failed.value.retryable
