"""What the tests of the log share: an empty store that is open."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from commands.eventlog import EventLog


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    """A store in ``tmp_path`` without any session."""
    with EventLog.create(tmp_path) as made:
        yield made
