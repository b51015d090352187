"""What came of an import: which sessions, and what was left out or changed, and why."""

from collections import Counter
from typing import Literal, NamedTuple

from domain.ids import SessionId

What = Literal["new", "longer", "known"]


class Imported(NamedTuple):
    """What came of one conversation or branch of the source."""

    session: SessionId
    """What it is called here."""
    what: What
    """``known``: all of it is here already; ``longer``: what was new came behind."""
    title: str
    events: int = 0
    """How many were recorded."""
    exchanges: int = 0
    """Messages of the user; a branch that begins with another answer has one less."""
    answers: int = 0
    tools: int = 0
    thoughts: int = 0
    notes: int = 0
    branch_of: SessionId | None = None


class Report:
    """Counts, while a file is read."""

    def __init__(self) -> None:
        self.sessions: list[Imported] = []
        self.left_out: Counter[str] = Counter()
        """What is not in the log, by reason."""
        self.changed: Counter[str] = Counter()
        """What is there in another form, by how."""

    def leave_out(self, why: str, count: int = 1) -> None:
        """Something of the source is not taken over."""
        self.left_out[why] += count

    def change(self, how: str, count: int = 1) -> None:
        """Something of the source is taken over in another form."""
        self.changed[how] += count

    def total(self, what: Literal["events", "exchanges", "tools", "thoughts", "notes"]) -> int:
        """Of all sessions together."""
        return sum(int(getattr(one, what)) for one in self.sessions)

    @property
    def news(self) -> bool:
        """Whether anything came."""
        return any(one.events for one in self.sessions)
