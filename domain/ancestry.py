"""Where two histories part: the newest moment that they share."""

from typing import NamedTuple

from domain.ids import SessionId
from domain.log import Log


class Point(NamedTuple):
    """A moment of a session."""

    session: SessionId
    version: int


def common_ancestor(log: Log, one: Point, other: Point) -> Point | None:
    """The newest moment that both have behind them, in the session that recorded it.

    It may be one of the two itself. Costs as much as the ancestries are long, whatever happened
    in them: the names of streams tell what is shared, and no event is read.

    Returns:
        None where the two have nothing in common.

    Raises:
        NoSuchSession: one of the sessions is not there.
    """
    ends = {
        stream: other.version if upto is None else min(upto, other.version)
        for stream, _, upto in log.path(other.session)
    }
    for stream, after, upto in log.path(one.session):
        end = one.version if upto is None else min(upto, one.version)
        shared = min(end, ends.get(stream, 0))
        if shared > after:
            return Point(stream, shared)
    return None
