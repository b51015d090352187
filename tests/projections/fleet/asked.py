"""Short words for what the tests ask of a store."""

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from commands.eventlog import EventLog
from projections.fleet.load import Code, code_of
from projections.fleet.partitions import cut
from projections.fleet.results import Results
from projections.fleet.run import Source, analyse
from projections.fleet.workers import Team, here

Found = tuple[str, list[dict[str, Any]]]
"""The digest, and the rows by column."""


def asked(
    store: Path,
    job: str | Code,
    team: Team | None = None,
    *,
    count: int = 8,
    upto: int | None = None,
    **more: Any,
) -> Found:
    """What a job finds."""
    code = code_of(job) if isinstance(job, str) else job
    with EventLog(store) as log:
        if team is not None:
            return told(analyse(code, [source_of(log, upto)], team, count=count, **more))
        with here() as alone:
            return told(analyse(code, [source_of(log, upto, alone)], alone, count=count, **more))


def source_of(log: EventLog, upto: int | None = None, team: Team | None = None) -> Source:
    """A store as of now, or as of a position."""
    alone = team is not None and team.alone
    opener = partial(nullcontext, log) if alone else partial(EventLog, log.place)
    return Source(log, opener, cut(log, upto))


def told(results: Results) -> Found:
    """Rows as dicts; the results are closed."""
    with results:
        names = [column.name for column in results.columns]
        return results.digest, [dict(zip(names, row, strict=True)) for row in results]
