"""Reads what a module imports and calls from its syntax tree, functions and strings included."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Reading:
    """What one module names of the outside world: (line, dotted name) each."""

    imports: list[tuple[int, str]] = field(default_factory=list)
    uses: list[tuple[int, str]] = field(default_factory=list)


def read(source: str) -> Reading:
    """Read a module; relative imports stay in their own package and are left out.

    A dotted name is spelled from where it comes: after `import random as r`, `r.choice` is used
    as `random.choice`. Modules named by a string in `import_module` or `__import__` count too.
    """
    tree = ast.parse(source)
    origins: dict[str, str] = {}
    reading = Reading()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name, local, origin in _imported(node):
                reading.imports.append((node.lineno, name))
                origins[local] = origin
    reading.uses.extend(_used(tree, origins))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _dotted(node.func, origins) in {
            "importlib.import_module",
            "__import__",
        }:
            told = node.args[0] if node.args else None
            named = told.value if isinstance(told, ast.Constant) else "a name made at run time"
            reading.imports.append((node.lineno, str(named)))
    return reading


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str, str]]:
    """Give (module, local name, what the local name stands for) for an import statement."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            root = alias.name.partition(".")[0]
            yield alias.name, alias.asname or root, alias.name if alias.asname else root
    elif node.level == 0 and node.module:
        for alias in node.names:
            yield node.module, alias.asname or alias.name, f"{node.module}.{alias.name}"


def _used(tree: ast.AST, origins: dict[str, str]) -> Iterator[tuple[int, str]]:
    """Give each name and dotted name; a call has `()` behind it when it is given nothing."""
    calls = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute | ast.Name) or id(node) in inner:
            continue
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            continue  # a field called ``open`` opens nothing
        call = calls.get(id(node))
        nothing = call is not None and all(
            isinstance(given, ast.Constant) and given.value is None
            for given in [*call.args, *(word.value for word in call.keywords)]
        )
        name = _dotted(node, origins)
        yield node.lineno, f"{name}()" if nothing else name


def _dotted(node: ast.expr, origins: dict[str, str]) -> str:
    """Spell a name from where it comes; what is no plain name (`f().x`) begins with a dot."""
    if isinstance(node, ast.Name):
        return origins.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value, origins)}.{node.attr}"
    return ""
