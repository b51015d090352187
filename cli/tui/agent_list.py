"""Who is at work: the agents beside the drafted one, and those that it sent out."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from cli.tui.agent_shapes import Member, Report
from cli.tui.texts import FAINT, content, duration, one_line

_SIGNS = {"working": "●", "waiting": "◌", "idle": "○"}


class Row(NamedTuple):
    """An agent on a line or two."""

    agent: str
    role: str
    state: str
    ms: int
    """How long it has been there, to the second, or was."""
    cost: str
    ended: bool = False


def row_of(member: Member, now: datetime) -> Row:
    """An agent that is there."""
    begun = datetime.fromisoformat(member.begun)
    state = f"{member.state}, {member.waiting} wait" if member.waiting > 1 else member.state
    return Row(
        member.agent,
        member.role,
        state,
        max(0, int((now - begun).total_seconds())) * 1000,
        member.cost,
    )


def row_of_ended(report: Report) -> Row:
    """An agent that has ended."""
    return Row(report.agent, report.role, report.how, report.duration_ms, report.cost, ended=True)


def list_text(rows: Sequence[Row]) -> Content:
    """Name and state, and below them role, time and cost."""
    if not rows:
        return content(("No others are at work.", FAINT))
    return Content("\n").join(_row(row) for row in rows)


def _row(row: Row) -> Content:
    sign = _SIGNS.get(row.state.partition(",")[0], "·")
    if row.ended:
        sign = "✓" if row.state == "success" else "✗"
    seconds = duration(row.ms) if row.ended else elapsed(row.ms)
    name = (one_line(row.agent), "" if row.ended else "bold")
    below = f"  {one_line(row.role)} · {seconds} · {row.cost}"
    return content(f"{sign} ", name, f"  {one_line(row.state)}\n", (below, FAINT))


def elapsed(ms: int) -> str:
    """``12 s``, ``3:20 min``, ``2:05 h``: of what goes on, no finer than it is shown anew."""
    seconds = ms // 1000
    if seconds < 60:
        return f"{seconds} s"
    minutes, seconds = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes}:{seconds:02} min"
    return f"{minutes // 60}:{minutes % 60:02} h"


class Agents(VerticalScroll):
    """The others; those at work first, then those that the draft had sent out."""

    def __init__(self) -> None:
        super().__init__(id="agents")
        self.border_title = "Agents"
        self._there: tuple[Member, ...] = ()
        self._ended: tuple[Report, ...] = ()
        self._rows: tuple[Row, ...] = ()

    def compose(self) -> ComposeResult:
        """One text."""
        yield Static(list_text(()), markup=False)

    def on_mount(self) -> None:
        """Count the seconds."""
        self.set_interval(1.0, self._tick)

    def put(self, there: Sequence[Member], ended: Sequence[Report]) -> None:
        """Show these."""
        self._there, self._ended = tuple(there), tuple(ended)
        self._draw()

    def _tick(self) -> None:
        if self._there and self.display:
            self._draw()

    def _draw(self) -> None:
        now = datetime.now(UTC)
        rows = (*(row_of(m, now) for m in self._there), *map(row_of_ended, self._ended))
        if rows != self._rows:
            self._rows = rows
            self.query_one(Static).update(list_text(rows))
            working = len(self._there)
            self.border_subtitle = content(f"{working} at work" if working else "")
