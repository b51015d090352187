"""Caches of a store that is put back to a backup, and in which something else is redacted then.

What came behind the redaction came in a bundle both times, so that the newest event is the same.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from commands.eventlog import EventLog
from domain.events import MessageSent
from domain.ids import ExchangeId, SessionId
from domain.recorded import Plain
from projections.analytics.catchup import catch_up
from projections.analytics.database import opened
from projections.analytics.files.lake import export_parquet
from projections.search.index import Index
from projections.views.sqlite import SqliteViews
from projections.views.view import Added, Column, View
from projections.views.worker import Worker
from tests.commands.eventlog.stores import MAIN, begin, draw
from tests.projections.analytics.lakes import texts_of

Shown = Callable[[EventLog], str]


def _analytics(log: EventLog) -> str:
    with opened(catch_up(log, log.place.home).file) as connection:
        return str(connection.execute("SELECT data FROM events").fetchall())


def _lake(log: EventLog) -> str:
    lake = log.place.home.with_name("lake")
    export_parquet(log, log.place.home, lake, tables=("events",))
    return texts_of(lake)


def _search(log: EventLog) -> str:
    with Index(log, log.place.home) as index:
        index.catch_up()
        return str(index.connection.execute("SELECT head, tail FROM texts").fetchall())


def _views(log: EventLog) -> str:
    def adds(event: Plain) -> Iterable[Added]:
        yield (event.data.get("text", "-"),), {"events": 1}

    columns = (Column("text", "text", "key", "t"), Column("events", "integer", "sum", "e"))
    view = View("texts", "Events by text.", 1, columns, adds, holds_content=True)
    store = SqliteViews(log.place.home, [view])
    try:
        store.prepare(view, 1)
        worker = Worker(log, store, [view], "here:1:1")
        tracked = store.tracked()
        worker.take(tracked.keys(), tracked)
        worker.catch_up()
        return str(list(store.rows(view)))
    finally:
        store.close()


@pytest.mark.parametrize("shown", [_analytics, _lake, _search, _views])
def test_what_is_redacted_now_is_not_shown(tmp_path: Path, shown: Shown) -> None:
    """And what is redacted no longer is."""
    guest = SessionId("guest")
    store, bundle = tmp_path / "store", tmp_path / "bundle"
    for name in ("store", "other"):
        (tmp_path / name).mkdir()
    with EventLog.create(tmp_path / "other") as other:
        begin(other, guest, events=5, tag="g")
        other.redact({guest: [2]}, "a name", draw(wish=1 << 71))
        other.export(guest, bundle)
    with EventLog.create(store) as log:
        begin(log)
        said = [
            MessageSent(exchange=ExchangeId(f"exc_{n}_000"), text=f"t{n}", iteration=1)
            for n in range(2, 10)
        ]
        log.append(MAIN, 1, draw(*said, wish=1))
    backup = (store / "log.db").read_bytes()

    def lived(version: int) -> str:
        with EventLog(store) as log:
            log.redact({MAIN: [version]}, "a secret", draw(wish=(1 << 70) + version))
            log.take_over(bundle)
            return shown(log)

    before = lived(5)
    assert "t4" in before
    assert "t5" not in before
    for file in store.glob("log.db*"):
        file.unlink()
    (store / "log.db").write_bytes(backup)
    after = lived(4)
    assert "t4" not in after
    assert "t5" in after
