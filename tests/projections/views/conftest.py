"""Views on both kinds of stores."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.projections.views.team import House, house_at


@pytest.fixture(params=["sqlite", "postgres"])
def house(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[House]:
    """A new store, in a directory and on a server."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "store").mkdir()
    on_server = request.param == "postgres"
    name = request.getfixturevalue("pg_url") if on_server else str(tmp_path / "store")
    with house_at(name) as house:
        yield house
