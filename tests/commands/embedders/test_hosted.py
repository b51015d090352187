"""Hosted embedders against a real HTTP server: each behaviour has its stated result."""

import logging
import math
import os
import signal
import traceback
from collections.abc import Mapping

import numpy as np
import pytest

from commands.embedders.choose import make_embedder
from commands.embedders.embed import embed
from commands.embedders.embedder import Embedder, EmbedderFailed
from commands.embedders.hosted import LONGEST
from domain.clustering.vectors import unpacked
from tests.commands.embedders.conftest import KEY, Time
from tests.fakes import provider as fake
from tests.fakes.provider import Behaviour, Provider, Vectors, vector_of

WAYS = ("openai", "openrouter", "ollama", "url")
TEXTS = ["two tides", "one moon", "no wind"]


def embedder_of(way: str, provider: Provider, env: Mapping[str, str]) -> Embedder:
    """An embedder that asks the provider on loopback."""
    names = {
        "openai": "openai:text-embedding-3-small",
        "openrouter": "openrouter:openai/text-embedding-3-small",
        "ollama": "ollama:nomic-embed-text",
        "url": f"{provider.url}/v1#bge-m3",
    }
    return make_embedder(names[way], env)


@pytest.fixture
def embedder(provider: Provider, env: dict[str, str]) -> Embedder:
    """One embedder, where the way to it makes no difference."""
    return embedder_of("openai", provider, env)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("numbers", [False, True])
def test_vectors_arrive_in_order(
    way: str, numbers: bool, provider: Provider, env: dict[str, str]
) -> None:
    """Every way brings one row a text, whether the server answers in base64 or in numbers."""
    provider.behaves(Vectors(numbers=numbers))
    answer = embedder_of(way, provider, env).vectors(TEXTS, 10)
    np.testing.assert_allclose(answer.rows, [vector_of(text) for text in TEXTS])
    assert answer.tokens == 7
    [asked] = provider.requests
    assert asked.path.endswith("/v1/embeddings")
    assert asked.body["input"] == TEXTS
    key = "none" if way == "ollama" else KEY
    assert asked.headers["Authorization"] == f"Bearer {key}"


@pytest.mark.parametrize(
    ("way", "behaviour", "tokens", "costs"),
    [
        ("openai", Vectors(tokens=1_000_000), 1_000_000, True),
        ("openai", Vectors(model="nobody-knows-this"), 7, False),
        ("openai", Vectors(tokens=None), None, False),
        ("url", Vectors(), 7, False),
    ],
)
def test_an_unknown_cost_is_never_zero(
    way: str,
    behaviour: Vectors,
    tokens: int | None,
    costs: bool,
    provider: Provider,
    env: dict[str, str],
) -> None:
    """A known model has its list price; a price or a count that nobody knows is None."""
    provider.behaves(behaviour)
    answer = embedder_of(way, provider, env).vectors(TEXTS, 10)
    assert answer.tokens == tokens
    assert (answer.cost_usd is not None and 0 < answer.cost_usd < 1) is costs
    assert costs or answer.cost_usd is None


def test_ollama_costs_nothing(provider: Provider, env: dict[str, str]) -> None:
    """A model of your own is free."""
    provider.behaves(Vectors(model="nomic-embed-text"))
    assert embedder_of("ollama", provider, env).vectors(TEXTS, 10).cost_usd == 0.0


FAILURES: list[tuple[Behaviour, bool, float | None, str]] = [
    (fake.silence, True, None, "did not answer within 0.5 s"),
    (fake.refusal(401, "bad key"), False, None, "check OPENAI_API_KEY"),
    (fake.refusal(403, "not you"), False, None, "check OPENAI_API_KEY"),
    (fake.refusal(402, "pay first"), False, None, "top up"),
    (fake.refusal(404, "no such model"), False, None, "check the model's name"),
    (fake.refusal(400, "too long"), False, None, "too long"),
    (fake.refusal(429, "slow down", Retry_After="7"), True, 7.0, "try again in 7 s"),
    (fake.refusal(500), True, None, "HTTP 500"),
    (fake.refusal(503, Retry_After="2"), True, 2.0, "HTTP 503"),
    (fake.GARBAGE, True, None, "no reply"),
    (fake.EMPTY, True, None, "no reply"),
    (fake.WRONG_TYPE, True, None, "no list of vectors"),
    (fake.WRONG_SHAPE, True, None, "no list of vectors"),
    (fake.body(b"null"), True, None, "no list of vectors"),
    (fake.body(b'{"data": 7}'), True, None, "no list of vectors"),
    (fake.body(b'{"data": [1, 2, 3]}'), True, None, "no list of vectors"),
    (Vectors(rows=["x", "y", "z"], numbers=True), True, None, "no list of vectors"),
    (Vectors(rows=[]), True, None, "no list of vectors"),
]


@pytest.mark.parametrize(("behaviour", "retryable", "retry_after", "words"), FAILURES)
def test_each_failure_has_its_sentence(
    behaviour: Behaviour,
    retryable: bool,
    retry_after: float | None,
    words: str,
    provider: Provider,
    embedder: Embedder,
) -> None:
    """What may pass is told from what may not, in one sentence; one attempt is one request."""
    provider.behaves(behaviour)
    with pytest.raises(EmbedderFailed) as failed:
        embedder.vectors(TEXTS, 0.5 if behaviour is fake.silence else 10)
    assert (failed.value.retryable, failed.value.retry_after) == (retryable, retry_after)
    assert words in failed.value.sentence
    assert len(provider.requests) == 1


@pytest.mark.parametrize(
    ("behaviour", "lost"),
    [
        (Vectors(rows=[[1, 2, 3], [math.nan, 1, 1], [3, 2, 1]]), [1]),
        (Vectors(rows=[[1, 2, 3], [math.inf, 1, 1], [0, 0, 0]]), [1, 2]),
        (Vectors(rows=[[1, 2, 3], [1, 2], [3, 2, 1]]), [1]),
        (Vectors(rows=[[1, 2, 3], [None, 2, 3], {}], numbers=True), [1, 2]),
        (Vectors(rows=[[1, 2, 3], [[1, 2, 3]], ["a", 2, 3]], numbers=True), [1, 2]),
        (Vectors(rows=[[], [], []], numbers=True), [0, 1, 2]),
        (Vectors(rows=[None, None, None], numbers=True), [0, 1, 2]),
        (Vectors(rows=[[1, 2], [2, 1]]), [0, 1, 2]),
        (Vectors(rows=[[1, 2]] * 4), [0, 1, 2]),
    ],
)
def test_bad_rows_lose_their_own_texts(
    behaviour: Vectors, lost: list[int], provider: Provider, embedder: Embedder, time: Time
) -> None:
    """A row that is no vector costs its text; a count that does not fit costs the batch."""
    provider.behaves(behaviour)
    result = embed(embedder, TEXTS, pause=time.sleep)
    assert [place for place, one in enumerate(result.found) if one is None] == lost
    assert result.problem is not None


def test_patience_waits_as_long_as_the_provider_asks(
    provider: Provider, embedder: Embedder, time: Time
) -> None:
    """A limit, then trouble, then vectors: three requests, and the wait that was asked for."""
    provider.behaves(fake.refusal(429, Retry_After="7"), fake.refusal(500), Vectors())
    result = embed(embedder, TEXTS, pause=time.sleep, chance=lambda: 0.5)
    assert (time.pauses, len(provider.requests), result.problem) == ([7.0, 1.0], 3, None)


def test_a_dimension_that_changes_between_batches_is_refused(
    provider: Provider, embedder: Embedder
) -> None:
    """The first batch stands; what came in another dimension is not mixed in."""
    provider.behaves(Vectors(), Vectors(rows=[[1, 2, 3]] * 6))
    result = embed(embedder, [f"thought {number}" for number in range(70)])
    assert [one is None for one in result.found] == [False] * 64 + [True] * 6
    assert result.problem is not None
    assert "vectors of 3 numbers after some of 4" in result.problem


def test_a_vector_keeps_its_direction(provider: Provider, embedder: Embedder) -> None:
    """What is stored is what came, with length 1."""
    provider.behaves(Vectors())
    [one] = embed(embedder, ["two tides"]).found
    assert one is not None
    raw = np.array(vector_of("two tides"))
    assert one.model == "openai:text-embedding-3-small"
    np.testing.assert_allclose(unpacked(one.data, 4), raw / np.linalg.norm(raw), atol=1e-3)


def test_long_and_odd_texts_are_sent_as_a_model_takes_them(
    provider: Provider, embedder: Embedder
) -> None:
    """A text is cut to what the narrowest model reads, and holds nothing that can't be encoded."""
    provider.behaves(Vectors())
    texts = ["a\ud800b", "🎉\ud83c\udf89 日本", "\x00 x", "ü" * 5_000_000]
    result = embed(embedder, texts)
    assert None not in result.found
    sent = [text for asked in provider.requests for text in asked.body["input"]]
    assert sent == ["a\ufffdb", "🎉🎉 日本", "\x00 x", "ü" * (LONGEST // 2)]


def test_no_server_is_a_failure_that_may_pass() -> None:
    """A port where nobody listens can't be reached; it may be tried again."""
    with Provider() as gone:
        url = gone.url
    with pytest.raises(EmbedderFailed, match="can't be reached") as failed:
        make_embedder(f"{url}/v1#m", {}).vectors(TEXTS, 10)
    assert failed.value.retryable


@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_a_key_that_comes_back_is_cut_out(
    status: int, provider: Provider, embedder: Embedder, caplog: pytest.LogCaptureFixture
) -> None:
    """No error, no traceback and no log line repeats the key, not even the beginning of it."""
    caplog.set_level(logging.DEBUG)
    provider.behaves(fake.echoing(status))
    with pytest.raises(EmbedderFailed) as failed:
        embedder.vectors(TEXTS, 10)
    told = "".join(traceback.format_exception(failed.value)) + repr(failed.value.__dict__)
    for text in (failed.value.sentence, told, caplog.text):
        assert KEY[:12] not in text
    assert failed.value.__context__ is None


def test_ctrl_c_ends_a_request_at_once(provider: Provider, embedder: Embedder) -> None:
    """An interrupt does not wait for the provider, and is no failed attempt."""

    def interrupt(exchange: fake.Exchange) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        fake.silence(exchange)

    provider.behaves(interrupt)
    with pytest.raises(KeyboardInterrupt):
        embed(embedder, TEXTS)
