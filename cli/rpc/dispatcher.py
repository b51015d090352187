"""JSON-RPC 2.0, without a wire: a text comes in, the text of the answer goes out.

Source: https://www.jsonrpc.org/specification
"""

import json
import logging
import math
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, NoReturn

from pydantic import ValidationError

from cli.rpc.errors import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    as_rpc_error,
    bad_params,
    bad_request,
    names_of,
    of_validation,
    said,
)
from cli.rpc.method import Method, Params, Peer, RpcError
from domain.errors import LogosphereError
from domain.nearest import similar

LOGGER = logging.getLogger(__name__)

MOST_IN_BATCH = 100

Id = str | int | float | None

Gate = Callable[[Peer, str], None]
"""Asked before each call, with the name of its method; raises RpcError where it may not be."""


class Absent(NamedTuple):
    """No id: a notification, which nobody awaits an answer to."""


class Call(NamedTuple):
    """One request, or notification."""

    id: Id | Absent
    method: str
    params: Mapping[str, Any] | list[Any]


class Dispatcher:
    """Finds the method of each request, checks its parameters, and words the answer."""

    def __init__(self, methods: Mapping[str, Method], *, gate: Gate | None = None) -> None:
        self._methods = methods
        self._gate = gate

    async def answer(self, peer: Peer, text: str) -> str | None:
        """Answer one message or batch; None where it was made of notifications alone.

        The method has begun before this first awaits anything, so that calls begin in the order
        in which they are given. Those of a batch run one after the other.
        """
        try:
            message = parse(text)
        except RpcError as error:
            return refused(None, error)
        if not isinstance(message, list):
            return await self._one(peer, message)
        if not message:
            return refused(None, bad_request("The batch is empty."))
        if len(message) > MOST_IN_BATCH:
            sentence = f"A batch has at most {MOST_IN_BATCH} requests: this one has {len(message)}."
            return refused(None, bad_request(sentence))
        answers = [answer for one in message if (answer := await self._one(peer, one)) is not None]
        return f"[{','.join(answers)}]" if answers else None

    async def _one(self, peer: Peer, message: Any) -> str | None:
        try:
            call = as_call(message)
        except RpcError as error:
            return refused(_id_of(message), error)
        try:
            text = await self._call(peer, call)
        except RpcError as error:
            if isinstance(call.id, Absent):
                LOGGER.info("notification %r was refused: %s", call.method, error)
                return None
            return refused(call.id, error)
        if isinstance(call.id, Absent):
            return None
        return f'{{"jsonrpc":"2.0","id":{_dump(call.id)},"result":{text}}}'

    async def _call(self, peer: Peer, call: Call) -> str:
        """The result as JSON."""
        if self._gate is not None:
            self._gate(peer, call.method)
        method = self._methods.get(call.method)
        if method is None:
            self._unknown(call.method)
        try:
            result = await method.run(peer, checked(method, call.params))
            return _dump(result.model_dump(by_alias=True))
        except RpcError:
            raise
        except LogosphereError as error:
            raise as_rpc_error(error) from error
        except Exception as error:
            LOGGER.exception("method %r failed", method.name)
            sentence = f"{method.name!r} failed for a reason that the server's log tells."
            raise said(INTERNAL_ERROR, sentence, "InternalError") from error

    def _unknown(self, name: str) -> NoReturn:
        like = similar(name[:64], self._methods)
        known = f"did you mean {' or '.join(like)}?" if like else "rpc.discover lists them."
        sentence = f"There is no method {name[:64]!r}: {known}"
        raise said(METHOD_NOT_FOUND, sentence, "NoSuchMethod")


def parse(text: str) -> Any:
    """The JSON of a text.

    Raises:
        RpcError: -32700, it is none, or is nested too deeply to be read.
    """
    try:
        return json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        where = f" ({error})" if isinstance(error, json.JSONDecodeError) else ""
        raise said(PARSE_ERROR, f"The text is no JSON{where}.", "BadJson") from None


def _too_deep() -> RpcError:
    return said(PARSE_ERROR, "The JSON is nested too deeply.", "BadJson")


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def as_call(message: Any) -> Call:
    """The request that a piece of JSON is.

    Raises:
        RpcError: -32600, it is none.
    """
    if not isinstance(message, dict):
        raise bad_request("A request is an object.")
    if message.get("jsonrpc") != "2.0":
        raise bad_request('A request has "jsonrpc": "2.0".')
    method, params = message.get("method"), message.get("params", {})
    if not isinstance(method, str):
        raise bad_request('A request has a "method", which is a string.')
    if not isinstance(params, dict | list):
        raise bad_request('The "params" of a request are an object or a list.')
    if not _is_text(message):
        raise bad_request("A text of the request holds half a character, which nothing can keep.")
    if "id" not in message:
        return Call(Absent(), method, params)
    if not _is_id(message["id"]):
        raise bad_request('The "id" of a request is a string, a number or null.')
    return Call(message["id"], method, params)


def _is_text(value: Any) -> bool:
    """Whether all that stands in it can be written as UTF-8: JSON can name halves of a pair.

    Raises:
        RpcError: -32700, it could just be read, and is nested too deeply for anything else.
    """
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    except RecursionError:
        raise _too_deep() from None
    return True


def _is_id(value: Any) -> bool:
    return (
        value is None
        or (isinstance(value, str) and _is_text(value))
        or (isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value))
    )


def _id_of(message: Any) -> Id:
    """The id of what is no valid request, as far as one can be made out."""
    id_ = message.get("id") if isinstance(message, dict) else None
    return id_ if _is_id(id_) else None


def checked(method: Method, params: Mapping[str, Any] | list[Any]) -> Params:
    """The parameters as the method takes them; those of a list in the order of its fields.

    Raises:
        RpcError: -32602, naming the field.
    """
    if isinstance(params, list):
        names = names_of(method.params)
        if len(params) > len(names):
            most = f"{len(names)} parameter{'' if len(names) == 1 else 's'}"
            raise bad_params(f"{method.name!r} takes at most {most}: there are {len(params)}.")
        params = dict(zip(names, params, strict=False))
    try:
        return method.params.model_validate(params, by_alias=True, by_name=False)
    except ValidationError as error:
        raise of_validation(method.name, method.params, error) from None


def refused(id_: Id, error: RpcError) -> str:
    """The text of an answer that says no."""
    body: dict[Literal["code", "message", "data"], Any]
    body = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = dict(error.data)
    return _dump({"jsonrpc": "2.0", "id": id_, "error": body})


def notification(method: str, params: Mapping[str, Any]) -> str:
    """The text of a notification."""
    return _dump({"jsonrpc": "2.0", "method": method, "params": params})


def _dump(value: Any) -> str:
    """As JSON that any UTF-8 wire carries, whatever half characters a text has in it."""
    try:
        text = _json(value)
    except ValueError:
        text = _json(_finite(value))
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _json(value: Any) -> str:
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain
    )


def _finite(value: Any) -> Any:
    """As it is, with null for what JSON has no number for."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, list | tuple) else value


def _plain(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else str(value)
