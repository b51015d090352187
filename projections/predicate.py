"""A condition on facts, as people write it in Python or SQL: read, and checked to the last part.

It is worked out by walking its own syntax tree: nothing of Python is run, no attribute is read but
``config.KEY``, and how long it takes is bounded. What is not there is None: a comparison with None
does not hold (but for ``==``, ``!=`` and ``is``), and what is computed from it is None again, as
is an element behind the end of a list or a division by zero.
"""

import ast
import warnings
from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar, NamedTuple

from domain.errors import BadExpression
from domain.nearest import nearest
from projections.evaluate import SIGNS, Look
from projections.spelling import as_python

LONGEST = 1000
"""Characters of a condition."""

DEEPEST = 60
"""How far parts of a condition may stand in other parts."""

FUNCTIONS = ("len", "min", "max", "sum", "any", "all", "lower")
_PATTERNS = ("like", "ilike")
_LARGEST = 10**18

_ALLOWED = (
    "a condition has facts, constants, comparisons, and, or, not, + - * / %, indexing,"
    f" (… for x in …) and {', '.join(FUNCTIONS)}"
)


class Predicate(NamedTuple):
    """A condition that can be asked of the facts of any moment."""

    text: str
    """As it was written."""
    tree: ast.expr

    def value(self, facts: Mapping[str, Any]) -> Any:
        """What it comes to; only the facts that it names are looked up.

        Raises:
            BadExpression: it compares or adds what can't be, or takes too long.
        """
        return Look(facts).value(self.tree, {})

    def holds(self, facts: Mapping[str, Any]) -> bool:
        """Whether it holds: a text or a list does where it is not empty, None never.

        Raises:
            BadExpression: as :meth:`value`.
        """
        return bool(self.value(facts))


def predicate(text: str, facts: Collection[str], settings: Collection[str]) -> Predicate:
    """Read a condition.

    Args:
        text: the condition.
        facts: the names that it may use.
        settings: the keys behind ``config.``.

    Raises:
        BadExpression: it is none, or names what there is not.
    """
    if len(text) > LONGEST:
        raise BadExpression(
            f"The condition has {len(text):,} characters, at most {LONGEST:,} are taken: ask for"
            " less, or use --run."
        )
    if not text.strip():
        raise BadExpression("The condition is empty: write one, such as draft_count >= 3.")
    tree = _parsed(as_python(text))
    if isinstance(tree, ast.Tuple | ast.List):
        raise BadExpression("The condition is a list: write one condition.")
    _check_depth(tree)
    _Reading(facts, settings).check(tree, frozenset())
    return Predicate(text, tree)


def _parsed(source: str) -> ast.expr:
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(source, mode="eval").body
    except SyntaxError as error:
        rest = source[max((error.offset or 1) - 1, 0) :].removesuffix(")").strip()
        where = f"can't be read near {rest[:30]!r}" if rest else "ends too early"
        raise BadExpression(f"The condition {where}: {_ALLOWED}.") from None
    except (ValueError, RecursionError, MemoryError):
        raise BadExpression(f"The condition can't be read: {_ALLOWED}.") from None


def _check_depth(tree: ast.AST) -> None:
    level, depth = [tree], 0
    while level:
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        depth += 1
        if depth > DEEPEST:
            raise BadExpression("The condition is nested too deeply: ask for less, or use --run.")


Names = frozenset[str]
"""The names behind ``for`` around a part."""


class _Reading:
    """What may be named; nothing else may."""

    def __init__(self, facts: Collection[str], settings: Collection[str]) -> None:
        self._facts, self._settings = facts, settings

    def check(self, node: ast.expr, bound: Names) -> None:
        """Refuse whatever is no part of a condition."""
        if type(node) not in self._CHECKS:
            raise _refusal(node)
        self._CHECKS[type(node)](self, node, bound)

    def _constant(self, node: ast.Constant, _: Names) -> None:
        value = node.value
        if isinstance(value, int | float) and abs(value) > _LARGEST:
            raise BadExpression("A number of the condition is too large: write at most 18 digits.")
        if value is not None and not isinstance(value, str | int | float):
            raise _refusal(node)

    def _name(self, node: ast.Name, bound: Names) -> None:
        name = node.id
        if name in bound or name in self._facts:
            return
        if name in FUNCTIONS:
            raise BadExpression(f"{name} is a function: write {name}(…).")
        near = ", ".join(nearest(name, self._facts, 3))
        raise BadExpression(
            f"There is no fact {name!r}; the nearest are {near} (mind bisect --facts lists all)."
        )

    def _setting(self, node: ast.Attribute, _: Names) -> None:
        if not (isinstance(node.value, ast.Name) and node.value.id == "config"):
            raise BadExpression(
                f"{_written(node)} can't be reached: only config.KEY is written with a dot, and"
                " functions stand before what they take, as in lower(draft)."
            )
        if node.attr not in self._settings:
            near = ", ".join(f"config.{key}" for key in nearest(node.attr, self._settings, 3))
            raise BadExpression(
                f"There is no setting {node.attr!r}; the nearest are {near} (mind config lists"
                " all)."
            )

    def _call(self, node: ast.Call, bound: Names) -> None:
        if isinstance(node.func, ast.Attribute):
            self._setting(node.func, bound)
        name = ast.unparse(node.func)
        if name not in FUNCTIONS:
            raise BadExpression(
                f"There is no function {_written(node.func)}: there are {', '.join(FUNCTIONS)}."
            )
        several = name in {"min", "max"} and len(node.args) > 1
        if node.keywords or not (len(node.args) == 1 or several):
            raise BadExpression(f"{_written(node)} should have one value: {name}(drafts).")
        self._all(node.args, bound)

    def _each(self, node: ast.GeneratorExp | ast.ListComp, bound: Names) -> None:
        for part in node.generators:
            self.check(part.iter, bound)
            if not isinstance(part.target, ast.Name) or part.is_async:
                raise BadExpression(f"{_written(part.target)} can't stand behind for: use a name.")
            if part.target.id in {*self._facts, *FUNCTIONS}:
                raise BadExpression(f"{part.target.id!r} has a meaning: use another name for it.")
            bound |= {part.target.id}
            self._all(part.ifs, bound)
        self.check(node.elt, bound)

    def _compare(self, node: ast.Compare, bound: Names) -> None:
        for op, other in zip(node.ops, node.comparators, strict=True):
            if isinstance(op, ast.Is | ast.IsNot) and not _is_single(other):
                raise BadExpression("is stands before None, True or False only: write == instead.")
        others = [other for other in node.comparators if not _is_pattern(other)]
        self._all([node.left, *others], bound)

    def _list(self, node: ast.Tuple | ast.List | ast.BoolOp, bound: Names) -> None:
        self._all(node.values if isinstance(node, ast.BoolOp) else node.elts, bound)

    def _alone(self, node: ast.UnaryOp, bound: Names) -> None:
        if isinstance(node.op, ast.Invert):
            raise _refusal(node)
        self.check(node.operand, bound)

    def _pair(self, node: ast.BinOp, bound: Names) -> None:
        if type(node.op) not in SIGNS:
            raise _refusal(node)
        self._all([node.left, node.right], bound)

    def _element(self, node: ast.Subscript, bound: Names) -> None:
        self._all([node.value, node.slice], bound)

    def _all(self, nodes: list[ast.expr], bound: Names) -> None:
        for node in nodes:
            self.check(node, bound)

    _CHECKS: ClassVar[dict[type[ast.expr], Callable[["_Reading", Any, Names], None]]] = {
        ast.Constant: _constant,
        ast.Name: _name,
        ast.Attribute: _setting,
        ast.Tuple: _list,
        ast.List: _list,
        ast.BoolOp: _list,
        ast.UnaryOp: _alone,
        ast.BinOp: _pair,
        ast.Compare: _compare,
        ast.Subscript: _element,
        ast.GeneratorExp: _each,
        ast.ListComp: _each,
        ast.Call: _call,
    }


def _is_single(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))


def _is_pattern(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in _PATTERNS


def _refusal(node: ast.expr) -> BadExpression:
    return BadExpression(f"{_written(node)} can't be part of a condition: {_ALLOWED}.")


def _written(node: ast.AST) -> str:
    text = ast.unparse(node)
    return repr(text if len(text) <= 40 else text[:39] + "…")
