"""Counting tokens: exactly where a tokenizer is at hand, else by the estimate, and said so."""

import base64
import hashlib
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from commands.minds import weights
from commands.minds.gguf import NoTokenizer, read_head, tokenizer
from commands.minds.local import LocalMind
from commands.minds.mind import Request
from commands.minds.names import check_name
from commands.minds.tokens import counter, encoding_of
from domain.tokens import estimate

TEXTS = (
    "The far bulge is what people find odd.",
    "def tide(moon):\n\treturn [x ** 2 for x in moon if x >= 10]\n",
    "2026-11-22T11:40:07.214Z WARN request id=5f3a took 1834 ms",
    "Zwei Fluten täglich, weil der Mond zieht. 每天两次涨潮。 🧠",
    'it\'s <|im_end|> <|endoftext|>   \n\n  {"a": [1, 2]}',
    "",
)

PUBLISHED = {
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
"""sha256 of the vocabularies as OpenAI publishes them; tiktoken checks the same."""


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("openai:gpt-5-mini", "o200k_base"),
        ("openai:gpt-4o-2024-08-06", "o200k_base"),
        ("openai:gpt-4.1", "o200k_base"),
        ("openai:o3", "o200k_base"),
        ("openai:o4-mini", "o200k_base"),
        ("openai:gpt-4-turbo", "cl100k_base"),
        ("openai:gpt-3.5-turbo-0125", "cl100k_base"),
        ("openai:ft:gpt-4o:acme", "o200k_base"),
        ("openrouter:openai/gpt-5", "o200k_base"),
        ("openrouter:openai/gpt-oss-120b:free", "o200k_harmony"),
        ("ollama:gpt-oss:20b", "o200k_harmony"),
        ("openai:gpt-9", None),
        ("openai:o3d", None),
        ("openrouter:anthropic/claude-haiku-4.5", None),
        ("openrouter:somebody/gpt-4o", None),
        ("anthropic:claude-haiku-4-5", None),
        ("ollama:qwen3", None),
        ("http://127.0.0.1:1/v1#gpt-4o", None),
        ("script:replies.jsonl", None),
    ],
)
def test_an_encoding_is_never_guessed(name: str, encoding: str | None) -> None:
    """Models of OpenAI have a published one; a server of one's own may name its models at will."""
    assert encoding_of(check_name(name)) == encoding


@pytest.mark.parametrize(
    "name", ["anthropic:claude-haiku-4-5", "script:replies.jsonl", "nobody", "local:/no/such.gguf"]
)
def test_the_estimate_says_that_it_is_one(name: str) -> None:
    """Where nobody can count, the number is the one that decisions are made by."""
    found = counter(name, {})
    assert (found.name, found.exact) == ("estimate", False)
    assert found.counted(TEXTS) == [estimate(text) for text in TEXTS]


def test_no_text_is_too_strange_to_be_counted() -> None:
    """Half a surrogate pair, which no tokenizer takes, counts as the sign that replaces it."""
    pytest.importorskip("toktok")
    found = counter("openai:gpt-5", {})
    assert found.count("a\ud800b") == found.count("a?b") > 0
    assert found.counted([]) == []


def test_counting_asks_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """The vocabularies of OpenAI's models are in the package."""
    pytest.importorskip("toktok")

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was asked for")

    monkeypatch.setattr(socket, "socket", refuse)
    found = counter("openai:gpt-4-turbo", {})
    assert (found.name, found.exact, found.count("hello world")) == ("cl100k_base", True, 2)


@pytest.mark.parametrize("encoding", PUBLISHED)
def test_the_vocabularies_are_the_published_ones(
    encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written as OpenAI publishes it, the vocabulary has its hash; tiktoken counts the same by it.

    tiktoken finds the file in its cache under the hash of its address, and checks it.
    """
    toktok = pytest.importorskip("toktok")
    tiktoken = pytest.importorskip("tiktoken")
    ranks = toktok._encoding(encoding)
    lines = []
    for rank in range(ranks.n_vocab):
        try:
            token = ranks.decode_single_token_bytes(rank)
        except KeyError:
            continue
        if not ranks.is_special_token(rank):
            lines.append(b"%s %d\n" % (base64.b64encode(token), rank))
    vocabulary = b"".join(lines)
    assert hashlib.sha256(vocabulary).hexdigest() == PUBLISHED[encoding]
    address = f"https://openaipublic.blob.core.windows.net/encodings/{encoding}.tiktoken"
    (tmp_path / hashlib.sha1(address.encode()).hexdigest()).write_bytes(vocabulary)  # noqa: S324
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    theirs = tiktoken.get_encoding(encoding)
    name = "openai:gpt-4" if encoding == "cl100k_base" else "openai:gpt-5"
    assert counter(name, {}).counted(TEXTS) == [len(theirs.encode_ordinary(t)) for t in TEXTS]


# model files: small ones, written here


def model_file(
    directory: Path, tokens: Sequence[str], merges: Sequence[str] = (), **more: Any
) -> Path:
    """A GGUF file that holds a tokenizer, some other values, and no weights."""
    types = [3 if token.startswith("<") else 1 for token in tokens]
    values: dict[str, Any] = {
        "general.architecture": "qwen2",
        "general.size": 7,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "qwen2",
        "tokenizer.ggml.tokens": list(tokens),
        "tokenizer.ggml.token_type": types,
        "tokenizer.ggml.merges": list(merges),
        **more,
    }
    head = struct.pack("<4sIQQ", b"GGUF", 3, 0, len(values))
    file = directory / "own.gguf"
    file.write_bytes(head + b"".join(_text(key) + _value(value) for key, value in values.items()))
    return file


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _value(value: Any) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    texts = bool(value) and isinstance(value[0], str)
    inner = b"".join(_text(one) if texts else struct.pack("<i", one) for one in value)
    return struct.pack("<IIQ", 9, 8 if texts else 5, len(value)) + inner


LETTERS = [*"abcdehilortw", "Ġ", "he", "ll", "hell", "hello", "<|end|>"]
MERGES = ["h e", "l l", "he ll", "hell o"]


@pytest.mark.parametrize(
    ("text", "count"),
    [("hello", 1), ("hell", 1), ("hello hello", 3), ("<|end|>", 1), ("hello<|end|>", 2), ("", 0)],
)
def test_a_model_file_counts_by_its_own_words(text: str, count: int, tmp_path: Path) -> None:
    """The tokenizer is read from the file itself; what ends a turn is one token."""
    pytest.importorskip("tokenizers")
    pytest.importorskip("xllamacpp")
    found = counter(f"local:{model_file(tmp_path, LETTERS, MERGES)}", {})
    assert (found.name, found.exact) == ("own", True)
    assert found.count(text) == count


@pytest.mark.parametrize(
    "more",
    [
        {"tokenizer.ggml.pre": "a-way-of-tomorrow"},
        {"tokenizer.ggml.model": "llama"},
        {"tokenizer.ggml.token_type": [1, 1]},
        {"tokenizer.ggml.merges": ["x y"]},
        {"tokenizer.ggml.merges": ["h"]},
        {"tokenizer.ggml.tokens": 5},
    ],
)
def test_what_is_not_known_is_not_called_exact(more: Mapping[str, Any], tmp_path: Path) -> None:
    """A file that splits words in another way, or none, is counted by the estimate."""
    pytest.importorskip("tokenizers")
    file = model_file(tmp_path, LETTERS, MERGES, **more)
    with pytest.raises(NoTokenizer):
        tokenizer(file)
    assert not counter(f"local:{file}", {}).exact


def test_a_damaged_head_is_no_tokenizer(tmp_path: Path) -> None:
    """Wherever a file ends, and whatever lengths it claims, it is refused, not believed."""
    whole = model_file(tmp_path, LETTERS, MERGES).read_bytes()
    file = tmp_path / "broken.gguf"
    for end in range(0, len(whole), 7):
        file.write_bytes(whole[:end])
        with pytest.raises(NoTokenizer):
            read_head(file)
    for at in range(0, len(whole) - 8, 5):
        file.write_bytes(whole[:at] + b"\xff" * 8 + whole[at + 8 :])
        try:
            read_head(file)
        except NoTokenizer:
            continue


def test_the_engine_is_not_started_to_count(tmp_path: Path) -> None:
    """Neither the engine nor any client library is imported, and no tokenizer before it is used."""
    file = model_file(tmp_path, LETTERS, MERGES)
    code = (
        "import sys; from commands.minds.tokens import counter;"
        "early = {'tokenizers', 'toktok'} & set(sys.modules);"
        f"counter('local:{file}', {{}}).count('hello');"
        "print(early or {'xllamacpp', 'pydantic_ai', 'openai', 'tiktoken'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.local_model
def test_the_engine_counts_the_same(compact: Request) -> None:
    """What llama.cpp reports of a prompt grows by what is counted of the text that is added."""
    pytest.importorskip("xllamacpp")
    tiny = LocalMind("local:tiny", weights.pull("local:tiny", env=os.environ), threads=1)
    count = counter("local:tiny", os.environ)
    assert count.exact

    def read(prompt: str) -> int:
        asked = compact._replace(prompt=prompt, examples=(), max_tokens=1, timeout=60.0)
        tokens = tiny.reply(asked).tokens_in
        assert tokens is not None
        return tokens

    bare = read("x") - count.count("x")
    for text in TEXTS[2:4]:
        assert read(f"x{text}x") == bare + count.count(f"x{text}x")
