"""The tokenizer inside of a GGUF model file, read without loading a single weight.

The head of such a file holds keys and values, in the layout of the GGUF specification (version 2
and 3, little-endian); the tensors behind it are never touched.
"""

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tokenizers import Tokenizer

LONGEST = 16 << 20
"""Bytes of one text in the head; a chat template has some thousands."""

MOST = 4_000_000
"""Values in one array; the largest vocabularies have 300,000."""

_NUMBERS = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"
}  # fmt: skip
_TEXT, _ARRAY = 8, 9

_CONTROL, _USER_DEFINED = 3, 4
"""Types of tokens that are found in a text before it is split into words."""

_QWEN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""Where Qwen 2 splits words, from its published tokenizer."""


class NoTokenizer(Exception):
    """The file holds none that is known here; the words say why."""


class Head(NamedTuple):
    """What a tokenizer is made of."""

    tokens: list[str]
    types: list[int]
    merges: list[str]
    split: str
    """The name of the way in which words are split."""


def tokenizer(file: Path) -> "Tokenizer":
    """The tokenizer of a model file, as its engine uses it.

    Raises:
        NoTokenizer: the file can't be read, is damaged, or splits words in a way that is not
            known here.
        ImportError: the package tokenizers is missing.
    """
    from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers  # noqa: PLC0415 - heavy

    head = read_head(file)
    splits: Mapping[str, Any] = {
        "qwen2": lambda: [
            pre_tokenizers.Split(Regex(_QWEN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ],
        "smollm": lambda: [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ],
    }
    if head.split not in splits:
        raise NoTokenizer(f"words split as {head.split!r}")
    vocabulary = {token: number for number, token in enumerate(head.tokens)}
    merges = [(left, right) for left, _, right in (merge.partition(" ") for merge in head.merges)]
    try:
        made = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    except Exception as error:
        raise NoTokenizer(f"its words don't merge ({error})") from error
    made.pre_tokenizer = pre_tokenizers.Sequence(splits[head.split]())
    made.add_special_tokens(
        [
            AddedToken(token, normalized=False)
            for token, type_ in zip(head.tokens, head.types, strict=True)
            if type_ in {_CONTROL, _USER_DEFINED}
        ]
    )
    return made


def read_head(file: Path) -> Head:
    """What the head of a model file says about its tokenizer.

    Raises:
        NoTokenizer: as :func:`tokenizer`.
    """
    try:
        with file.open("rb", buffering=1 << 20) as stream:
            found = _values(stream)
        kind = found["tokenizer.ggml.model"].decode()
        if kind != "gpt2":
            raise NoTokenizer(f"a tokenizer of the kind {kind!r}")
        tokens, types, merges = (
            found[f"tokenizer.ggml.{name}"] for name in ("tokens", "token_type", "merges")
        )
        if len(tokens) != len(types):
            raise NoTokenizer("not each token has a type")
        return Head(
            [token.decode() for token in tokens],
            list(types),
            [merge.decode() for merge in merges],
            found["tokenizer.ggml.pre"].decode(),
        )
    except (OSError, KeyError, ValueError, TypeError, AttributeError, struct.error) as error:
        raise NoTokenizer(f"its head can't be read ({error!r})") from error


def _values(stream: IO[bytes]) -> dict[str, Any]:
    """The values whose keys begin with ``tokenizer.``."""
    magic, version, _, count = struct.unpack("<4sIQQ", stream.read(24))
    if magic != b"GGUF" or version not in {2, 3} or count > 100_000:
        raise ValueError("no GGUF file of version 2 or 3")
    found: dict[str, Any] = {}
    for _ in range(count):
        key = _text(stream).decode()
        value = _value(stream, _number(stream, "I"))
        if key.startswith("tokenizer."):
            found[key] = value
    return found


def _value(stream: IO[bytes], type_: int) -> Any:
    if type_ == _TEXT:
        return _text(stream)
    if type_ != _ARRAY:
        return _number(stream, _NUMBERS[type_])
    of, count = _number(stream, "I"), _number(stream, "Q")
    if count > MOST:
        raise ValueError(f"an array of {count} values")
    if of == _TEXT:
        return [_text(stream) for _ in range(count)]
    layout = f"<{count}{_NUMBERS[of]}"
    return struct.unpack(layout, stream.read(struct.calcsize(layout)))


def _text(stream: IO[bytes]) -> bytes:
    size = _number(stream, "Q")
    if size > LONGEST:
        raise ValueError(f"a text of {size} bytes")
    text = stream.read(size)
    if len(text) != size:
        raise ValueError("the file ends within its head")
    return text


def _number(stream: IO[bytes], layout: str) -> Any:
    return struct.unpack(f"<{layout}", stream.read(struct.calcsize(f"<{layout}")))[0]
