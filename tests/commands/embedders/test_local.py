"""The embedder on this machine: the real model, on texts of every kind."""

import hashlib
import shutil
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from commands.embedders import minilm
from commands.embedders.choose import make_embedder
from commands.embedders.embed import embed
from commands.embedders.embedder import Embedder, EmbedderFailed, EmbedderUnavailable
from commands.embedders.local import LocalEmbedder
from domain.clustering.vectors import unpacked

PAIRS = [
    ("The moon pulls the sea towards it.", "The sea is drawn by the gravity of the moon."),
    ("SQLite is enough for a small wiki.", "For a little wiki, SQLite does the job."),
    ("My cat sleeps all day.", "The cat of mine is asleep the whole day."),
    ("Prices rise when demand grows.", "Higher demand makes things more expensive."),
]
"""Sentences that say the same in other words; each pair about something else."""


@pytest.fixture(scope="module")
def local() -> Embedder:
    """The embedder as it is chosen."""
    return make_embedder("local", {})


def unit(embedder: Embedder, *texts: str) -> NDArray[np.float64]:
    """Vectors of length 1."""
    rows = np.asarray(embedder.vectors(texts, 60).rows, np.float64)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def test_the_vocabulary_is_the_one_that_the_model_was_trained_with() -> None:
    """The file is BERT's, byte for byte."""
    data = (files("commands.embedders") / "vocab.txt").read_bytes()
    found = hashlib.sha256(data).hexdigest()
    assert found == "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"


def test_what_means_the_same_is_near(local: Embedder) -> None:
    """Paraphrases have a cosine of about 0.7, sentences about something else of about 0."""
    one, other = unit(local, *(a for a, _ in PAIRS)), unit(local, *(b for _, b in PAIRS))
    cosines = one @ other.T
    same, else_ = np.diag(cosines), cosines[~np.eye(len(PAIRS), dtype=bool)]
    assert same.min() > 0.5
    assert abs(else_.mean()) < 0.1
    assert else_.max() < 0.25


def test_known_vectors_stay_as_they_are(local: Embedder) -> None:
    """The cosines that the published model gives are met: tokens, mask and mean are right."""
    [a, b, c] = unit(local, "That is a happy person", "That is a happy dog", "Today is a sunny day")
    assert a @ b == pytest.approx(0.695, abs=0.02)
    assert a @ c == pytest.approx(0.257, abs=0.02)


def test_vectors_are_repeatable_to_the_last_bit(local: Embedder, tmp_path: Path) -> None:
    """The same texts give the same bytes, also from a model that is loaded anew."""
    texts = [text for pair in PAIRS for text in pair]
    first = local.vectors(texts, 60).rows
    assert isinstance(local, LocalEmbedder)
    copy = shutil.copy(local.file, tmp_path / "copy.onnx")
    assert first.tobytes() == local.vectors(texts, 60).rows.tobytes()
    assert first.tobytes() == LocalEmbedder("local", copy).vectors(texts, 60).rows.tobytes()


def test_a_vector_does_not_depend_on_its_neighbours(local: Embedder) -> None:
    """Padding is masked: alone, among long ones and in any order, a text has one vector."""
    texts = [f"{'tide ' * (number % 40)}turns {number}" for number in range(50)]
    together = local.vectors(texts, 60).rows
    alone = np.vstack([local.vectors([text], 60).rows for text in texts])
    backwards = local.vectors(texts[::-1], 60).rows[::-1]
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(together, backwards, atol=1e-5)


def test_it_is_free_and_counts_its_tokens(local: Embedder) -> None:
    """A word is at least a token, and each text has two more for its ends."""
    answer = local.vectors(["tide", "the moon"], 60)
    assert (answer.rows.shape, answer.tokens, answer.cost_usd) == ((2, 384), 3 + 4, 0.0)


def test_case_and_accents_make_no_difference(local: Embedder) -> None:
    """The model reads lower case without accents."""
    one, other = unit(local, "Café au lait", "cafe AU LAIT")
    assert one @ other == pytest.approx(1.0)


def test_the_end_of_a_long_text_is_not_read(local: Embedder) -> None:
    """Beyond 256 tokens nothing counts; a text of megabytes takes no longer than a page."""
    page = "the tide turns " * 100
    one, other, huge = unit(local, page, page + "zebra " * 50, page + "zebra " * 900_000)
    assert one @ other == pytest.approx(1.0)
    assert one @ huge == pytest.approx(1.0)
    answer = local.vectors([page], 60)
    assert answer.tokens == minilm.MOST_TOKENS


@pytest.mark.parametrize(
    "text",
    [
        "月が海を引く", "🎉🎊", "\ud800 half a sign", "\ud83c\udf89", "a\x00b", "[SEP] [PAD] [CLS]",
        pytest.param("x" * 5_000_000, id="huge"), "\u0301", "naïve façade", "מִלָּה", "?",
    ],
)  # fmt: skip
def test_any_text_with_words_has_a_vector_or_none(text: str, local: Embedder) -> None:
    """No text makes it fail, and whatever comes is a direction."""
    result = embed(local, [text, "the tide turns"])
    first, second = result.found
    assert second is not None
    assert (result.problem is None) is (first is not None)
    if first is not None:
        assert np.linalg.norm(unpacked(first.data, 384)) == pytest.approx(1, abs=1e-3)


def test_nothing_to_read_is_no_vector(local: Embedder) -> None:
    """Texts that the tokenizer makes nothing of would all be alike: they get none."""
    result = embed(local, ["", "  ", "\ufffd", "the tide turns"])
    assert [one is None for one in result.found] == [True, True, True, False]
    assert not np.isfinite(local.vectors(["\ufffd"], 60).rows).any()


def test_equal_texts_are_read_once(local: Embedder) -> None:
    """A thought that is repeated costs nothing."""
    result = embed(local, ["the tide turns"] * 1000)
    assert result.tokens == 5
    assert len(set(result.found)) == 1


def test_too_little_time_is_a_sentence() -> None:
    """The clock is looked at between batches; time that is up is not tried again."""
    ticks = iter(range(100))
    made = make_embedder("local", {})
    assert isinstance(made, LocalEmbedder)
    slow = LocalEmbedder("local", made.file, clock=lambda: next(ticks))
    with pytest.raises(EmbedderFailed, match="allow more time") as failed:
        slow.vectors(["the tide turns " * 100] * 10, 1.5)
    assert not failed.value.retryable


@pytest.mark.parametrize("data", [None, b"", b"another model"])
def test_another_file_is_not_taken(data: bytes | None, tmp_path: Path) -> None:
    """The bytes of the model are checked before they are used; embedding says it and goes on."""
    file = tmp_path / "model.onnx"
    if data is not None:
        file.write_bytes(data)
    wrong = LocalEmbedder("local", file)
    with pytest.raises(EmbedderUnavailable, match="force-reinstall"):
        wrong.vectors(["tide"], 60)
    result = embed(wrong, ["tide"])
    assert result.found == (None,)
    assert "force-reinstall" in (result.problem or "")


def test_a_file_that_onnxruntime_refuses_is_a_sentence(tmp_path: Path) -> None:
    """Even the right bytes may be too new or too old for the library."""
    file = tmp_path / "model.onnx"
    file.write_bytes(b"no model")
    odd = LocalEmbedder("local", file, sha256=hashlib.sha256(b"no model").hexdigest())
    with pytest.raises(EmbedderUnavailable, match="onnxruntime can't load"):
        odd.vectors(["tide"], 60)
