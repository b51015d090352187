"""The texts that a client sends and gets."""

import json
from collections.abc import Mapping
from typing import Any

from cli.client.client import CallFailed

_INTERNAL = -32603


def request(number: int, method: str, params: Mapping[str, Any]) -> str:
    """A call; parameters that are None are left out."""
    given = {name: value for name, value in params.items() if value is not None}
    body = {"jsonrpc": "2.0", "id": number, "method": method, "params": given}
    # ASCII alone, so that half characters reach the other side, which says what it thinks of them
    return json.dumps(body, separators=(",", ":"))


def read(text: str | bytes) -> dict[str, Any]:
    """An answer or a notification.

    Raises:
        CallFailed: it is neither.
    """
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise CallFailed(_INTERNAL, "The other side sent what is no JSON-RPC: is it mind serve?")
    return message


def result_of(answer: Mapping[str, Any]) -> Any:
    """What was answered.

    Raises:
        CallFailed: the answer is no.
    """
    if "error" in answer:
        raise _failure_of(answer["error"])
    return answer.get("result")


def _failure_of(error: Any) -> CallFailed:
    if not isinstance(error, dict):
        return CallFailed(_INTERNAL, "The other side failed without saying why.")
    data = error.get("data")
    data = data if isinstance(data, dict) else {}
    sentence = str(data.get("sentence") or error.get("message") or "It failed.")
    code = error.get("code")
    return CallFailed(code if isinstance(code, int) else _INTERNAL, sentence, data)
