"""From a name or a file to a hook.

A hook is code that runs with the user's rights. So the user names it, on the command line or in
the environment; nothing in a store or in a session's settings can.
"""

import re
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from inspect import isclass, isfunction, signature
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from commands.hooks.auditor import Auditor
from commands.hooks.hook import BadHook, Hook, as_hook
from commands.hooks.novelty import Novelty

GROUP = "logosphere.hooks"
"""The entry points that packages offer hooks by."""

BUILT_IN: Mapping[str, Callable[..., object]] = {"auditor": Auditor, "novelty": Novelty}

Value = int | float | bool | str

_FILE = re.compile(r"(?P<file>.+\.py)(?::(?P<name>\w+))?")
_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(\d{1,18}|\d{0,18}\.\d{1,18})([eE][+-]?\d{1,2})?", re.ASCII)
_MODULES = count(1)


class Spec(NamedTuple):
    """A hook as it was asked for: ``NAME[,key=value…]`` or ``FILE.py[:NAME][,key=value…]``."""

    subject: str
    arguments: dict[str, Value]


def load_hooks(specs: Iterable[str], environment: str = "") -> list[Hook]:
    """Hooks as the user asked for them, in that order.

    Args:
        specs: as in :class:`Spec`, one each.
        environment: the same, any number, quoted as in a shell; these come first.

    Raises:
        BadHook: one of them is not there or not to be had so; none is loaded then.
    """
    try:
        wanted = [*shlex.split(environment), *specs]
    except ValueError as error:
        raise BadHook(f"MIND_HOOKS can't be read ({error}): quote it as in a shell.") from None
    return [_load(read_spec(text)) for text in wanted]


def read_spec(text: str) -> Spec:
    """Take apart what the user asked for.

    Raises:
        BadHook: an argument is not ``key=value``, or given twice.
    """
    subject, *rest = text.split(",")
    arguments: dict[str, Value] = {}
    for part in rest:
        key, equals, value = part.partition("=")
        if not equals or not key.isidentifier():
            raise BadHook(
                f"{part!r} is no argument of a hook: write key=value, as in {subject},every=5."
            )
        if key in arguments:
            raise BadHook(f"{text!r} gives {key!r} twice: once is enough.")
        arguments[key] = _value(value)
    return Spec(subject, arguments)


def _value(text: str) -> Value:
    if text in {"true", "false"}:
        return text == "true"
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else text


def _load(spec: Spec) -> Hook:
    named = _FILE.fullmatch(spec.subject)
    if named is not None:
        return _from_file(Path(named["file"]).expanduser(), named["name"], spec)
    built_in = BUILT_IN.get(spec.subject)
    if built_in is not None:
        return _made(built_in, spec.subject, spec)
    offered = _offered()
    found = [entry for entry in offered if entry.name == spec.subject]
    if not found:
        known = ", ".join(sorted({*BUILT_IN, *(entry.name for entry in offered)}))
        raise BadHook(
            f"There is no hook {spec.subject!r}: there are {known}; a file of yours is named as"
            " FILE.py."
        )
    if len(found) > 1:
        packages = " and ".join(sorted(entry.dist.name for entry in found if entry.dist))
        raise BadHook(f"Hook {spec.subject!r} is offered by {packages}: uninstall all but one.")
    subject = _run(found[0].load, f"Hook {spec.subject!r} can't be imported")
    return _made(subject, spec.subject, spec)


def _offered() -> Sequence[EntryPoint]:
    return tuple(entry_points(group=GROUP))


def _from_file(file: Path, name: str | None, spec: Spec) -> Hook:
    if not file.is_file():
        raise BadHook(f"There is no hook file {str(file)!r}: name a Python file that is here.")
    module = _module(file)
    hooks = _hooks_in(module)
    if name is not None:
        subject = getattr(module, name, None)
        if subject is None:
            has = f"it has {', '.join(hooks)}" if hooks else "it has no hook at all"
            raise BadHook(f"There is no {name!r} in {str(file)!r}: {has}.")
        return _made(subject, name, spec)
    if not hooks:
        raise BadHook(
            f"There is no hook in {str(file)!r}: write a class with before(turn) or after(turn),"
            " or def hook(turn)."
        )
    if len(hooks) > 1:
        raise BadHook(
            f"There are {len(hooks)} hooks in {str(file)!r}: name one, as in"
            f" {file}:{next(iter(hooks))} ({', '.join(hooks)})."
        )
    (subject,) = hooks.values()
    return _made(subject, re.sub(r"[^\w.-]", "-", file.stem), spec)


def _module(file: Path) -> ModuleType:
    name = f"logosphere_hook_{next(_MODULES)}"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise BadHook(f"{str(file)!r} can't be imported: name a Python file.")
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look themselves up there
    _run(partial(spec.loader.exec_module, module), f"Hook file {str(file)!r} can't be run")
    return module


def _hooks_in(module: ModuleType) -> dict[str, Any]:
    """The hooks that a file defines itself, by name."""
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
        if (isclass(value) and (hasattr(value, "before") or hasattr(value, "after")))
        or (isfunction(value) and name == "hook")
    }


def _made(subject: Any, name: str, spec: Spec) -> Hook:
    """The hook itself: a class is called with the arguments, a function gets them each time."""
    if isclass(subject):
        _check(subject, name, spec.arguments, turns=0)
        made = _run(partial(subject, **spec.arguments), f"Hook {name!r} can't be made")
        return as_hook(made, name)
    if isfunction(subject):
        _check(subject, name, spec.arguments, turns=1)
        return as_hook(partial(subject, **spec.arguments), name)
    if spec.arguments:
        raise BadHook(f"Hook {name!r} is made already, and takes no arguments.")
    return as_hook(subject, name)


def _check(
    subject: Callable[..., object], name: str, arguments: Mapping[str, Value], *, turns: int
) -> None:
    takes = signature(subject)
    try:
        takes.bind(*range(turns), **arguments)
    except TypeError as error:
        known = ", ".join([*takes.parameters][turns:]) or "no arguments"
        raise BadHook(f"Hook {name!r} can't be called so ({error}): it takes {known}.") from None


def _run(call: Callable[[], Any], otherwise: str) -> Any:
    """Run code of the user's; what it raises becomes a refusal."""
    try:
        with redirect_stdout(sys.stderr):
            return call()
    except (Exception, SystemExit) as error:
        what = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
        raise BadHook(f"{otherwise}: {' '.join(what.split()).rstrip('.')}.") from error
