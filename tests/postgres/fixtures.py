"""What tests ask for when they want a PostgreSQL server; ``tests/conftest.py`` offers it to all."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.postgres.servers import NEWEST, PACKAGED, Server, binaries

EVERY = (15, NEWEST)
"""The oldest and the newest version that a store is to work on."""

Servers = Callable[[int], Server]


def needed(version: int) -> None:
    """Skip the test that runs where this version is missing, unless the lock brings it."""
    if version not in PACKAGED and binaries(version) is None:
        pytest.skip(f"PostgreSQL {version} is not here: install the package postgresql-{version}")


@pytest.fixture(scope="session")
def postgres_of() -> Iterator[Servers]:
    """Servers by version, each started when it is first asked for."""
    with ExitStack() as stack:
        running: dict[int, Server] = {}

        def of(version: int) -> Server:
            needed(version)
            if version not in running:
                running[version] = stack.enter_context(Server(version))
            return running[version]

        yield of


@pytest.fixture
def postgres(postgres_of: Servers) -> Server:
    """A server of the newest version, which all tests of this process share: never stop it."""
    return postgres_of(NEWEST)


@pytest.fixture
def own_postgres() -> Iterator[Server]:
    """A server of the newest version for this test alone, which may kill it."""
    with Server() as server:
        yield server


@pytest.fixture
def pg_url(postgres: Server) -> Iterator[str]:
    """The URL of a fresh, empty database."""
    url = postgres.database()
    yield url
    postgres.take_back(url)


@pytest.fixture(params=EVERY, ids="postgres{}".format)
def every_postgres(request: pytest.FixtureRequest, postgres_of: Servers) -> Server:
    """As ``postgres``, once for each of the versions that a store is to work on."""
    version: int = request.param
    return postgres_of(version)


@pytest.fixture
def every_pg_url(every_postgres: Server) -> Iterator[str]:
    """As ``pg_url``, once for each of the versions that a store is to work on."""
    url = every_postgres.database()
    yield url
    every_postgres.take_back(url)
