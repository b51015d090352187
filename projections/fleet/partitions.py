"""Which worker looks at which sessions: those of one root are never parted."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from domain.ids import SessionId
from domain.log import Log
from domain.streams import Family
from projections.fleet.jobs import Branch
from projections.views.shards import number_of


class Cut(NamedTuple):
    """How much counts of a store, or of one of its cells: all up to a position.

    Whatever comes behind it meanwhile changes nothing.
    """

    position: int
    hash: bytes | None
    """The chain hash there; None where the store is empty."""
    cell: str | None = None
    """Of which cell; None for a store that has no more than one."""


class Member(NamedTuple):
    """A session of a partition."""

    place: int
    """Where its rows stand among those of all sessions."""
    branch: Branch


class Partition(NamedTuple):
    """Sessions that one worker looks at."""

    number: int
    members: tuple[Member, ...]


def cut(log: Log, position: int | None = None, cell: str | None = None) -> Cut:
    """The cut at a position; by default behind everything there is now."""
    at = log.position() if position is None else position
    return Cut(at, log.hash_at(at) if at else None, cell)


def partitions(
    log: Log,
    count: int,
    families: Sequence[Family] = ("session",),
    wanted: Callable[[SessionId], bool] = lambda _: True,
    first: int = 0,
) -> list[Partition]:
    """All sessions in at most so many partitions, those of one root together; none is empty.

    A session that began behind the cut may be among them: who reads it finds that out. ``first``
    is the place of the first one; the others' follow without a gap.
    """
    streams = (stream for family in families for stream in log.streams(family))
    parts: dict[int, list[Member]] = {}
    for place, stream in enumerate(filter(wanted, streams), first):
        branch = branch_of(log, stream)
        parts.setdefault(number_of(branch.root) % count, []).append(Member(place, branch))
    return [Partition(number, tuple(parts[number])) for number in sorted(parts)]


def branch_of(log: Log, session: SessionId) -> Branch:
    """Where the history of a session comes from."""
    path = log.path(session)
    parent = path[1].stream if len(path) > 1 else None
    return Branch(session, parent, path[-1].stream, path[0].after)
