"""What the contract's tests ask for: a place on every store, or on every server."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from commands.eventlog import EventLog
from tests.postgres.servers import NEWEST, Server
from tests.stores.places import FAST, SERVERS, STORES, Site, site_of

Servers = Callable[[int], Server]


def _shown(name: str) -> str:
    return name.rpartition("@")[2]  # of a further store: its password is nobody's business


def _slow_on_some(names: Iterable[str]) -> list[Any]:
    return [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in names]


@pytest.fixture(autouse=True)
def _caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a machine keeps of stores on servers is the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))


@pytest.fixture(params=_slow_on_some(STORES), ids=_shown)
def site(request: pytest.FixtureRequest, tmp_path: Path, postgres_of: Servers) -> Iterator[Site]:
    """A place for a store, on each of the stores; on some of them the test is slow."""
    with site_of(request.param, tmp_path, postgres_of) as made:
        yield made


@pytest.fixture(params=_slow_on_some(SERVERS), ids=_shown)
def served(request: pytest.FixtureRequest, tmp_path: Path, postgres_of: Servers) -> Iterator[Site]:
    """The same, on each of the servers."""
    with site_of(request.param, tmp_path, postgres_of) as made:
        yield made


@pytest.fixture(params=STORES, ids=_shown)
def each(request: pytest.FixtureRequest, tmp_path: Path, postgres_of: Servers) -> Iterator[Site]:
    """A place on each of the stores: for what each may do in a way of its own."""
    with site_of(request.param, tmp_path, postgres_of) as made:
        yield made


@pytest.fixture
def newest(tmp_path: Path, postgres_of: Servers) -> Iterator[Site]:
    """A database on the newest server, for what no version does otherwise."""
    with site_of(f"postgres{NEWEST}", tmp_path, postgres_of, alone=True) as made:
        yield made


@pytest.fixture
def log(site: Site) -> EventLog:
    """An empty store, on each of the stores."""
    return site.create()
