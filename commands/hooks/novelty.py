"""The hook ``novelty``: every few iterations a thought from a list, for another angle."""

from pathlib import Path

from commands.hooks.turn import Turn

ANGLES = (
    "Which part of this have I taken for granted without checking it?",
    "How would somebody who disagrees put their strongest point?",
    "What is the smallest example in which this could go wrong?",
    "What would be left if I had to say it in one sentence?",
    "Which other field has met this problem under another name?",
    "What would have to be true for the opposite to hold?",
    "What has the question not asked, although it matters?",
    "Which number or fact would settle this, and do I have it?",
    "Who is affected by the answer, and what would they say to it?",
    "What changes if I look at it ten times larger, or ten times smaller?",
    "Which of my thoughts so far would I throw away first?",
    "What would I try if the obvious way were closed?",
)
"""Angles that fit any subject, for those who have no list of their own."""


class Novelty:
    """Puts the next line of a list into the pool, and begins anew at its end.

    Which line it is follows from the number of the iteration alone: a session that is played
    again gets the same ones.
    """

    name = "novelty"

    def __init__(self, every: int = 5, file: str = "") -> None:
        """Read the list.

        Args:
            every: before iterations ``every``, 2 ``every``, and so on.
            file: one thought a line, empty lines and those that begin with # aside; without it,
                :data:`ANGLES`.

        Raises:
            ValueError: ``every`` is no number of iterations, or the file holds no line.
        """
        self.every = at_least_one(every, "every")
        self.lines = _lines(Path(file).expanduser()) if file else ANGLES

    def before(self, turn: Turn) -> None:
        """Inject the line of this iteration, unless it is there from a try that came to nothing."""
        times, rest = divmod(turn.iteration, self.every)
        if rest:
            return
        line = self.lines[(times - 1) % len(self.lines)]
        mine = str(turn.actor)
        if not any(
            thought.text == line and thought.iteration == turn.iteration and thought.mind == mine
            for thought in turn.session.pool.active
        ):
            turn.inject(line)


def at_least_one(number: int, what: str) -> int:
    """The number, if it is one.

    Raises:
        ValueError: it is none, or below one.
    """
    if type(number) is not int or number < 1:
        raise ValueError(f"{what} is a whole number from 1 on, not {number!r}")
    return number


def _lines(file: Path) -> tuple[str, ...]:
    lines = [line.strip() for line in file.read_text("utf-8-sig").splitlines()]
    found = tuple(line for line in lines if line and not line.startswith("#"))
    if not found:
        raise ValueError(f"{str(file)!r} holds no line to inject")
    return found
