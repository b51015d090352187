"""Which files of a lake count, of which history they are, and what their columns mean.

It is replaced at once, and last: what it does not name is not there.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from domain.errors import Refused
from projections.analytics.database import Status
from projections.analytics.files.directory import OURS, replace
from projections.analytics.files.readme import as_data
from projections.analytics.files.tables import Table

FILE = "_manifest.json"
MADE = "logosphere lake "
VERSION = 1

_LARGEST = 2**63

T = TypeVar("T")


class DataFile(NamedTuple):
    """A file that never changes."""

    table: str
    path: str
    """Within the lake."""
    rows: int
    bytes: int
    first: int
    """Of the positions that were looked at; 1 of a state, which is of all of them."""
    last: int


class Manifest(NamedTuple):
    """What a lake is made of."""

    store: Status
    """The newest event that is in it, and of which history it is."""
    buckets: int
    """In how many facts are, by root session; 1 is none."""
    chosen: tuple[str, ...]
    """The tables that were asked for; none means all."""
    files: tuple[DataFile, ...]
    """What counts."""
    superseded: tuple[DataFile, ...]
    """States as they were once, which somebody may be reading."""
    digests: dict[str, str]
    """Of the rows of each state."""

    def files_of(self, table: str) -> tuple[DataFile, ...]:
        """Those of a table."""
        return tuple(file for file in self.files if file.table == table)

    @property
    def paths(self) -> frozenset[str]:
        """All files that stay."""
        return frozenset(file.path for file in (*self.files, *self.superseded))


def read(place: Path, name: str | None = None) -> Manifest | None:
    """What a directory says of itself; None if it does not.

    Args:
        place: the directory.
        name: what it is called where somebody is told of it.

    Raises:
        AnotherVersion: it was written by another version.
        Refused: it is damaged.
    """
    name = name or str(place)
    damaged = f"{FILE} in {name!r} is damaged: export to another directory."
    try:
        data = json.loads((place / FILE).read_text("utf-8"))
        made = str(data["made"])
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, KeyError, TypeError):
        raise Refused(damaged) from None
    if not made.startswith(MADE):
        raise Refused(f"{name!r} holds what is no export: choose another name.")
    if made != f"{MADE}{VERSION}":
        raise AnotherVersion(name)
    try:
        return _manifest(data)
    except (ValueError, KeyError, TypeError):
        raise Refused(damaged) from None


class AnotherVersion(Refused):
    """It was written by another version, which may have had other tables and columns."""

    def __init__(self, place: str) -> None:
        super().__init__(
            f"{place!r} was written by another version, with other tables or columns: write all"
            " anew (--force), or export to another directory."
        )


def write(place: Path, manifest: Manifest, tables: Sequence[Table], duckdb: str) -> None:
    """Replace what a directory says of itself."""
    replace(place, FILE, "".join(_text(manifest, tables, duckdb)))


def _text(manifest: Manifest, tables: Sequence[Table], duckdb: str) -> Iterator[str]:
    """JSON with a line for each file: there may be many of them."""
    store = manifest.store
    head = {
        "made": f"{MADE}{VERSION}",
        "store": {
            "position": store.position,
            "hash": store.hash.hex(),
            "mark": store.mark.hex(),
            "layout": store.layout,
        },
        "buckets": manifest.buckets,
        "chosen": manifest.chosen,
        "digests": manifest.digests,
        "duckdb": duckdb,
        "tables": [
            {
                **as_data(table, "parquet"),
                "kind": "state" if table.kind == "state" else "facts",
                "rows": sum(file.rows for file in manifest.files_of(table.name)),
            }
            for table in tables
        ],
    }
    yield json.dumps(head, ensure_ascii=False, indent=1).removesuffix("\n}")
    for name, files in (("files", manifest.files), ("superseded", manifest.superseded)):
        lines = [json.dumps(file._asdict(), ensure_ascii=False) for file in files]
        yield f',\n "{name}": [' + ",".join(f"\n  {line}" for line in lines) + "\n ]"
    yield "\n}\n"


def _manifest(data: dict[str, Any]) -> Manifest:
    """What was written; raises ValueError, KeyError or TypeError where it is damaged."""
    store = data["store"]
    return Manifest(
        Status(
            _is(store["layout"], str),
            _number(store["position"]),
            bytes.fromhex(store["hash"]),
            bytes.fromhex(store["mark"]),
        ),
        _number(data["buckets"]),
        tuple(_is(name, str) for name in data["chosen"]),
        tuple(_file(**file) for file in data["files"]),
        tuple(_file(**file) for file in data["superseded"]),
        _is(data["digests"], dict),
    )


def _file(*, table: str, path: str, rows: int, bytes: int, first: int, last: int) -> DataFile:  # noqa: A002 — as the manifest has it
    if not OURS.fullmatch(path):  # nothing outside of the lake is read
        raise ValueError(path)
    return DataFile(_is(table, str), path, *map(_number, (rows, bytes, first, last)))


def _number(value: object) -> int:
    number = _is(value, int)
    if not 0 <= number < _LARGEST:
        raise ValueError(value)
    return number


def _is(value: object, type_: type[T]) -> T:
    if not isinstance(value, type_):
        raise TypeError(value)
    return value
