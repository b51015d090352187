"""What a mind may be called: the forms of a model name, checked without importing any library."""

from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from domain.errors import BadSetting

Provider = Literal["local", "openrouter", "anthropic", "openai", "ollama", "url", "script"]

Service = Literal["openai", "openrouter", "anthropic", "ollama", "url"]
"""The providers that are spoken to over HTTP."""

FORMS = (
    "local, local:small, local:tiny, local:FILE.gguf, openrouter:MODEL, anthropic:MODEL,"
    " openai:MODEL, ollama:MODEL, http://HOST:PORT/v1#MODEL or script:FILE"
)
"""Every form, for help texts and refusals."""

LOCAL_NAMES = ("local", "local:small", "local:tiny")
"""The local minds whose weights this project knows; weights.py says what they are."""


class ModelName(NamedTuple):
    """A model name taken apart."""

    text: str
    """The whole name as the user wrote it."""
    provider: Provider
    model: str
    """What the provider calls it; the file of ``script:`` and of ``local:FILE.gguf``, else the
    whole name of a local mind (``local:small``)."""
    url: str = ""
    """The base URL where the name holds one."""


def check_name(text: str) -> ModelName:
    """Take a model name apart.

    Raises:
        BadSetting: the text has none of the forms; the sentence lists them.
    """
    if not text.isprintable() or text != text.strip():
        raise BadSetting(f"{text!r} names no mind: leave out spaces around it and control signs.")
    if text in LOCAL_NAMES:
        return ModelName(text, "local", text)
    head, colon, rest = text.partition(":")
    match head.lower():
        case "local" if rest.lower().endswith(".gguf"):
            return ModelName(text, "local", rest)
        case ("openrouter" | "anthropic" | "openai" | "ollama" | "script") as provider if rest:
            return ModelName(text, provider, rest)
        case "http" | "https" if colon:
            return _url_name(text)
        case _:
            raise BadSetting(f"{text!r} names no mind: use {FORMS}.")


def _url_name(text: str) -> ModelName:
    """``https://host:port/v1#model``: an address that speaks the chat completions protocol."""
    url, _, model = text.partition("#")
    if "@" in url or "?" in url:
        # not even quoted here: names stand in the log, and this one may hold a password
        raise BadSetting(
            "A model URL must not hold a login or a query, since names are kept in the log:"
            " put the key into OPENAI_COMPATIBLE_API_KEY."
        )
    try:
        parts = urlsplit(url)
        complete = bool(parts.hostname and parts.port != 0 and model)
    except ValueError:  # a port that is no number, a bracket that is not closed
        complete = False
    if not complete:
        raise BadSetting(
            f"{text!r} names no mind: write the base URL, '#' and the model"
            " (for example http://127.0.0.1:8080/v1#qwen3)."
        )
    return ModelName(text, "url", model, url.rstrip("/"))
