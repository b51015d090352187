"""A turn: what a hook sees of a session around one iteration, and what it can do there."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import TYPE_CHECKING, NamedTuple, Self

from commands.command import Command, Decision
from commands.gatherer import Gatherer
from commands.handle import handle
from commands.notes import AddNote
from commands.thinking import InjectThought
from commands.world import World
from domain.actors import Actor
from domain.errors import Refused
from domain.events import Caused, ThoughtAdded
from domain.ids import SessionId
from domain.log import Log
from domain.pool import Thought
from domain.recorded import Recorded
from domain.session import Session
from domain.texts import checked_text

if TYPE_CHECKING:
    from domain.clustering.partition import Partition
    from domain.clustering.vectors import Vectors

MOST = 20
"""Actions of one hook in one turn: one that has run wild does not flood the log."""


class Overdone(Refused):
    """A hook acts too often, or when its turn is over."""


class Scene(NamedTuple):
    """Where hooks act: a session of a log, in the world."""

    log: Log
    session: SessionId
    world: World
    gatherer: Gatherer | None = None


class Prompted(Command):
    """A wish that an event led to."""

    wish: Command
    cause: int

    def decide(self, session: Session) -> Decision:
        """What the wish becomes; what names no cause of its own has this one."""
        for event in self.wish.decide(session):
            yield event if isinstance(event, Caused) else event.because(self.cause)


class Turn:
    """One hook's turn before or after one iteration.

    What it does takes effect at once, is checked as a user's wishes are, and is recorded under
    the hook's own name. Once the hook returns, its turn is over.
    """

    def __init__(
        self, scene: Scene, hook: str, iteration: int, events: tuple[Recorded, ...] = ()
    ) -> None:
        self.iteration = iteration
        """The one that is coming, or that has just ended."""
        self.events = events
        """What the ended iteration became, ``mind.invoked`` first; empty before one."""
        self.actor = Actor("agent", f"hook:{hook}")
        """As whom the hook acts."""
        self._scene = scene
        self._session = scene.log.state(scene.session)
        self._cause = events[0].version if events else self._session.version
        self._left: int | None = MOST

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._left = None

    # looking

    @property
    def session(self) -> Session:
        """The state of the session, with what the hook itself has just done."""
        return self._session

    def history(
        self, *kinds: str, after: int = 0, newest_first: bool = False
    ) -> Iterator[Recorded]:
        """The session's events with their versions, read in pages.

        Args:
            kinds: only events of these kinds (``thought.added``); all where none is given.
            after: only those behind this version.
            newest_first: begin at the end.
        """
        return self._scene.log.read(
            self._scene.session,
            after=after,
            upto=self._session.version,
            kinds=kinds or None,
            newest_first=newest_first,
        )

    def thoughts(self, number: int, seed: int, *, pool: bool = False) -> tuple[Thought, ...]:
        """Draw thoughts uniformly, without replacement; the same seed draws the same ones.

        Args:
            number: how many; all, where there are fewer.
            seed: makes the draw repeatable.
            pool: draw from the active pool, rather than from the whole history, which takes
                time in proportion to its length.

        Returns:
            Oldest first, each with its cluster as it is now.
        """
        dice = Random(seed)  # noqa: S311 — repeatable on purpose, nothing secret
        if pool:
            active = self._session.pool.active
            return tuple(sorted(dice.sample(active, min(number, len(active)))))
        drawn: list[Thought] = []
        for place, recorded in enumerate(self.history("thought.added")):
            # Vitter's algorithm R: one pass, and never more than the sample in memory
            where = place if place < number else dice.randrange(place + 1)
            if where < number and isinstance(recorded.event, ThoughtAdded):
                e = recorded.event
                thought = Thought(recorded.version, e.text, e.iteration, e.mind, e.origin)
                drawn[where : where + 1] = [thought]
        return self._placed(sorted(drawn))

    def vectors(self, thoughts: Sequence[Thought]) -> "Vectors":
        """The embeddings of thoughts that have one, a row each: unit vectors, float64.

        Raises:
            KeyError: one of them has none.
        """
        partition = self._partition()
        if partition is None:
            raise KeyError(*(thought.version for thought in thoughts[:1]))
        return partition.vectors([thought.version for thought in thoughts])

    def _placed(self, thoughts: Sequence[Thought]) -> tuple[Thought, ...]:
        partition = self._partition()
        if partition is None:
            return tuple(thoughts)
        return tuple(
            t._replace(embedded=partition.has(t.version), cluster=partition.label(t.version))
            for t in thoughts
        )

    def _partition(self) -> "Partition | None":
        session, gatherer = self._session, self._scene.gatherer
        if session.pool.dimension is None:
            return None
        if gatherer is not None:
            return gatherer.at(session.id, session.version).partition
        from domain.clustering.fold import partition_at  # noqa: PLC0415 — brings numpy along

        return partition_at(self._scene.log, session.id, session.version)

    # acting

    def inject(self, text: str) -> int:
        """Put a thought into the mind's pool, with its vector and cluster where the run has them.

        Returns:
            Its version.

        Raises:
            BadText: it is empty, too long, or no text.
            Overdone: the hook has acted often enough, or its turn is over.
        """
        text = checked_text(text, "thought")
        self._may_act()
        wish = InjectThought(text=text, by=str(self.actor))
        gatherer = self._scene.gatherer
        if gatherer is not None:
            wish = gatherer.with_company(wish, self._session, [text])
        return self._do(wish)

    def note(self, text: str, about: Sequence[int] = ()) -> int:
        """Write something down for whoever reads the log; the mind never sees it.

        Args:
            text: what to write down.
            about: versions of the events that it speaks of.

        Returns:
            The note's version.

        Raises:
            BadText, NoSuchMoment: it can't be written so.
            Overdone: the hook has acted often enough, or its turn is over.
        """
        self._may_act()
        return self._do(AddNote(text=text, about=tuple(about)))

    def _may_act(self) -> None:
        if self._left is None:
            raise Overdone(f"The turn of {self.actor} is over: a hook acts while it is called.")
        if not self._left:
            raise Overdone(f"{self.actor} has acted {MOST} times in one turn, which is the most.")

    def _do(self, wish: Command) -> int:
        scene = self._scene
        prompted = Prompted(wish=wish, cause=self._cause)
        done = handle(scene.log, scene.session, prompted, scene.world, by=self.actor)
        self._left = (self._left or 0) - 1
        self._session = done.state
        return done.state.version - len(done.events) + 1
