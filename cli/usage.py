"""What can be typed, in chapters; and what can't be taken, in a sentence with what is allowed."""

from typing import TYPE_CHECKING, Any

from typer import BadParameter
from typer.core import TyperGroup

from cli.output import safe

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_WHOLE = ("int_parsing", "int_from_float", "int_type", "int_parsing_size")
_NUMBERS = (*_WHOLE, "float_parsing", "finite_number")
_TOO_FAR = ("greater_than", "greater_than_equal", "less_than", "less_than_equal")


CHAPTERS = {
    "Stores and sessions": ("init", "open", "new", "sessions", "switch", "status"),
    "The dialogue": ("message", "run", "step", "drafts", "accept", "history", "prune"),
    "You and the mind": ("signal", "think", "thoughts", "embed", "cluster", "why", "note"),
    "What was said before": (
        *("start", "search", "context", "dashboard"),
        *("artifact", "effort", "fact", "event"),
    ),
    "The past": ("log", "show", "at", "prompt", "audit"),
    "Branches": ("fork", "label", "rename", "archive", "diff", "bisect", "pick", "replay"),
    "The history as a database": ("query", "report", "rebuild", "analyse"),
    "Proof, and what may leave": ("verify", "head", "redact", "export", "import"),
    "Stores on servers": ("store", "work"),
    "The terminal app, and other programs": ("chat", "serve", "mcp"),
    "Agents": ("project", "task", "role", "agent"),
    "Settings and minds": ("config", "model", "doctor"),
}
"""All verbs as the help shows them: fifty in one list would be found by nobody."""


class Verbs(TyperGroup):
    """The verbs, which say in a sentence what one of their options does not take."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Chapter by chapter, aligned with each other."""
        widest = max(map(len, self.commands))
        for chapter, verbs in CHAPTERS.items():
            rows = [
                (verb.ljust(widest), command.get_short_help_str(formatter.width - 6 - widest))
                for verb in verbs
                if (command := self.get_command(ctx, verb)) is not None
            ]
            if rows:
                with formatter.section(chapter):
                    formatter.write_dl(rows)

    def invoke(self, ctx: Any) -> Any:
        """As any group does it."""
        try:
            return super().invoke(ctx)
        except BadParameter as error:
            told: Any = getattr(error.__cause__, "errors", None)
            if told is not None:
                error.message = safe(_sentence(told()[0], error.param)) or error.message
            raise


def _sentence(problem: "ErrorDetails", param: Any) -> str:
    """What is wrong with a value; nothing where nobody knows it better than who found out."""
    kind, given = problem["type"], problem["input"]
    if kind in (*_NUMBERS, *_TOO_FAR):
        what = "a whole number" if kind in _WHOLE or _is_whole(param) else "a number"
        return f"{str(given)!r} is not taken, give {what}{_range(param)}."
    if kind == "value_error":
        return str(problem.get("ctx", {}).get("error", ""))
    return ""


def _is_whole(param: Any) -> bool:
    bounds = [bound for bound in (param.min, param.max) if bound is not None]
    return bool(bounds) and all(isinstance(bound, int) for bound in bounds)


def _range(param: Any) -> str:
    low, high = getattr(param, "min", None), getattr(param, "max", None)
    if low is None:
        return "" if high is None else f", {high} at most"
    return f" from {low} to {high}" if high is not None else f", {low} or more"
