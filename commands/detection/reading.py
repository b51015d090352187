"""What a model replied when it looked, understood: JSON within limits, ids against the shelf.

Forgiving about wrapping, strict about meaning: an id that the model made up is left out and noted,
since the rest of what it found is none the worse for it.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError

from domain.artifacts import Shelf
from domain.detection.findings import HERE, Findings, Resolved

_Entry = TypeVar("_Entry")

LONGEST = 20_000
"""Characters of a reply; anything longer is refused unread."""

DEEPEST = 6
"""Brackets within brackets; the form itself has three."""

MOST_FOUND = 6
"""Entries of one list; nobody concludes more in one exchange."""

_PROBLEMS = 5
"""Problems that are named at once."""

_THINKING = re.compile(r"<think>.*?</think>", re.DOTALL)


class Read(NamedTuple):
    """Findings, all of whose ids lie on the shelf."""

    findings: Findings
    dropped: tuple[str, ...] = ()
    """What was left out of the reply, one sentence each."""


class Unusable(NamedTuple):
    """A reply that is no findings."""

    why: str
    """In words that a model can mend its reply by."""


@cache
def schema() -> Mapping[str, Any]:
    """The JSON schema of findings for minds that can be held to one: every key stands there."""
    whole = Findings.model_json_schema()
    held: Mapping[str, Any] = _plain(whole, whole["$defs"])
    return held


def read(text: str, shelf: Shelf) -> Read | Unusable:
    """Understand one reply. Never raises."""
    if len(text) > LONGEST:
        return Unusable(f"it has more than {LONGEST:,} characters")
    body = _object(text)
    if body is None:
        return Unusable("it holds no JSON object")
    if _depth(body) > DEEPEST:
        return Unusable("its brackets are nested too deep")
    try:
        found, _ = json.JSONDecoder(strict=False).raw_decode(body)
    except (ValueError, RecursionError) as error:
        return Unusable(f"it is no JSON ({_cut(str(error))})")
    if not isinstance(found, dict):
        return Unusable("it is no JSON object")
    try:
        # null for "none" is no mistake worth asking again
        findings = Findings.model_validate({k: v for k, v in found.items() if v is not None})
    except ValidationError as error:
        return Unusable("; ".join(_problems(error)))
    if r"\u0000" in findings.model_dump_json():
        return Unusable("it holds NUL characters")
    return checked(findings, shelf)


def checked(findings: Findings, shelf: Shelf) -> Read:
    """The findings without ids of what does not lie on the shelf, or not in that state."""
    efforts = {a.id: a for a in shelf.artifacts if a.type == "effort"}
    open_ = {id_ for id_, effort in efforts.items() if effort.is_open}
    facts = {a.id for a in shelf.artifacts if a.type == "fact"}
    here = {HERE} if findings.opened is not None else set()
    dropped: list[str] = []

    def known(what: str, id_: int | None, ids: set[int]) -> int | None:
        if id_ is None or id_ in ids:
            return id_
        dropped.append(f"{what}: there is no {id_} to choose.")
        return None

    def all_known(what: str, many: tuple[int, ...], ids: set[int]) -> tuple[int, ...]:
        found = [known(what, id_, ids) for id_ in dict.fromkeys(many)]
        return tuple(id_ for id_ in found if id_ is not None)

    def few(what: str, many: tuple[_Entry, ...]) -> tuple[_Entry, ...]:
        if len(many) > MOST_FOUND:
            dropped.append(f"{what}: only {MOST_FOUND} of {len(many)} are kept.")
        return many[:MOST_FOUND]

    opened = findings.opened
    if opened is not None:
        opened = opened.model_copy(update={"parent": known("parent", opened.parent, open_)})
    resolved: dict[int, Resolved] = {}
    for one in findings.resolved:
        if known("resolved", one.effort, open_ | here) is not None:
            resolved.setdefault(one.effort, one)
    reopened = all_known("reopened", findings.reopened, set(efforts) - open_)
    learned = tuple(
        fact.model_copy(update={"supersedes": known("supersedes", fact.supersedes, facts)})
        for fact in findings.learned
    )
    return Read(
        Findings(
            effort=known("effort", findings.effort, open_ | here | set(reopened)),
            mentions=all_known("mentions", findings.mentions, {a.id for a in shelf.artifacts}),
            opened=opened,
            resolved=tuple(resolved.values()),
            reopened=reopened,
            learned=few("learned", learned),
            noted=few("noted", findings.noted),
            words=findings.words,
        ),
        tuple(dropped),
    )


def _object(text: str) -> str | None:
    """The reply from its first brace on, behind thinking, fences and talk."""
    text = _THINKING.sub("", text)
    start = text.find("{")
    return None if start < 0 else text[start:]


def _depth(text: str) -> int:
    """How deep the brackets outside of strings are nested."""
    depth = deepest = 0
    quoted = escaped = False
    for sign in text:
        if escaped:
            escaped = False
        elif quoted:
            escaped, quoted = sign == "\\", sign != '"'
        elif sign == '"':
            quoted = True
        elif sign in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif sign in "}]":
            depth -= 1
    return deepest


def _problems(error: ValidationError) -> Iterator[str]:
    """What is wrong, without the input: it may be long, and the model has it."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    for problem in problems[:_PROBLEMS]:
        where = ".".join(map(str, problem["loc"]))
        yield _cut(f"{where}: {problem['msg']}")


def _cut(text: str) -> str:
    return text if len(text) <= 160 else text[:159] + "…"


def _plain(node: Any, definitions: Mapping[str, Any]) -> Any:
    """A schema without references, titles and defaults, all of whose keys are required."""
    if isinstance(node, list):
        return [_plain(one, definitions) for one in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _plain(definitions[node["$ref"].rpartition("/")[2]], definitions)
    if "properties" in node:
        properties = {k: _plain(v, definitions) for k, v in node["properties"].items()}
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
    left_out = {"title", "description", "default", "$defs"}
    plain = {k: _plain(v, definitions) for k, v in node.items() if k not in left_out}
    if "pattern" in plain:
        # not every engine that holds a model to a schema knows the classes of regular expressions
        plain["pattern"] = plain["pattern"].replace(r"\d", "[0-9]")
    return plain | ({"maxItems": MOST_FOUND} if plain.get("type") == "array" else {})
