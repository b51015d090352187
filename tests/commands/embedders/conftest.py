"""What the tests of embedders share: the provider on loopback, and a clock that stands still."""

import pytest

from tests.commands.minds.conftest import KEY, env, provider

__all__ = ["KEY", "Time", "env", "provider", "time"]


class Time:
    """A clock that only moves when somebody sleeps or works."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.pauses: list[float] = []

    def __call__(self) -> float:
        """Now, in seconds."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time pass at once."""
        self.pauses.append(seconds)
        self.now += seconds


@pytest.fixture
def time() -> Time:
    """A clock that stands still."""
    return Time()
