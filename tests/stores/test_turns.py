"""Who writes alone may take long, and whoever vanishes meanwhile holds up nobody."""

import threading
from pathlib import Path

import psycopg
import pytest

from commands.eventlog import EventLog
from commands.eventlog.place import place_of
from domain.errors import LostRace
from domain.recorded import Draw
from domain.session import Session
from tests.commands.eventlog.stores import MAIN, begin, draw, grow, thought


def test_a_decision_that_takes_long(
    pg_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Longer than the server is patient with the silent: it is heard of, and loses nothing."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with EventLog.create(place_of(pg_url)) as log, EventLog(place_of(pg_url)) as other:
        begin(log, events=2)
        other.state(MAIN)
        done: list[str] = []

        def also() -> None:
            try:
                grow(other, MAIN, 1)
            except LostRace:
                done.append("lost")

        waiting = threading.Thread(target=also)

        def decide(state: Session) -> Draw:
            waiting.start()
            with psycopg.connect(pg_url) as slow:
                slow.execute("SELECT pg_sleep(1.2)")
            assert done == []
            return draw(thought(f"after {state.version}"))

        assert log.exclusively(MAIN, decide).version == 3
        waiting.join()
        assert done == ["lost"]  # it had decided on what is no longer so
