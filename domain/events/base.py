"""What every event is: frozen, named by its ``kind``, plain enough for msgpack."""

from typing import Any, ClassVar, NamedTuple, Self

from pydantic import BaseModel, ConfigDict

from domain.actors import Actor

REDACTED = "[redacted]"
"""What stands where a text was taken away for good."""


class Source(NamedTuple):
    """The event of another branch that something was picked from."""

    session: str
    version: int
    hash: bytes
    """The chain hash there: names the event for ever, whatever its session is called."""


class Event(BaseModel):
    """Something that happened. Never changed, never deleted.

    A subclass sets ``kind`` to a literal (``draft.accepted``), which is what the log stores
    instead of a class path, and raises ``schema_version`` when its fields change (with an
    upcaster in ``domain/upcasts.py`` for the versions before). Fields hold only what msgpack
    can: text, bytes, numbers, booleans, None, and tuples and dicts of these.
    """

    # validators are built at the first use: a command line needs few of them, and quickly
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    schema_version: ClassVar[int] = 1
    content: ClassVar[tuple[str, ...]] = ()
    """Fields that hold what people or minds said: what a redaction takes away."""
    kind: str

    def because(self, version: int, *, by: Actor | None = None) -> "Caused":
        """Say which earlier event of the session led to this one, and whose doing it is."""
        return Caused(self, version, by)

    def wire(self) -> dict[str, Any]:
        """The fields as the log stores them: without ``kind``, and without what is None."""
        return {
            name: value
            for name, value in self.__dict__.items()
            if value is not None and name != "kind"
        }

    def redacted(self) -> Self:
        """The same event without its content; what holds the history together stays.

        A text becomes ``[redacted]``, a vector as many zero bytes, anything else its default.
        """
        return self.model_copy(update={name: self._blank(name) for name in self.content})

    def _blank(self, name: str) -> Any:
        value = getattr(self, name)
        if isinstance(value, bytes) and name == "embedding":
            return bytes(len(value))
        if isinstance(value, str | bytes):
            return REDACTED
        return type(self).model_fields[name].default

    @classmethod
    def from_wire(cls, fields: dict[str, Any]) -> Self:
        """Read what :meth:`wire` wrote.

        Raises:
            pydantic.ValidationError: a field is missing, unknown or of another type.
        """
        return cls.model_validate(fields)


class Caused(NamedTuple):
    """An event that is about to be recorded, and what is known of its origin."""

    event: Event
    cause: int | None = None
    """The version of the event that led to it."""
    by: Actor | None = None
    """Who did it, where it is not the one who made the wish."""
    at: int | None = None
    """When it happened, µs since 1970, where that was earlier than it is recorded: imports."""
