"""The protocol described for programs, as the OpenRPC specification 1.3.2 says.

Source: https://spec.open-rpc.org/
"""

import ast
import asyncio
import inspect
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import version
from itertools import pairwise
from textwrap import dedent
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict
from pydantic.json_schema import models_json_schema

from cli.rpc.connection import CLOSINGS
from cli.rpc.errors import ALWAYS, CODES, required_first
from cli.rpc.method import Method, Nothing, Peer, Result
from cli.rpc.notifications import NOTIFICATIONS

OPENRPC = "1.3.2"

ABOUT = """\
JSON-RPC 2.0 over WebSocket. The first call is `handshake`. Calls of one connection run side by \
side, and begin in the order in which they came; those of a batch run one after the other. \
Parameters are given by name, or by position: those that are required come first."""

_SCHEMAS = "#/components/schemas/"


class Document(Result):
    """All methods, their parameters and results, as an OpenRPC document."""

    model_config = ConfigDict(extra="allow")

    openrpc: str
    """The version of that specification."""


def discover(methods: Mapping[str, Method]) -> Method:
    """The method that tells of these methods, and of itself."""
    turn = asyncio.Lock()

    @cache
    def whole() -> Document:
        return Document.model_validate(document({**methods, itself.name: itself}))

    async def run(_: Peer, __: Nothing) -> Document:
        async with turn:  # it takes half a second the first time, in which others go on
            return await asyncio.to_thread(whole)

    itself = Method("rpc.discover", "Describe every method for programs.", Nothing, Document, run)
    return itself


def document(methods: Mapping[str, Method]) -> dict[str, Any]:
    """The OpenRPC document of these methods."""
    shapes: list[tuple[type[BaseModel], Any]] = []
    for method in methods.values():
        shapes.append((method.params, "validation"))
        shapes += [(model, "serialization") for model in _with_parts(method.result)]
    shapes += [(one.params, "serialization") for one in NOTIFICATIONS]
    shapes = list(dict.fromkeys(shapes))
    named, found = models_json_schema(shapes, by_alias=True, ref_template=_SCHEMAS + "{model}")
    schemas: dict[str, Any] = found.get("$defs", {})
    names: dict[Any, str] = {
        shape: ref["$ref"].removeprefix(_SCHEMAS) for shape, ref in named.items()
    }
    for (model, _), name in names.items():
        _describe(schemas[name], model)
    described = [_method(method, names, schemas) for method in methods.values()]
    told = [
        {
            "name": one.name,
            "summary": one.summary,
            "params": _parameters(one.params, schemas[names[one.params, "serialization"]]),
        }
        for one in NOTIFICATIONS
    ]
    for (_, mode), name in names.items():
        if mode == "validation" and not _refers({"m": described, "s": schemas}, name):
            del schemas[name]
    for name in {names[one.params, "serialization"] for one in NOTIFICATIONS}:
        if not _refers({"m": described, "s": schemas}, name):
            del schemas[name]
    return _short_names(
        {
            "openrpc": OPENRPC,
            "info": {
                "title": "Logosphere",
                "version": version("logosphere"),
                "description": ABOUT,
                "license": {"name": "Apache-2.0"},
            },
            "servers": [{"name": "mind serve", "url": "ws://127.0.0.1:9800/"}],
            "methods": described,
            "components": {
                "schemas": schemas,
                "errors": {_key(code): _error(code) for code in CODES},
            },
            "x-notifications": told,
            "x-closings": [{"code": code, "meaning": text} for code, text in CLOSINGS.items()],
        }
    )


def _method(method: Method, names: Mapping[Any, str], schemas: Mapping[str, Any]) -> dict[str, Any]:
    result = names[method.result, "serialization"]
    codes = [*method.errors, *(code for code in ALWAYS if code not in method.errors)]
    return {
        "name": method.name,
        "summary": method.summary,
        "paramStructure": "either",
        "params": _parameters(method.params, schemas[names[method.params, "validation"]]),
        "result": {"name": result, "schema": {"$ref": f"{_SCHEMAS}{result}"}},
        "errors": [{"$ref": f"#/components/errors/{_key(code)}"} for code in codes],
    }


def _with_parts(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """A model and those that its fields are made of."""
    yield model
    for field in model.model_fields.values():
        for part in _models_in(field.annotation):
            yield from _with_parts(part)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _parameters(model: type[BaseModel], schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each as a content descriptor, those that are required first."""
    found = []
    for name, field in required_first(model):
        shape = dict(schema["properties"][name])
        about = shape.pop("description", None)
        one = {"name": name, "required": field.is_required(), "schema": shape}
        found.append(one if about is None else {**one, "description": about})
    return found


def _describe(schema: dict[str, Any], model: type[BaseModel]) -> None:
    """Add what the source says of each field, where the schema says nothing."""
    notes = notes_of(model)
    for name, field in model.model_fields.items():
        shape = schema["properties"].get(field.alias or name)
        if shape is not None:
            shape.pop("title", None)
            if name in notes:
                shape.setdefault("description", notes[name])


def notes_of(model: type[BaseModel]) -> dict[str, str]:
    """The strings that stand under fields in the source, by the field's name."""
    notes: dict[str, str] = {}
    for one in reversed(model.__mro__):
        if not issubclass(one, BaseModel) or one is BaseModel:
            continue
        (body,) = ast.parse(dedent(inspect.getsource(one))).body
        lines = body.body if isinstance(body, ast.ClassDef) else []
        for field, note in pairwise(lines):
            match field, note:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(text))),
                ):
                    notes[name] = " ".join(text.split())
    return notes


def _short_names(document: dict[str, Any]) -> dict[str, Any]:
    """Schemas called as their classes are, with the file before it where two are called so."""
    schemas = document["components"]["schemas"]
    short = {name: ".".join(name.split("__")[-2:]).removesuffix("-Output") for name in schemas}
    document["components"]["schemas"] = {short[name]: one for name, one in schemas.items()}
    for method in document["methods"]:
        method["result"]["name"] = short[method["result"]["name"]]
    named: dict[str, Any] = _renamed(
        document, {_SCHEMAS + a: _SCHEMAS + b for a, b in short.items()}
    )
    return named


def _renamed(value: Any, refs: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {
            key: refs.get(one, one) if key == "$ref" else _renamed(one, refs)
            for key, one in value.items()
        }
    return [_renamed(one, refs) for one in value] if isinstance(value, list) else value


def _refers(value: Any, name: str) -> bool:
    if isinstance(value, dict):
        return value.get("$ref") == _SCHEMAS + name or any(_refers(v, name) for v in value.values())
    return isinstance(value, list) and any(_refers(one, name) for one in value)


def _key(code: int) -> str:
    return f"E{-code}"


def _error(code: int) -> dict[str, Any]:
    return {"code": code, "message": CODES[code]}
