"""What a worker does: open the store, and let the job see each session of a partition."""

import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import NamedTuple

from domain.errors import LogosphereError, Refused
from domain.log import Log
from domain.recorded import Recorded
from projections.fleet.jobs import Branch, Job
from projections.fleet.load import Code, load
from projections.fleet.partitions import Member, Partition
from projections.fleet.rows import Shape, encoded

Opener = Callable[[], AbstractContextManager[Log]]
"""Opens the store, in whatever process on whatever machine."""


class Work(NamedTuple):
    """What every worker is told; all of it can be sent to another machine."""

    code: Code
    open: Opener
    upto: int
    """The cut."""


class Share(NamedTuple):
    """What came of one session."""

    place: int
    lines: bytes
    """Its rows; see :class:`projections.fleet.rows.Encoded`."""
    rows: int
    events: int
    """How many the job was given."""
    shape: Shape


class Failed(NamedTuple):
    """Why there is nothing: errors travel as what they say."""

    sentence: str
    refused: bool


class Part(NamedTuple):
    """What came of a partition."""

    number: int
    code: str
    """The version of the code that ran."""
    sessions: int
    """How many there were to look at."""
    shares: tuple[Share, ...]
    """Those that had begun before the cut."""
    failed: Failed | None = None


def replay(work: Work, partition: Partition) -> Part:
    """Let the job see each session of a partition: a function of the log up to the cut."""
    empty = Part(partition.number, work.code.version, len(partition.members), ())
    try:
        job = load(work.code)
        with work.open() as log:
            found = [_share(log, job, member, work.upto) for member in partition.members]
    except LogosphereError as error:
        return empty._replace(failed=Failed(error.sentence, isinstance(error, Refused)))
    return empty._replace(shares=tuple(share for share in found if share is not None))


def _share(log: Log, job: Job, member: Member, upto: int) -> Share | None:
    session, after = member.branch.session, member.branch.after
    first = next(iter(log.read(session, after=after, page=1)), None)
    if first is None or first.position > upto:
        return None
    events = _Events(
        log.read(session, after=0 if job.whole else after, kinds=job.kinds), upto, first
    )
    try:
        rows = encoded(job, job.rows(member.branch, iter(events)) or ())
    except LogosphereError:
        raise
    except (Exception, SystemExit) as error:
        raise JobFailed(job, member.branch, events.newest, error) from error
    return Share(member.place, rows.lines, rows.rows, events.count, rows.shape)


class _Events:
    """Events up to the cut, counted as they pass."""

    def __init__(self, events: Iterator[Recorded], upto: int, first: Recorded) -> None:
        self._events, self._upto = events, upto
        self.newest, self.count = first, 0

    def __iter__(self) -> Iterator[Recorded]:
        for recorded in self._events:
            if recorded.position > self._upto:
                return
            self.newest = recorded
            self.count += 1
            yield recorded


class JobFailed(Refused):
    """The code of a job raised something."""

    def __init__(self, job: Job, branch: Branch, at: Recorded, error: BaseException) -> None:
        frames = traceback.extract_tb(error.__traceback__)
        own = job.rows.__code__.co_filename
        frame = next((one for one in reversed(frames) if one.filename == own), frames[-1])
        what = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".:")
        super().__init__(
            f"Job {job.name!r} failed on event {at.version} of {branch.session!r} ({what}, line"
            f" {frame.lineno} of {frame.filename}): mend it, nothing was written."
        )
