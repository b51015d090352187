"""What a model or a program gives a tool, checked against the tool's schema before it runs.

The part of JSON Schema that our tools use: ``type``, ``properties``, ``required``,
``additionalProperties``, ``items``, ``enum``, ``minimum``, ``maximum``, ``minLength``,
``maxLength``, ``minItems``, ``maxItems``, ``pattern`` (of the whole text) and ``default``.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from commands.agents.tools import Tool
from domain.errors import Refused

Schema = Mapping[str, Any]

_SHOWN = 60
"""Characters of a wrong value that a sentence repeats."""


class BadArguments(Refused):
    """What a tool was given does not fit what it takes."""


def checked(tool: Tool, arguments: object) -> dict[str, Any]:
    """The arguments of one call, fit to be run with.

    A default is filled in, a whole number such as ``3.0`` becomes an integer, and null for
    something that may be left out is as if it were.

    Args:
        tool: the tool that is called.
        arguments: an object, or its JSON as a model writes it; nothing at all is no arguments.

    Raises:
        BadArguments: they do not fit; the sentence says which, and what does.
    """
    given = _parsed(tool.name, arguments)
    if not isinstance(given, Mapping):
        raise BadArguments(f"The arguments of {tool.name} have to be a JSON object.")
    checker = _Checker(tool.name)
    return checker.properties(given, tool.parameters, "")


def _parsed(tool: str, arguments: object) -> object:
    if arguments is None:
        return {}
    if not isinstance(arguments, str | bytes | bytearray):
        return arguments
    if not arguments.strip():
        return {}
    try:
        return json.loads(arguments, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise BadArguments(f"The arguments of {tool} are no JSON ({why}).") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


class _Checker:
    def __init__(self, tool: str) -> None:
        self._tool = tool

    def properties(self, given: Mapping[str, Any], schema: Schema, where: str) -> dict[str, Any]:
        known: Mapping[str, Schema] = schema.get("properties", {})
        needed = frozenset(schema.get("required", ()))
        fits: dict[str, Any] = {}
        for name, value in given.items():
            if name in known:
                if value is None and name not in needed and not _takes_null(known[name]):
                    continue
                fits[name] = self.value(value, known[name], f"{where}{name}")
            elif schema.get("additionalProperties", True) is False:
                takes = ", ".join(known) or "no arguments"
                raise BadArguments(f"{self._tool} has no {_short(where + name)}: it takes {takes}.")
            else:
                fits[name] = value
        for name in schema.get("required", ()):
            if name not in fits:
                raise BadArguments(f"{self._tool} needs {where}{name}.")
        for name, one in known.items():
            if name not in fits and "default" in one:
                fits[name] = one["default"]
        return fits

    def value(self, value: Any, schema: Schema, where: str) -> Any:
        types = _types(schema)
        if types and not any(_IS[type_](value) for type_ in types):
            wanted = " or ".join(_WORDS[type_] for type_ in types)
            self._refuse(where, wanted, value)
        if isinstance(value, float) and "integer" in types and "number" not in types:
            value = int(value)
        if "enum" in schema and value not in schema["enum"]:
            self._refuse(where, " or ".join(_short(one) for one in schema["enum"]), value)
        match value:
            case bool():
                return value
            case str():
                self._text(value, schema, where)
            case int() | float():
                self._number(value, schema, where)
            case list():
                self._size(len(value), schema, "Items", where, "entries")
                items = schema.get("items", {})
                return [self.value(one, items, f"{where}[{n}]") for n, one in enumerate(value)]
            case dict():
                return self.properties(value, schema, f"{where}.")
        return value

    def _text(self, text: str, schema: Schema, where: str) -> None:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise BadArguments(f"{where} of {self._tool} holds half a character.") from None
        self._size(len(text), schema, "Length", where, "characters")
        pattern = schema.get("pattern")
        if pattern is not None and not re.fullmatch(pattern, text):
            self._refuse(where, schema.get("description", f"a text like {pattern}"), text)

    def _number(self, number: float, schema: Schema, where: str) -> None:
        least, most = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
        if not least <= number <= most:
            wanted = (
                f"at most {most}"
                if least == -math.inf
                else f"at least {least}"
                if most == math.inf
                else f"from {least} to {most}"
            )
            self._refuse(where, wanted, number)

    def _size(self, size: int, schema: Schema, what: str, where: str, unit: str) -> None:
        least, most = schema.get(f"min{what}", 0), schema.get(f"max{what}", math.inf)
        if size < least:
            self._tell(where, f"at least {least} {unit}", f"has {size}")
        if size > most:
            self._tell(where, f"at most {most} {unit}", f"has {size}")

    def _refuse(self, where: str, wanted: str, value: object) -> NoReturn:
        self._tell(where, wanted, f"is {_short(value)}")

    def _tell(self, where: str, wanted: str, found: str) -> NoReturn:
        raise BadArguments(f"{where} of {self._tool} {found}: it has to be {wanted.rstrip('.')}.")


def _types(schema: Schema) -> tuple[str, ...]:
    types = schema.get("type", ())
    return (types,) if isinstance(types, str) else tuple(types)


def _takes_null(schema: Schema) -> bool:
    return "null" in _types(schema)


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _is_number(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _is_integer(value: object) -> bool:
    return _is_number(value) and (not isinstance(value, float) or value.is_integer())


_IS: dict[str, Callable[[object], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": _is_integer,
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}

_WORDS = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
