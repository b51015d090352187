"""A job over a whole store, by workers of any kind."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from itertools import islice
from typing import NamedTuple, NoReturn

from domain.errors import Broken, Refused
from domain.ids import SessionId
from domain.log import Log
from projections.fleet.load import Code, load
from projections.fleet.partitions import Cut, Partition, partitions
from projections.fleet.replay import Opener, Part, Work, replay
from projections.fleet.results import Results
from projections.fleet.workers import Team, is_killed

_NAMED = 3
"""Sessions of a partition that are named where it can't be done."""


class Source(NamedTuple):
    """A store, or one of its cells."""

    log: Log
    open: Opener
    """Opens the same in a worker."""
    at: Cut
    """What lies behind it is left out."""


class Done(NamedTuple):
    """How far a job is."""

    sessions: int
    of: int
    events: int
    """How many the job was given so far."""


Told = Callable[[Done], object]


class Task(NamedTuple):
    """One partition, and what is to be done with it."""

    work: Work
    partition: Partition


def analyse(
    code: Code,
    sources: Sequence[Source],
    team: Team,
    *,
    count: int,
    wanted: Callable[[SessionId], bool] = lambda _: True,
    told: Told = lambda _: None,
) -> Results:
    """The rows of a job over all sessions of a store.

    Args:
        code: which job.
        sources: the store, or each of its cells.
        team: the workers.
        count: into how many partitions the sessions of each fall, at most; the rows are the same
            with any.
        wanted: which sessions.
        told: how far it is, at the beginning and after each partition.

    Returns:
        A function of the log up to the cuts and of the code, whoever the workers are. Sessions are
        in order of their beginnings, cell after cell.

    Raises:
        Refused: the job is wrong.
        Broken: workers die of it, are gone, or of another version; content was redacted meanwhile.
    """
    job, marks = load(code), _marks(sources)
    tasks: list[Task] = []
    for source in sources:
        work, place = Work(code, source.open, source.at.position), _size(tasks)
        parts = partitions(source.log, count, job.families, wanted, place)
        tasks += [Task(work, part) for part in parts]
    results = Results(job, [source.at for source in sources], code.version)
    try:
        _fill(results, _parts(tasks, team), told, _size(tasks))
        if _marks(sources) != marks:
            _redacted_meanwhile()
        results.complete()
    except BaseException:
        results.close()
        raise
    return results


def _marks(sources: Sequence[Source]) -> list[bytes]:
    return [source.log.mark() for source in sources]


def _size(tasks: Sequence[Task]) -> int:
    return sum(len(task.partition.members) for task in tasks)


def _fill(results: Results, parts: Iterator[Part], told: Told, sessions: int) -> None:
    done = Done(0, sessions, 0)
    told(done)
    for part in parts:
        if part.failed is not None:
            raise (Refused if part.failed.refused else Broken)(part.failed.sentence)
        if part.code != results.code:
            raise Broken(
                "A worker has another version of Logosphere: install the same one everywhere."
            )
        results.add(part.shares)
        events = sum(share.events for share in part.shares)
        done = Done(done.sessions + part.sessions, sessions, done.events + events)
        told(done)


def _redacted_meanwhile() -> NoReturn:
    raise Broken("Content was redacted meanwhile and may have been read before: run it again.")


def _parts(tasks: Sequence[Task], team: Team) -> Iterator[Part]:
    """What comes of the partitions, in the order in which they are done."""
    waiting = iter(tasks)
    running: dict[Future[Part], Partition] = {}
    while True:
        for work, partition in islice(waiting, team.ahead - len(running)):
            running[team.executor.submit(replay, work, partition)] = partition
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            partition = running.pop(future)
            try:
                part = future.result()
            except CancelledError:
                raise Broken(f"The workers of {team.name} are gone: nothing was written.") from None
            except Exception as error:
                if not is_killed(error):
                    raise Broken(_not_done(team, error)) from error
                raise Broken(_killed(partition)) from error
            yield part


def _killed(partition: Partition) -> str:
    names = [member.branch.session for member in partition.members]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return (
        f"Partition {partition.number} ({', '.join(names[:_NAMED])}{more}) ended every worker that"
        " took it: it may need more memory than there is; nothing was written."
    )


def _not_done(team: Team, error: Exception) -> str:
    what = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".")
    return (
        f"The workers of {team.name} can't do it ({what}): each needs the same version of"
        " Logosphere, and to reach the store."
    )
