"""Two sessions side by side, in few words."""

from commands.forks import fork_session
from domain.ancestry import Point
from domain.ids import SessionId
from projections.comparison import Comparison, Pair, compare
from tests.stories.cast import Stage

A, B, C = "The first answer of them all", "The second answer of them all", "The third of them"
MAIN, CHILD, GRANDCHILD = SessionId("tides"), SessionId("tides/b"), SessionId("tides/b/c")


def fork(stage: Stage, child: SessionId = CHILD, at: int | None = None) -> None:
    """Branch off the session that is on stage, and stay there."""
    version = stage.state.version if at is None else at
    fork_session(stage.log, stage.session, version, child, stage.world)


def on(stage: Stage, session: SessionId) -> Stage:
    """Turn to another session."""
    stage.session = session
    return stage


def compared(
    stage: Stage, one: SessionId = MAIN, other: SessionId = CHILD, *versions: int
) -> Comparison:
    """Two heads side by side, or two versions."""
    ends = versions or tuple(stage.log.head(session).version for session in (one, other))
    return compare(stage.log, Point(one, ends[0]), Point(other, ends[1]))


def told(pairs: tuple[Pair, ...]) -> list[tuple[str, str, str, str]]:
    """Which exchanges are paired, why, and how their answers stand to each other."""
    return [(pair.one.question, pair.other.question, pair.by, pair.verdict) for pair in pairs]
