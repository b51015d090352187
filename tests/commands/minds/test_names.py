"""Names of minds: which texts are names, and what they mean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.minds.names import ModelName, check_name
from domain.errors import BadSetting


@pytest.mark.parametrize(
    ("text", "provider", "model", "url"),
    [
        ("local", "local", "local", ""),
        ("local:small", "local", "local:small", ""),
        ("local:tiny", "local", "local:tiny", ""),
        ("local:/models/My Model.GGUF", "local", "/models/My Model.GGUF", ""),
        ("local:C:\\models\\a.gguf", "local", "C:\\models\\a.gguf", ""),
        ("openrouter:a/b:free", "openrouter", "a/b:free", ""),
        ("anthropic:claude-haiku-4-5", "anthropic", "claude-haiku-4-5", ""),
        ("openai:gpt-5-mini", "openai", "gpt-5-mini", ""),
        ("OpenAI:gpt-5-mini", "openai", "gpt-5-mini", ""),
        ("ollama:qwen3:8b", "ollama", "qwen3:8b", ""),
        ("script:demo.jsonl", "script", "demo.jsonl", ""),
        ("http://127.0.0.1:8080/v1#qwen3", "url", "qwen3", "http://127.0.0.1:8080/v1"),
        ("https://models.example/v1/#a/b", "url", "a/b", "https://models.example/v1"),
        ("http://[::1]:8080/v1#m", "url", "m", "http://[::1]:8080/v1"),
    ],
)
def test_each_form_is_taken_apart(text: str, provider: str, model: str, url: str) -> None:
    """Every documented form names its provider, its model and its address."""
    assert check_name(text) == ModelName(text, provider, model, url)


@pytest.mark.parametrize(
    "text",
    [
        "", "gpt-5", "local:", "local:huge", "local:/tmp/model.bin", "openai:", "openrouter:",
        "script:", "ftp://host/v1#m", "http://#m", "http://host/v1", "http://host:port/v1#m",
        "http://[::1/v1#m", " local", "local\n", "openai:a\x00b", "http:", "mind",
    ],
)  # fmt: skip
def test_what_is_no_name_is_refused_with_the_forms(text: str) -> None:
    """A malformed name is refused in a sentence that helps."""
    with pytest.raises(BadSetting) as refused:
        check_name(text)
    assert any(word in refused.value.sentence for word in ("openrouter:MODEL", "#", "spaces"))


@pytest.mark.parametrize(
    "text",
    [
        "http://user:hunter2@host/v1#m",
        "http://hunter2@host:port/v1#m",
        "https://host/v1?key=hunter2#m",
        "http://user:hunter2@host/v1",
    ],
)
def test_a_secret_in_a_name_is_refused_and_not_repeated(text: str) -> None:
    """Names are kept in the log, so a login or a query has no place in them."""
    with pytest.raises(BadSetting) as refused:
        check_name(text)
    assert "hunter2" not in refused.value.sentence
    assert "OPENAI_COMPATIBLE_API_KEY" in refused.value.sentence


@given(st.text())
def test_any_text_is_a_name_or_refused(text: str) -> None:
    """No text at all makes the check fail in another way."""
    try:
        found = check_name(text)
    except BadSetting:
        return
    assert found.text == text
