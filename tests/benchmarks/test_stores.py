"""The comparison of stores still runs, and what it measures is right."""

import random
from pathlib import Path

import pytest

from tests.benchmarks.stores import QUICK, fill, look, measure, w1
from tests.benchmarks.stores_found import Taken, stores, table
from tests.postgres.servers import NEWEST


@pytest.fixture(autouse=True)
def _caches_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))


def test_w1_is_the_same_on_a_server(tmp_path: Path) -> None:
    """States have the reference's digests, and heads are the same; a wrong state would raise."""
    taken, dice = Taken(), random.Random(1)  # noqa: S311 — an order, no secret
    with stores(tmp_path, [NEWEST]) as (found, _floors):
        assert "heads are the same" in w1(found, 20, dice, taken)
        for store in found[:2]:
            fill(store, QUICK.events)
            look(store, 0, QUICK._replace(looks=1), dice, taken)
        taken.who = [store.name for store in found]
    assert "| fork anywhere | ms |" in table(taken)


@pytest.mark.slow
def test_stores_are_compared(tmp_path: Path) -> None:
    """Every figure is taken of each store and of its floor."""
    taken = measure(QUICK, tmp_path, [NEWEST], random.Random(1))  # noqa: S311 — as above
    assert taken.who[:2] == ["SQLite", f"PostgreSQL {NEWEST}"]
    for what in ("append, 2 writers: p99", "fork anywhere", "acknowledged → followed: p50"):
        assert all(taken.of(what, who) is not None for who in taken.floors)
