"""How a store on a server stands, and what its standbys have of it."""

from collections.abc import Mapping, Sequence
from typing import Any

from commands.eventlog.place import Place
from commands.eventlog.postgres.cells import Cells
from commands.eventlog.postgres.directory import HOME
from commands.eventlog.postgres.layout import LAYOUT
from commands.eventlog.postgres.recorder import PostgresRecorder
from commands.eventlog.recorder import Recorder
from commands.eventlog.status import Said, Stand, Standby, Status, counted, sizes

_SETTINGS = (
    "fsync",
    "full_page_writes",
    "synchronous_commit",
    "synchronous_standby_names",
)

_SIZES = """SELECT count(*), pg_table_size('{schema}.stored_events'),
    pg_indexes_size('{schema}.stored_events'), pg_database_size(current_database()),
    (SELECT by_transaction FROM {schema}.store) FROM {schema}.stored_events"""

# what a mere backup, or a logical subscriber, has received is no standby's
_STANDBYS = """SELECT application_name, state, sync_state,
        pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
            ELSE pg_current_wal_lsn() END, replay_lsn)::bigint,
        extract(epoch FROM replay_lag)::float8
    FROM pg_stat_replication
    WHERE state IS DISTINCT FROM 'backup' AND application_name <> 'pg_receivewal'
        AND NOT EXISTS (SELECT 1 FROM pg_replication_slots
            WHERE active_pid = pid AND slot_type = 'logical')
    ORDER BY 1"""

_RECOVERY = """SELECT pg_is_in_recovery(),
        pg_wal_lsn_diff(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())::bigint,
        extract(epoch FROM now() - pg_last_xact_replay_timestamp())::float8"""


def statuses_of(recorder: Recorder, place: Place) -> Stand:
    """How each cell of a store stands that answers; of a store without cells, the one server.

    Args:
        recorder: its rows.
        place: where it is.
    """
    if not isinstance(recorder, Cells):
        raise TypeError(recorder)
    if recorder.is_alone:
        return Stand([_status(recorder.cell(HOME), place, None)])
    with recorder.reading() as cursor:
        _, away = recorder.reached(cursor)
    parts = recorder.parts(without={one.cell for one in away})
    cells = [_status(part, place.with_options(cell=cell), cell) for cell, part in parts.items()]
    return Stand(cells, away)


def _status(recorder: PostgresRecorder, place: Place, cell: str | None) -> Status:
    with recorder.reading() as cursor:
        settings = {
            name: str(cursor.fetch("SELECT current_setting(%s)", (name,))[0][0])
            for name in _SETTINGS
        }
        # our own connections raise it: what the others of this server have is told
        query = "SELECT coalesce(reset_val, setting) FROM pg_settings WHERE name=%s"
        settings["synchronous_commit"] = cursor.fetch(query, ("synchronous_commit",))[0][0]
        version = cursor.fetch("SELECT current_setting('server_version')")[0][0]
        events, table, indexes, database, by_transaction = cursor.fetch(
            _SIZES.replace("{schema}", recorder.address.schema)
        )[0]
        follows, waiting, seconds = cursor.fetch(_RECOVERY)[0]
        standbys = tuple(Standby(*row) for row in cursor.fetch(_STANDBYS))
    count = counted(recorder)
    return Status(
        where=recorder.where,
        kind="postgresql",
        version=str(version).partition(" ")[0],
        layout=LAYOUT,
        id=recorder.facts.id,
        cell=cell,
        events=events,
        position=count.position,
        numbered="by transaction" if by_transaction else "densely",
        streams=count.streams,
        sessions=count.sessions,
        redactions=count.redactions,
        sizes={
            "table": table,
            "indexes": indexes,
            "database": database,
            **sizes(place.home, without="log"),
        },
        home=place.home,
        settings=settings,
        standby_of=_behind(waiting, seconds) if follows else None,
        standbys=standbys,
        said=tuple(said_of(settings, standbys, is_standby=bool(follows))),
    )


def _behind(waiting: Any, seconds: Any) -> str:
    told = f"{waiting or 0} bytes received and not replayed"
    return told if seconds is None else f"{told}; the newest commit is {seconds:.0f} s old"


def said_of(
    settings: Mapping[str, str], standbys: Sequence[Standby], *, is_standby: bool
) -> list[Said]:
    """What follows from the settings of a server and from who follows it."""
    said = [
        Said("warning", f"{name} is off: a crash of the server's machine can destroy the store.")
        for name in ("fsync", "full_page_writes")
        if settings[name] == "off"
    ]
    if is_standby:
        why = "ask the primary what it confirms"
        said.append(Said("note", f"This server is a standby, and can only be read: {why}."))
        return said
    names = settings["synchronous_standby_names"].strip()
    hidden = any(standby.state is None for standby in standbys)
    confirming = [one for one in standbys if one.sync_state in {"sync", "quorum"}]
    if hidden:
        why = "this role may not see them: GRANT pg_monitor TO it"
        said.append(Said("note", f"How the standbys stand is hidden ({why})."))
    if names:
        said.append(_synchronous(names, standbys, confirming, hidden=hidden))
        if settings["synchronous_commit"] == "remote_write":
            why = "a standby may confirm what its machine has not on its disk yet"
            said.append(Said("warning", f"synchronous_commit is remote_write: {why}."))
    elif standbys:
        said.append(
            Said(
                "bad",
                "Standbys follow asynchronously only: what was acknowledged can be lost at a"
                " failover; set synchronous_standby_names.",
            )
        )
    else:
        said.append(
            Said(
                "note",
                "One server, no standby: what its disk loses is lost, unless whoever runs it"
                " replicates the disk; keep backups, or add a standby.",
            )
        )
    return said


def _synchronous(
    names: str, standbys: Sequence[Standby], confirming: Sequence[Standby], *, hidden: bool
) -> Said:
    if confirming:
        which = ", ".join(standby.name for standby in confirming)
        return Said("well", f"A standby confirms each write before it is acknowledged ({which}).")
    if hidden:
        return Said("well", f"A standby has to confirm each write ({names}).")
    follow = "none of those that follow is one of these" if standbys else "none of these follows"
    return Said("bad", f"Writes wait for a standby ({names}), and {follow}: start it.")
