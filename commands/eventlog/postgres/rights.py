"""What a role may do with a store on a server: asked without trying it."""

from commands.eventlog.postgres.cells import Cells
from commands.eventlog.recorder import Recorder

_RIGHTS = """SELECT pg_is_in_recovery(), current_setting('transaction_read_only') = 'on',
    coalesce(has_table_privilege(to_regclass('{schema}.stored_events'), 'INSERT')
        AND (SELECT bool_and(has_function_privilege(oid, 'EXECUTE')) FROM pg_proc
            WHERE pronamespace = to_regnamespace('{schema}') AND proname = 'append'), false)"""


def why_closed(recorder: Recorder) -> str | None:
    """Why nothing can be written to what answers of a store, as a clause; None where it can.

    Args:
        recorder: its rows, opened to be written.
    """
    if not isinstance(recorder, Cells):
        raise TypeError(recorder)
    with recorder.reading() as cursor:
        _, away = recorder.reached(cursor)
    for part in recorder.parts(without={one.cell for one in away}).values():
        query = _RIGHTS.replace("{schema}", part.address.schema)
        with part.reading() as cursor:
            standby, read_only, granted = cursor.fetch(query)[0]
        which = "" if recorder.is_alone else f" of {part.where!r}"
        if standby:
            return f"the server{which} is a standby"
        if not granted:
            return f"the role{which} has no right to: ask the owner to GRANT it INSERT"
        if read_only:
            return f"the server{which} opens transactions to be read alone for this role"
    return None
