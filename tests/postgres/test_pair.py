"""A primary and a standby that follows it."""

import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from tests.postgres.pair import Pair
from tests.postgres.processes import DEADLINE


def write(url: str, row: int) -> None:
    """Commit a row."""
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (row int)")
        connection.execute("INSERT INTO kept VALUES (%s)", (row,))


def rows(url: str) -> tuple[int, list[int]]:
    """Which port answered, and the rows there."""
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT row FROM kept ORDER BY row").fetchall()
        return connection.info.port, [row for (row,) in found]


def test_what_a_synchronous_pair_acknowledged_outlives_the_primary() -> None:
    """An address with both hosts leads to the standby once that is promoted."""
    with Pair() as pair:
        url = pair.database()
        write(url, 1)
        pair.primary.kill()
        pair.promote()
        write(url, 2)
        assert rows(url) == (pair.standby.port, [1, 2])


@pytest.mark.slow
def test_a_standby_that_receives_nothing_holds_up_who_waits_for_it() -> None:
    """Nothing is acknowledged that only the primary has."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    with Pair() as pair, ThreadPoolExecutor(1) as pool:
        url = pair.database()
        write(url, 1)
        pair.freeze()
        written = pool.submit(write, url, 2)
        until = time.monotonic() + DEADLINE
        while pair.primary.admin(waiting) != [(1,)]:
            assert time.monotonic() < until
        assert not written.done()
        pair.thaw()
        written.result(DEADLINE)
        assert rows(url) == (pair.primary.port, [1, 2])


@pytest.mark.slow
def test_a_standby_that_lags_has_less_than_was_acknowledged() -> None:
    """Without synchronous replication a failover loses what the standby never got."""
    with Pair(synchronous=False) as pair:
        url = pair.database()
        write(url, 1)
        seen = "SELECT count(*) FROM pg_stat_replication WHERE replay_lsn = pg_current_wal_lsn()"
        until = time.monotonic() + DEADLINE
        while pair.primary.admin(seen) != [(1,)]:
            assert time.monotonic() < until
        pair.freeze()
        write(url, 2)
        pair.primary.kill()
        pair.promote()
        assert rows(url) == (pair.standby.port, [1])
