"""What an embedder may be called: the forms of a name, checked without importing any library."""

from typing import Literal, NamedTuple

from commands.minds.names import check_name
from domain.errors import BadSetting

Service = Literal["openai", "openrouter", "ollama", "url"]
"""The providers that are spoken to over HTTP."""

Provider = Literal["local", "multilingual", "off"] | Service

FORMS = (
    "local, local:multilingual, openai:MODEL, openrouter:MODEL, ollama:MODEL,"
    " http://HOST:PORT/v1#MODEL or off"
)
"""Every form, for help texts and refusals."""


class EmbedderName(NamedTuple):
    """An embedder's name taken apart."""

    text: str
    """The whole name as the user wrote it."""
    provider: Provider
    model: str = ""
    """What a hosting provider calls it; empty for those on this machine."""
    url: str = ""
    """The base URL where the name holds one."""


def check_embedder(text: str) -> EmbedderName:
    """Take an embedder's name apart.

    Raises:
        BadSetting: the text has none of the forms; the sentence lists them.
    """
    match text:
        case "local" | "off":
            return EmbedderName(text, text)
        case "local:multilingual":
            return EmbedderName(text, "multilingual")
    url, _, _ = text.partition("#")
    if url.lower().startswith("http") and ("@" in url or "?" in url):
        # not even quoted here: names stand in the log, and this one may hold a password
        raise BadSetting(
            "An embedder's URL must not hold a login or a query, since names are kept in the log:"
            " put the key into OPENAI_COMPATIBLE_API_KEY."
        )
    try:
        name = check_name(text)
    except BadSetting:
        raise _none_of_the_forms(text) from None
    match name.provider:
        case "openai" | "openrouter" | "ollama" | "url":
            return EmbedderName(text, name.provider, name.model, name.url)
        case _:
            raise _none_of_the_forms(text)


def _none_of_the_forms(text: str) -> BadSetting:
    return BadSetting(f"{text!r} names no embedder: use {FORMS}.")
