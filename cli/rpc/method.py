"""What a method of the protocol is, whoever calls it: typed parameters, a typed result."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Params(BaseModel):
    """Parameters of a method: camelCase on the wire; what is unknown is refused."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        defer_build=True,
        alias_generator=to_camel,
        validate_by_name=True,
        serialize_by_alias=True,
        use_attribute_docstrings=True,
    )


class Result(BaseModel):
    """What a method answers, camelCase on the wire."""

    model_config = ConfigDict(
        frozen=True,
        defer_build=True,
        alias_generator=to_camel,
        validate_by_name=True,
        serialize_by_alias=True,
        use_attribute_docstrings=True,
    )


class Nothing(Params):
    """No parameters."""


class Peer(Protocol):
    """Who calls: one connection."""

    @property
    def name(self) -> str:
        """As the client called itself in the handshake; drafts belong to it."""
        ...

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification. Never blocks: a peer that does not keep up is cut off."""
        ...


class Method(NamedTuple):
    """One method of the protocol."""

    name: str
    summary: str
    """One sentence: what it does."""
    params: type[Params]
    result: type[Result]
    run: Callable[[Peer, Any], Awaitable[Result]]
    errors: tuple[int, ...] = ()
    """The codes that it may answer with beside those that every method may."""


class RpcError(Exception):
    """An answer that says no."""

    def __init__(self, code: int, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data
