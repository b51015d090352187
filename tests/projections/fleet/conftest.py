"""A store of some sessions, that tests only read."""

from pathlib import Path

import pytest

from tests.projections.fleet.many import grown


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve sessions, six of them branches or branches of branches."""
    return grown(tmp_path_factory.mktemp("fleet") / "store", 12, 2)
