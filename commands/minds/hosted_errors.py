"""What the client libraries raise, told as one of our failures. Import late, as services.py."""

from collections.abc import Mapping
from typing import Any

from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelConnectionError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelRequestTimeout,
    ModelTimeoutError,
    UnexpectedModelBehavior,
    UserError,
)

from commands.minds.failures import Asked, broke_off, garbled, refused, timed_out, unreachable
from commands.minds.mind import MindFailed


def failure_of(error: Exception, asked: Asked, timeout: float, partial: str) -> MindFailed:
    """Translate an error of pydantic-ai, of the SDK under it, or of what it made of the bytes.

    Args:
        error: what was raised.
        asked: who was asked; the key is cut out of all words.
        timeout: the seconds that the attempt had.
        partial: the text that had arrived.
    """
    match error:
        case ModelHTTPError():
            return refused(
                asked,
                error.status_code,
                _words(error.body),
                retry_after=error.retry_after,
                partial=partial,
                waiting_helps=not isinstance(error, ModelQuotaExceededError),
            )
        case ModelTimeoutError() | ModelRequestTimeout():
            return timed_out(asked, timeout, partial)
        case ModelAPIError() if _cut_off(error, partial):
            return broke_off(asked, partial)
        case ModelConnectionError():
            return unreachable(asked, _root(error))
        case UserError():
            why = asked.because(error.message)
            return MindFailed(f"{asked.name} can't be asked like this{why}.", retryable=False)
        case _:
            return garbled(asked, _told(error), partial)


def _cut_off(error: ModelAPIError, partial: str) -> bool:
    """Whether the answer had begun: the provider said nothing about what went wrong then."""
    reading = isinstance(error, ModelConnectionError) and error.phase == "read"
    return reading or bool(partial and not error.body)


def _words(body: object) -> str:
    """The message inside of an error body, whatever its shape."""
    while isinstance(body, Mapping):
        inner: Any = body.get("error") or body.get("message") or body.get("detail")
        if inner is None:
            return str(dict(body))
        body = inner
    return "" if body is None else str(body)


def _root(error: BaseException) -> str:
    """The words of the first cause: the outer ones only say 'Connection error'."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error)


def _told(error: Exception) -> str:
    """What is wrong with a reply that no one could read."""
    if isinstance(error, ModelAPIError):
        return _words(error.body) or error.message
    if isinstance(error, UnexpectedModelBehavior):
        return error.message.partition("\n")[0]
    # a reply of another shape trips whoever reads it first, in words that help nobody
    return type(error).__name__
