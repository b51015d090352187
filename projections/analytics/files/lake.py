"""The whole history as Parquet files that never change, which any engine reads: a lake.

Each export adds what the store has and the lake has not. Facts come with their events and stay, so
each file holds a range of positions. States are written whole when they have changed. Which files
count is told by a manifest that is replaced last, so a kill at any moment leaves the lake as it
was before.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import projections.analytics.files.manifest as manifests
from domain.errors import BadSetting, Refused
from domain.log import Log
from projections.analytics.catchup import CaughtUp, Progress
from projections.analytics.database import Status, layout
from projections.analytics.files import readme
from projections.analytics.files.directory import (
    Removed,
    alone,
    empty,
    holds_only_ours,
    move,
    replace,
    sweep,
)
from projections.analytics.files.manifest import AnotherVersion, DataFile, Manifest
from projections.analytics.files.parquet import (
    Span,
    Staged,
    put_into_buckets,
    seal,
    write_facts,
    write_nothing,
    write_state,
    write_vectors,
)
from projections.analytics.files.place import database, in_our_words, outside, status_of
from projections.analytics.files.tables import Table, tables_of
from projections.analytics.schema.describe import quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_BUCKETS = 1024


class Added(NamedTuple):
    """What an export did."""

    place: Path
    after: int
    """The position up to which the lake went before; 0 where all was written."""
    position: int
    """The position up to which it goes now."""
    redacted: bool
    """Whether all was written anew since something was redacted."""
    rows: dict[str, int]
    """What was written, by table; a state that did not change was not."""
    files: int
    size: int
    """Bytes of these files."""
    superseded: Removed
    """Files of earlier states, which could go."""
    removed: Removed
    """Files that went."""
    caught_up: CaughtUp


class Wish(NamedTuple):
    """What is asked of a lake."""

    name: str
    """What the user calls it."""
    tables: tuple[str, ...]
    buckets: int | None
    force: bool
    prune: bool


class _Redacted(Exception):
    """Something was redacted while it was being written."""


def export_parquet(
    log: Log,
    store: Path,
    directory: Path,
    *,
    tables: Sequence[str] = (),
    buckets: int | None = None,
    force: bool = False,
    prune: bool = False,
    progress: Progress | None = None,
) -> Added:
    """Bring a lake up to the newest event of the log: a new one, or one that is there.

    Args:
        log: the truth, which the database is caught up with first.
        store: the directory that it is in.
        directory: the lake; not there yet, empty, or the one of an earlier export.
        tables: which; by default those that the lake has, and all of them in a new one.
        buckets: how many parts the facts of a day are in, by root session; by default as many as
            the lake has, and in a new one a single one.
        force: write all anew, whatever the lake holds.
        prune: remove files of earlier states, too.
        progress: told about a long catching up.

    Raises:
        Refused: the directory can't be used, holds another history or other tables, or somebody
            else writes to it; nothing was changed.
        Broken: the disk is full or fails, or the database is busy; the lake is as it was.
    """
    if buckets is not None and not 1 <= buckets <= MOST_BUCKETS:
        raise BadSetting(f"There can be 1 to {MOST_BUCKETS:,} buckets, not {buckets:,}.")
    place = outside(directory, store)
    wish = Wish(str(directory), tuple(sorted(set(tables))), buckets, force, prune)
    with in_our_words(directory):
        _check(place, wish.name)
        with alone(place, wish.name) as staging:
            _clear(place)
            try:
                while True:
                    try:
                        return _export(log, store, place, staging, wish, progress)
                    except _Redacted:
                        empty(staging)
            except BaseException:
                _clear(place)
                raise


def _check(place: Path, name: str) -> None:
    """Make sure that a directory is ours, or may become so.

    Raises:
        Refused: it holds something else.
    """
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        raise Refused(f"{name!r} is there already: choose another name.")
    if not place.exists() or (place / manifests.FILE).exists():
        return
    if not holds_only_ours(place, readme.FILE):
        raise Refused(f"{name!r} holds what is no export of this kind: choose another name.")


def _clear(place: Path) -> None:
    """Remove what nothing names, whether a kill left it behind or what has just failed."""
    try:
        lake = manifests.read(place)
    except Refused:
        return
    sweep(place, lake.paths if lake else ())
    if lake is None:
        (place / readme.FILE).unlink(missing_ok=True)


# one export


def _export(
    log: Log, store: Path, place: Path, staging: Path, wish: Wish, progress: Progress | None
) -> Added:
    """Write what is new.

    Raises:
        _Redacted: some of what was written is gone from the log by now.
    """
    lake = _lake(log, place, wish)
    with database(log, store, place, progress) as (connection, caught_up):
        now = status_of(connection)
        redacted = lake is not None and lake.store.mark != now.mark
        buckets = wish.buckets or (lake.buckets if lake else 1)
        chosen = wish.tables or (lake.chosen if lake else ())
        tables = [table.lasting for table in tables_of(connection, chosen)]
        old, staged = None if redacted else lake, list[Staged]()
        if old is not None and now.position <= old.store.position:
            made = old
        else:
            connection.execute(f"SET temp_directory = {quoted(str(staging / 'spill'))}")
            made, staged = _written(connection, tables, place, staging, old, now, buckets)
            made = made._replace(chosen=chosen)
            if log.mark() != now.mark:
                raise _Redacted
        if wish.prune:
            made = made._replace(superseded=())
        if made != old:
            move(place, [(one.file, one.data.path) for one in staged])
            _tell(place, made, tables)
    rows: Counter[str] = Counter()
    for one in staged:
        rows[one.data.table] += one.data.rows
    return Added(
        place,
        old.store.position if old else 0,
        made.store.position,
        redacted,
        dict(rows),
        len(staged),
        sum(one.data.bytes for one in staged),
        Removed(len(made.superseded), sum(file.bytes for file in made.superseded)),
        sweep(place, made.paths),
        caught_up,
    )


def _lake(log: Log, place: Path, wish: Wish) -> Manifest | None:
    """What is added to; None where all is written.

    Raises:
        Refused: it does not fit to this store, or not to what is wished.
    """
    name = wish.name
    try:
        lake = manifests.read(place, name)
    except AnotherVersion:
        if not wish.force:
            raise
        return None
    if lake is None or wish.force:
        return None
    if lake.store.layout != layout():
        raise AnotherVersion(name)
    or_anew = "or write all anew (--force)."
    at = lake.store.position
    if at and log.hash_at(at) != lake.store.hash:
        raise Refused(
            f"{name!r} holds another history: it goes up to event {at} of another store, or of"
            f" this one before a backup was restored. Export to another directory, {or_anew}"
        )
    if wish.tables and wish.tables != lake.chosen:
        has = ", ".join(lake.chosen) or "all tables"
        raise Refused(f"{name!r} holds {has}: leave --table out, {or_anew}")
    if wish.buckets and wish.buckets != lake.buckets:
        raise Refused(f"{name!r} was made with --buckets {lake.buckets}: leave it out, {or_anew}")
    missing = [file.path for file in lake.files if not (place / file.path).is_file()]
    if missing and lake.store.mark == log.mark():  # or else all is written anyway
        raise Refused(
            f"{name!r} lacks {len(missing)} of its files, {missing[0]} for one: bring them back,"
            f" {or_anew}"
        )
    return lake


def _written(
    connection: "DuckDBPyConnection",
    tables: Sequence[Table],
    place: Path,
    staging: Path,
    old: Manifest | None,
    now: Status,
    buckets: int,
) -> tuple[Manifest, list[Staged]]:
    """What a lake is made of now, and what of it is to be moved to its place."""
    sealed = seal(now.hash.hex(), now.mark.hex(), now.layout, buckets)
    if buckets > 1:
        put_into_buckets(connection, buckets)
    staged: list[Staged] = []
    kept: list[DataFile] = []
    superseded = list(old.superseded) if old else []
    digests: dict[str, str] = {}
    for table in tables:
        known = old.files_of(table.name) if old else ()
        if table.kind == "state":
            whole, digest = write_state(connection, table, now.position, sealed, staging)
            digests[table.name] = digest
            if old is not None and known and old.digests.get(table.name) == digest:
                kept += known
            else:
                staged.append(whole)
                superseded += known
            continue
        kept += known
        after = old.store.position if old is not None and known else 0
        span = Span(after, now.position, buckets, sealed)
        if table.kind == "vectors":
            came = write_vectors(connection, table, span, staging, known, place)
        else:
            came = write_facts(connection, table, span, staging)
        staged += came if came or known else [write_nothing(connection, table, span, staging)]
    files = sorted([*kept, *(one.data for one in staged)])
    return Manifest(now, buckets, (), tuple(files), tuple(sorted(superseded)), digests), staged


def _tell(place: Path, made: Manifest, tables: Sequence[Table]) -> None:
    """Say what is in the lake: first to people, then to programs, from which on it is."""
    import duckdb  # noqa: PLC0415 — the dialogue never waits for it

    text = readme.lake(tables, made.buckets)
    file = place / readme.FILE
    if not file.exists() or file.read_text("utf-8") != text:
        replace(place, readme.FILE, text)
    manifests.write(place, made, tables, duckdb.__version__)
