"""The user's attention: the newest signals, as the mind may see them."""

from typing import NamedTuple

from domain.events import SignalChanged
from domain.protocol.view import Presence

SHOWN = 3


class Signal(NamedTuple):
    """The user's presence from some iteration on."""

    presence: Presence
    status: str
    time: str
    iteration: int


class Attention(NamedTuple):
    """The newest signals, newest first, one per iteration; none means absent."""

    signals: tuple[Signal, ...] = ()

    @property
    def presence(self) -> Presence:
        """How present the user is now."""
        return self.signals[0].presence if self.signals else "absent"

    @property
    def status(self) -> str:
        """What the user said about it."""
        return self.signals[0].status if self.signals else ""


def changed(state: Attention, event: SignalChanged) -> Attention:
    """The newest signal of an iteration replaces the one before it."""
    signal = Signal(event.presence, event.status, event.time, event.iteration)
    kept = state.signals[1:] if _same_iteration(state, event) else state.signals
    return Attention((signal, *kept)[:SHOWN])


def _same_iteration(state: Attention, event: SignalChanged) -> bool:
    return bool(state.signals) and state.signals[0].iteration == event.iteration
