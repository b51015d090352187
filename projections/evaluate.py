"""Working out a condition that was read: one look at the facts of a moment, with bounded work."""

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

from domain.errors import BadExpression

STEPS = 500_000
"""What one look may take, which is less than a second: a step is a part worked out, or 8 elements
or 256 characters compared."""

_LARGEST = 10**300
"""A whole number up to here can still be compared with, and added to, any other number."""

Bound = Mapping[str, Any]
"""The values of the names behind ``for``."""

SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Mod: "%",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
"""How operators of numbers and orders are written; there are no others of these."""

_COMPUTED: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}
_ORDERED: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_IDENTIFIED: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


class Like(NamedTuple):
    """A pattern of SQL: ``%`` stands for any text, ``_`` for any character."""

    pattern: str
    ignore_case: bool = False

    def fits(self, text: str) -> bool:
        """Whether all of the text is as the pattern says.

        The parts between ``%`` are looked for one after the other, each as early as it can be:
        no pattern makes that slow.
        """
        flags = re.DOTALL | (re.IGNORECASE if self.ignore_case else re.NOFLAG)
        first, *others = [
            re.compile("".join("." if c == "_" else re.escape(c) for c in part), flags)
            for part in self.pattern.split("%")
        ]
        if not others:
            return first.fullmatch(text) is not None
        found = first.match(text)
        for part in others[:-1]:
            found = part.search(text, found.end()) if found else None
        rest = len(text) - len(self.pattern.rpartition("%")[2])
        return found is not None and bool(others[-1].fullmatch(text, max(found.end(), rest)))


class Look:
    """One look at the facts of a moment."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._facts, self._left = facts, STEPS

    def value(self, node: ast.expr, bound: Bound) -> Any:
        """What a part comes to.

        Raises:
            BadExpression: it compares or adds what can't be, or takes too long.
        """
        self._spend(1)
        return self._WORK[type(node)](self, node, bound)

    def _spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise BadExpression(
                "The condition takes too long at one moment: ask for less, or use --run."
            )

    def _read(self, value: Any) -> None:
        if isinstance(value, str):
            self._spend(len(value) // 256)
        elif isinstance(value, Like):
            self._spend(value.pattern.count("_"))
        elif isinstance(value, tuple):
            self._spend(len(value) // 8)

    # parts

    def _name(self, node: ast.Name, bound: Bound) -> Any:
        return bound[node.id] if node.id in bound else self._facts[node.id]

    def _setting(self, node: ast.Attribute, _: Bound) -> Any:
        return self._facts["config"][node.attr]

    def _list(self, node: ast.Tuple | ast.List, bound: Bound) -> tuple[Any, ...]:
        return tuple(self.value(part, bound) for part in node.elts)

    def _joined(self, node: ast.BoolOp, bound: Bound) -> Any:
        """As in Python: the part that decides, so that ``draft or answer`` is one of the two."""
        value = None
        for part in node.values:
            value = self.value(part, bound)
            if bool(value) is isinstance(node.op, ast.Or):
                break
        return value

    def _alone(self, node: ast.UnaryOp, bound: Bound) -> Any:
        value = self.value(node.operand, bound)
        if isinstance(node.op, ast.Not):
            return not value
        return _computed(ast.Sub if isinstance(node.op, ast.USub) else ast.Add, 0, value)

    def _pair(self, node: ast.BinOp, bound: Bound) -> Any:
        one, other = self.value(node.left, bound), self.value(node.right, bound)
        return _computed(type(node.op), one, other)

    def _element(self, node: ast.Subscript, bound: Bound) -> Any:
        whole, place = self.value(node.value, bound), self.value(node.slice, bound)
        if whole is None or place is None:
            return None
        if isinstance(whole, Mapping) and isinstance(place, str):
            return whole.get(place)
        if isinstance(whole, tuple | str) and isinstance(place, int):
            return whole[place] if -len(whole) <= place < len(whole) else None
        raise BadExpression(f"{_kind(whole).capitalize()} has no element {place!r}.")

    def _each(self, node: ast.GeneratorExp | ast.ListComp, bound: Bound) -> tuple[Any, ...]:
        return tuple(self._through(node.elt, node.generators, bound))

    def _through(
        self, wanted: ast.expr, loops: list[ast.comprehension], bound: Bound
    ) -> Iterator[Any]:
        if not loops:
            yield self.value(wanted, bound)
            return
        loop, *inner = loops
        name = ast.unparse(loop.target)
        for element in _elements("for", self.value(loop.iter, bound)):
            self._spend(1)
            here = {**bound, name: element}
            if all(self.value(condition, here) for condition in loop.ifs):
                yield from self._through(wanted, inner, here)

    # comparisons

    def _holds(self, node: ast.Compare, bound: Bound) -> bool:
        one = self.value(node.left, bound)
        for op, right in zip(node.ops, node.comparators, strict=True):
            other = self.value(right, bound)
            self._read(one)
            self._read(other)
            if not _compared(type(op), one, other):
                return False
            one = other
        return True

    # functions

    def _called(self, node: ast.Call, bound: Bound) -> Any:
        name, args = ast.unparse(node.func), [self.value(arg, bound) for arg in node.args]
        value = args[0] if len(args) == 1 else tuple(args)
        self._read(value)
        if name in {"like", "ilike"}:
            return Like(_text(name, value), ignore_case=name == "ilike")
        if name in {"any", "all"}:
            return (any if name == "any" else all)(_elements(name, value))
        if value is None:
            return None
        if name == "lower":
            return _text(name, value).lower()
        if name == "len":
            return len(value if isinstance(value, str) else _elements(name, value))
        return self._gathered(name, [v for v in _elements(name, value) if v is not None])

    def _gathered(self, name: str, values: list[Any]) -> Any:
        self._spend(len(values))
        kinds = {_kind(value) for value in values} - {"True or False"}
        if kinds - {"a number"} and (name == "sum" or kinds != {"a text"}):
            wanted = "numbers" if name == "sum" else "numbers or texts"
            raise BadExpression(f"{name} takes {wanted}, all of one kind.")
        if name == "sum":
            return sum(values)
        return (min if name == "min" else max)(values) if values else None

    _WORK: ClassVar[dict[type[ast.expr], Callable[["Look", Any, Bound], Any]]] = {
        ast.Constant: lambda _, node, __: node.value,
        ast.Name: _name,
        ast.Attribute: _setting,
        ast.Tuple: _list,
        ast.List: _list,
        ast.BoolOp: _joined,
        ast.UnaryOp: _alone,
        ast.BinOp: _pair,
        ast.Compare: _holds,
        ast.Subscript: _element,
        ast.GeneratorExp: _each,
        ast.ListComp: _each,
        ast.Call: _called,
    }


def _computed(op: type[ast.operator], one: Any, other: Any) -> Any:
    for value in (one, other):
        if value is not None and not isinstance(value, int | float):
            raise BadExpression(f"{SIGNS[op]} takes numbers, not {_kind(value)}.")
    if one is None or other is None:
        return None
    try:
        number = _COMPUTED[op](one, other)
    except ZeroDivisionError:
        return None
    except OverflowError:
        number = _LARGEST + 1
    if isinstance(number, int) and abs(number) > _LARGEST:
        raise BadExpression("The condition computes a number that is too large.")
    return number


def _compared(op: type[ast.cmpop], one: Any, other: Any) -> bool:
    if op in _IDENTIFIED:
        return _IDENTIFIED[op](one, other)
    if op in {ast.In, ast.NotIn}:
        return _contains(other, one) is (op is ast.In)
    if one is None or other is None:
        return False
    numbers = isinstance(one, int | float) and isinstance(other, int | float)
    if not numbers and not (isinstance(one, str) and isinstance(other, str)):
        raise BadExpression(f"{SIGNS[op]} can't compare {_kind(one)} with {_kind(other)}.")
    return _ORDERED[op](one, other)


def _contains(whole: Any, one: Any) -> bool:
    if isinstance(whole, Like):
        return one is not None and whole.fits(_text("LIKE", one))
    if whole is None or (one is None and isinstance(whole, str)):
        return False
    if isinstance(whole, tuple) or (isinstance(whole, Mapping | str) and isinstance(one, str)):
        return one in whole
    raise BadExpression(f"in can't look for {_kind(one)} in {_kind(whole)}.")


def _elements(name: str, value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    if isinstance(value, Mapping | tuple) and not isinstance(value, Like):
        return tuple(value)
    raise BadExpression(f"{name} goes through a list, not {_kind(value)}.")


def _text(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    raise BadExpression(f"{name} takes a text, not {_kind(value)}.")


def _kind(value: Any) -> str:
    names = {bool: "True or False", int: "a number", float: "a number", str: "a text"}
    return names.get(type(value), "nothing" if value is None else "a list")
