"""A service whose store is on a server that went away."""

import asyncio
import itertools
from pathlib import Path
from types import SimpleNamespace

import pytest

from cli.client.client import CallFailed
from cli.client.local import LocalClient
from cli.rpc.service import open_service
from commands.eventlog import EventLog
from commands.eventlog.place import place_of
from commands.eventlog.postgres import connections
from tests.commands.eventlog.stores import begin
from tests.postgres.servers import Server


def test_it_closes_without_waiting_for_its_store(
    postgres: Server, pg_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asked would wait for a successor; once nobody wants the answer, nothing waits."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    naps = itertools.count()
    for_ever = SimpleNamespace(monotonic=lambda: 0.0, sleep=lambda _: next(naps))
    monkeypatch.setattr(connections, "time", for_ever)
    place = place_of(pg_url)
    with EventLog.create(place) as log:
        begin(log)

    async def talk() -> None:
        async with asyncio.timeout(20), open_service(place, {}) as service:
            client = LocalClient(service, "chat")
            with postgres.closed(pg_url):
                asked = [asyncio.create_task(client.call(m)) for m in ("status", "subscribe")]
                while next(naps) < 10:  # noqa: ASYNC110 — of threads that nap
                    await asyncio.sleep(0)
                await client.close()
                await service.close()
                for each in asked:
                    with pytest.raises(CallFailed):
                        await each

    asyncio.run(talk())
