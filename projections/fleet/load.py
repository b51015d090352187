"""From a name or a file to a job.

A job of the user's is code that runs with the user's rights. So the user names it, on the command
line; nothing in a store can. What is sent to workers is its source, so that all run the same.
"""

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stdout
from datetime import datetime
from functools import cache
from hashlib import sha256
from inspect import getdoc, isfunction, signature
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, cast, get_args

from domain.events import EVENTS
from domain.nearest import nearest
from domain.streams import Family
from projections.fleet.built_in import BUILT_IN
from projections.fleet.jobs import BadJob, Column, Job, Type

FUNCTION = "rows"
"""The function of a file that names none."""

_FILE = re.compile(r"(?P<file>.+\.py)(?::(?P<name>\w+))?")
_NAMED: Mapping[type, Type] = {
    str: "text",
    int: "int",
    float: "float",
    bool: "bool",
    datetime: "time",
}
_ADDED_UP = frozenset({"int", "float"})


class Code(NamedTuple):
    """What a worker needs to have the same job."""

    name: str
    """Of a built-in job, or of the function."""
    file: str | None = None
    source: bytes = b""

    @property
    def version(self) -> str:
        """Names the code for ever: what results are a function of, beside the log."""
        seal = sha256(_own_source())
        for part in (self.name.encode(), self.source):
            seal.update(len(part).to_bytes(8, "big") + part)
        return seal.hexdigest()[:16]


def code_of(text: str) -> Code:
    """The code that a user means: a built-in job's name, or ``FILE.py[:FUNCTION]``.

    Raises:
        BadJob: there is none.
    """
    named = _FILE.fullmatch(text)
    if named is None:
        if text not in BUILT_IN:
            near = nearest(text, BUILT_IN)
            raise BadJob(
                f"There is no job {text!r}; there are {', '.join(near)}, or name a function of"
                " yours as FILE.py:FUNCTION."
            )
        return Code(text)
    file = Path(named["file"]).expanduser()
    if not file.is_file():
        raise BadJob(f"There is no job file {str(file)!r}: name a Python file that is here.")
    try:
        source = file.read_bytes()
    except OSError as error:
        raise BadJob(f"{str(file)!r} can't be read: {error.strerror}.") from None
    return Code(named["name"] or FUNCTION, str(file), source)


@cache
def load(code: Code) -> Job:
    """The job itself, of code that the user named.

    Raises:
        BadJob: it can't be run, or says of itself what can't be.
    """
    if code.file is None:
        return BUILT_IN[code.name]
    module = _module(code.file, code.source)
    function = getattr(module, code.name, None)
    if not isfunction(function):
        having = ", ".join(_functions(module)) or "none at all"
        raise BadJob(f"There is no function {code.name!r} in {code.file!r}: it has {having}.")
    try:
        signature(function).bind(None, None)
    except TypeError:
        raise BadJob(
            f"{code.name!r} of {code.file!r} has to take two things, as in"
            f" def {code.name}(branch, events)."
        ) from None
    return _described(function, code.name)


def _module(file: str, source: bytes) -> ModuleType:
    module = ModuleType(f"logosphere_job_{sha256(source).hexdigest()[:16]}")
    module.__file__ = file
    sys.modules[module.__name__] = module  # dataclasses look themselves up there
    try:
        with redirect_stdout(sys.stderr):
            exec(compile(source, file, "exec"), module.__dict__)  # noqa: S102 — the user named it
    except (Exception, SystemExit) as error:
        what = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".")
        raise BadJob(f"Job file {file!r} can't be run: {what}.") from error
    return module


def _functions(module: ModuleType) -> list[str]:
    return [
        name
        for name, value in vars(module).items()
        if isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
    ]


def _described(function: Callable[..., Any], name: str) -> Job:
    """What a function says of itself, by attributes that are called as those of a job."""
    whole = getattr(function, "whole", False)
    if not isinstance(whole, bool):
        raise _bad(name, f"whole is {whole!r}; say True or False")
    columns = _columns(name, getattr(function, "columns", {}))
    types = {column.name: column.type for column in columns}
    by = _names(name, function, "by", types)
    for column, type_ in types.items():
        if by and column not in by and type_ not in _ADDED_UP:
            raise _bad(name, f"{column!r} can't be added up: name it in by, or leave it out")
    return Job(
        name,
        function,
        (getdoc(function) or "").partition("\n")[0],
        columns,
        whole,
        _names(name, function, "kinds", EVENTS) or None,
        cast("tuple[Family, ...]", _names(name, function, "families", get_args(Family)))
        or ("session",),
        by,
    )


def _names(
    job: str, function: Callable[..., Any], what: str, having: Iterable[str]
) -> tuple[str, ...]:
    """Names that a function holds in an attribute, all of them known."""
    found = getattr(function, what, ())
    if not isinstance(found, list | tuple):
        raise _bad(job, f"{what} is {found!r}; give a tuple of names")
    known = list(having)
    for name in found:
        if name not in known:
            there = ", ".join(nearest(str(name), known)) or "none at all"
            raise _bad(job, f"{what} names {name!r}, which is not there; there is {there}")
    return tuple(found)


def _columns(job: str, said: Any) -> tuple[Column, ...]:
    if not isinstance(said, Mapping):
        raise _bad(job, f"columns is {said!r}; give a dict of names and types")
    for name, type_ in said.items():
        if not isinstance(name, str) or type_ not in _NAMED:
            known = ", ".join(one.__name__ for one in _NAMED)
            raise _bad(job, f"column {name!r} can't be of {type_!r}; a column is of {known}")
    return tuple(Column(name, _NAMED[type_]) for name, type_ in said.items())


def _bad(job: str, what: str) -> BadJob:
    return BadJob(f"Job {job!r}: {what}.")


@cache
def _own_source() -> bytes:
    """The source of this package: workers of another version would give other results."""
    here = Path(__file__).parent
    return b"".join(file.read_bytes() for file in sorted(here.glob("*.py")))
