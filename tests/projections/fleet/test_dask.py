"""A Dask cluster finds what one process finds."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from domain.errors import Refused
from projections.fleet.workers import dask
from tests.projections.fleet.asked import asked

distributed = pytest.importorskip("distributed")
dask_config = pytest.importorskip("dask.config")


@contextmanager
def cluster(protocol: str = "tcp", **more: Any) -> Iterator[str]:
    """Two workers in this process; the address of their scheduler."""
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=False,
        host=f"{protocol}://127.0.0.1",
        dashboard_address=None,
        worker_dashboard_address=None,
        **more,
    ) as made:
        yield made.scheduler_address.removeprefix(f"{protocol}://")


def test_a_cluster_finds_the_same(store: Path) -> None:
    """The digest of each job is that of one process alone."""
    with cluster() as address, dask(address) as team:
        assert team.width == 2
        for job in ("sessions", "drafts", "thoughts", "costs"):
            assert asked(store, job, team) == asked(store, job)


def test_a_cluster_may_speak_tls(store: Path) -> None:
    """With the certificates that Dask's own configuration names; without them nobody answers."""
    security = distributed.Security.temporary()
    client = security.get_tls_config_for_role("client")
    names = {"ca-file": "ca_file", "client.cert": "cert", "client.key": "key"}
    configured = {f"distributed.comm.tls.{key}": client[name] for key, name in names.items()}
    with cluster("tls", security=security) as address:
        with dask_config.set(configured), dask(address, tls=True) as team:
            assert asked(store, "costs", team) == asked(store, "costs")
        with pytest.raises(Refused, match="No Dask scheduler answers"), dask(address, tls=True):
            pass


def test_where_no_scheduler_is_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is waited for longer than a moment, and it is said how to start one."""
    monkeypatch.setattr("projections.fleet.workers.CONNECT", 0.3)
    with socket.socket() as bound:  # which nobody listens at
        bound.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{bound.getsockname()[1]}"
        with pytest.raises(Refused, match="dask scheduler"), dask(address):
            pass
