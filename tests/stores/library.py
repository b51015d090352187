"""The library's own recorders for PostgreSQL, which want a pool that nobody else here needs."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

import psycopg

CT = TypeVar("CT")


class ConnectionPool(Generic[CT]):
    """As much of ``psycopg_pool`` as the library asks for: a connection for each who wants one."""

    def __init__(self, *_: Any, **given: Any) -> None:
        self.kwargs, self._given = given["kwargs"], given

    def open(self, *_: object) -> None:
        """Nothing is kept open."""

    def close(self) -> None:
        """Nothing is kept open."""

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection[Any]]:
        """One that is closed behind its block."""
        with psycopg.connect(**self.kwargs) as connection:
            self._given["configure"](connection)
            yield connection

    @staticmethod
    def check_connection(_: object) -> None:
        """Nobody has kept it."""


def _stand_in() -> None:
    pool, abc = ModuleType("psycopg_pool"), ModuleType("psycopg_pool.abc")
    vars(pool).update(ConnectionPool=ConnectionPool, abc=abc)
    names = ("ConnectFailedCB", "ConnectionCB", "ConninfoParam", "KwargsParam")
    vars(abc).update(dict.fromkeys(names, object), CT=CT)
    sys.modules.update({"psycopg_pool": pool, "psycopg_pool.abc": abc})


if find_spec("psycopg_pool") is None:
    _stand_in()

from eventsourcing import postgres  # noqa: E402 — only now it can be


class Library:
    """The library on a database."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._made: list[postgres.PostgresFactory] = []

    def factory(self, url: str | None = None, **more: str) -> postgres.PostgresFactory:
        """One with these settings, by this address."""
        parts = urlsplit(url or self.url)
        made = postgres.PostgresFactory(
            {
                "POSTGRES_DBNAME": parts.path[1:],
                "POSTGRES_HOST": str(parts.hostname),
                "POSTGRES_PORT": str(parts.port),
                "POSTGRES_USER": str(parts.username),
                "POSTGRES_PASSWORD": "any",
                "ORIGINATOR_ID_TYPE": "text",
                **more,
            }
        )
        self._made.append(made)
        return made

    def recorder(self, url: str | None = None, **more: str) -> postgres.PostgresApplicationRecorder:
        """Its recorder of an application's events."""
        made = self.factory(url, **more).application_recorder()
        if not isinstance(made, postgres.PostgresApplicationRecorder):
            raise TypeError(type(made))
        return made

    def close(self) -> None:
        """Let go of all."""
        for made in self._made:
            made.close()
