"""What the user says about their attention."""

from datetime import datetime

from commands.command import Command, Decision
from domain.errors import BadText
from domain.events import SignalChanged
from domain.protocol.view import Presence
from domain.session import Session
from domain.texts import checked_text

STATUS_LENGTH = 200


class SetSignal(Command):
    """Tell the mind how present you are; what is not given stays as it was."""

    presence: Presence | None = None
    status: str | None = None
    time: datetime
    """The user's local time."""

    def decide(self, session: Session) -> Decision:
        """The new signal, at the iteration that will see it."""
        now = session.attention
        status = now.status if self.status is None else " ".join(self.status.split())
        if status:
            checked_text(status, "status")
        if len(status) > STATUS_LENGTH:
            raise BadText(f"A status has at most {STATUS_LENGTH} characters.")
        yield SignalChanged(
            presence=self.presence or now.presence,
            status=status,
            time=f"{_WEEKDAYS[self.time.weekday()]} {self.time:%H:%M}",
            iteration=session.upcoming,
        )


_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")  # whatever the locale
