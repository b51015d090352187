"""The stores that are measured side by side, their floors, and the values that come of it."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

from commands.eventlog import EventLog
from commands.eventlog.place import Place, place_of
from commands.eventlog.postgres.layout import migrate
from tests.benchmarks.measure import median
from tests.benchmarks.stores_child import TABLE
from tests.postgres.servers import NEWEST, Server

FILE_FLOOR = "SQLite alone"


class Store(NamedTuple):
    """One of those that are compared."""

    name: str
    place: Place
    floor: str
    """The name of what its own floor is called."""


class Taken:
    """Every value that was measured: by what, by whom, one or more a turn."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, str], list[float]] = {}
        self.units: dict[str, str] = {}
        self.remarks: list[str] = []
        self.who: list[str] = []
        """Stores and floors, in the order in which they are shown."""
        self.floors: dict[str, str] = {}
        """The floor of each store."""

    def __call__(self, what: str, who: str, values: Sequence[float], unit: str = "ms") -> None:
        """Take the median of what a turn measured."""
        self._values.setdefault((what, who), []).append(median(values))
        self.units.setdefault(what, unit)

    def of(self, what: str, who: str) -> float | None:
        """The median over the turns."""
        values = self._values.get((what, who))
        return median(values) if values else None

    def ratio(self, what: str, who: str) -> float | None:
        """The value in floors: the median over turns, since both are taken in each."""
        mine, bottom = (self._values.get((what, s), []) for s in (who, self.floors.get(who, "")))
        if not mine or len(mine) != len(bottom):
            return None
        return median(a / b for a, b in zip(mine, bottom, strict=True))

    def highest(self, what: str, who: str, value: float) -> None:
        """Keep the worst of all turns."""
        self.units.setdefault(what, "ms")
        self._values[what, who] = [max(value, *self._values.get((what, who), [0.0]))]


@contextmanager
def stores(
    directory: Path, versions: Sequence[int]
) -> Iterator[tuple[list[Store], dict[str, str]]]:
    """Empty stores, and what the floors write to."""
    with ExitStack() as stack:
        found = [Store("SQLite", Place(directory / "store"), FILE_FLOOR)]
        found[0].place.home.mkdir()
        EventLog.create(found[0].place).close()
        floors = {FILE_FLOOR: f"raw:{directory / 'floor.db'}"}
        with closing(sqlite3.connect(directory / "floor.db")) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(TABLE.format(id="INTEGER", state="BLOB"))
        for version in versions:
            server = stack.enter_context(Server(version, fsync=True))
            name = f"PostgreSQL {version}"
            floor = f"INSERT on {version}"
            places = {name: place_of(server.database())}
            if version == NEWEST:
                places[f"{name}, many at once"] = place_of(server.database())
            for which, place in places.items():
                migrate(place.address, by_transaction=which != name)
                found.append(Store(which, place, floor))
            url = server.database()
            with psycopg.connect(url, autocommit=True) as there:
                key = "BIGINT GENERATED ALWAYS AS IDENTITY"
                there.execute(TABLE.format(id=key, state="BYTEA").encode())
            floors[floor] = f"raw:{url}"
        yield found, floors


def many_rows(mark: str) -> str:
    """2,000 rows of the floor's long session; both speak this much of SQL."""
    return (
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"  # noqa: S608
        f" SELECT 'long', i, 'note.added', {mark} FROM n"
    )


_Execute = Callable[[str, tuple[Any, ...]], list[Any]]


@contextmanager
def sqlite_alone(file: str) -> Iterator[_Execute]:
    """Ask a file without anything of ours between."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        yield lambda query, values: connection.execute(query, values).fetchall()


@contextmanager
def psycopg_alone(url: str) -> Iterator[_Execute]:
    """Ask a server without anything of ours between."""
    with psycopg.connect(url, autocommit=True, prepare_threshold=0) as connection:

        def execute(query: str, values: tuple[Any, ...]) -> list[Any]:
            answer = connection.execute(query.encode(), values, binary=True)
            return answer.fetchall() if answer.description else []

        yield execute


def table(taken: Taken) -> str:
    """All of it as a table in Markdown; beside a store's value, how many times its own floor."""
    lines = [f"| figure | unit | {' | '.join(taken.who)} |", "|---|---|" + "---:|" * len(taken.who)]
    for what, unit in taken.units.items():
        cells = [_cell(taken.of(what, who), taken.ratio(what, who)) for who in taken.who]
        lines.append(f"| {what} | {unit} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(value: float | None, ratio: float | None) -> str:
    if value is None:
        return ""
    told = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return told if ratio is None else f"{told} ({ratio:.2g}×)"
