"""How a worker hands in what came of its work: a tool, so that the model is held to its form."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from commands.agents.tools import Tool
from domain.agents import Report
from domain.errors import BadText
from domain.events.agents import Status

NAME = "report"

Line = Annotated[str, Field(max_length=4000)]


class _Report(BaseModel):
    model_config = ConfigDict(extra="forbid")

    status: Status
    summary: Annotated[str, Field(min_length=1, max_length=20_000)]
    changes: Annotated[list[Line], Field(max_length=200)] = []
    issues: Annotated[list[Line], Field(max_length=200)] = []
    questions: Annotated[list[Line], Field(max_length=200)] = []


PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "status": {
            "type": "string",
            "enum": ["success", "partial", "failed", "blocked"],
            "description": "success: all is done; partial: some; failed: none; blocked: you need"
            " an answer first",
        },
        "summary": {"type": "string", "description": "what came of it, for whoever sent you"},
        "changes": {
            "type": "array",
            "items": {"type": "string"},
            "description": "what is different now, one line each",
        },
        "issues": {
            "type": "array",
            "items": {"type": "string"},
            "description": "what is wrong or missing, one line each",
        },
        "questions": {
            "type": "array",
            "items": {"type": "string"},
            "description": "what you need to know, one line each",
        },
    },
    "required": ["status", "summary"],
    "additionalProperties": False,
}

ORDERS = (
    "You work alone: nobody reads along, and nobody answers. When you are done, or can't go on,"
    " call the tool `report` once with what came of it; without it your work counts as failed."
)
"""Stands behind the instructions of every worker."""

REMINDER = "You have ended without a report. Call the tool `report` now with what came of it."


class Desk:
    """Where one worker's report is handed in."""

    def __init__(self) -> None:
        self.report: Report | None = None

    @property
    def tool(self) -> Tool:
        """The tool that hands it in; a second report replaces the first."""
        return Tool(
            NAME,
            "Hand in the result of your work, and end. Call it once, as the last thing you do.",
            PARAMETERS,
            self._take,
        )

    async def _take(self, arguments: dict[str, Any]) -> str:
        try:
            told = _Report.model_validate(arguments)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "the report"
            raise BadText(f"The report can't be taken: {where}: {first['msg']}.") from None
        self.report = Report(
            told.status,
            told.summary,
            tuple(told.changes),
            tuple(told.issues),
            tuple(told.questions),
        )
        return "The report is handed in: end here."
