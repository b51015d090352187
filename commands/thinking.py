"""Thoughts enter the pool, get vectors, and find company."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from commands.command import Command, Decision
from domain.actors import SYSTEM
from domain.events import Caused, ConfigChanged, Event, ThoughtAdded, ThoughtEmbedded
from domain.session import Session
from domain.texts import checked_text


class Embedding(NamedTuple):
    """The vector of a text."""

    model: str
    dimension: int
    data: bytes | None = None
    """None where ``of`` names the thought that has the very same."""
    of: int | None = None


class Embedded(NamedTuple):
    """The vectors of one wish."""

    embedder: str
    """The setting that they were made by: if it has changed meanwhile, they are of no use."""
    new: tuple[Embedding | None, ...] = ()
    """Of thoughts that are about to be recorded, in order; None where there is none."""
    waiting: tuple[tuple[int, Embedding], ...] = ()
    """Of thoughts that are in the log without one, by version."""
    tokens: int | None = None
    cost_usd: float | None = None


class Placed(NamedTuple):
    """A thought that gets its vector in this very wish."""

    version: int
    embedding: Embedding


Gather = Callable[[Session, Sequence[Placed]], Iterable[Event]]
"""Decides what becomes of thoughts that get their vectors: which clusters they make and join."""


def alone(_: Session, __: Sequence[Placed]) -> Iterable[Event]:
    """Leave all thoughts alone: the :data:`Gather` of those who have none."""
    return ()


UNEMBEDDED = Embedded("off")


def waiting_in_pool(session: Session) -> Container[int]:
    """The thoughts of the pool that have no vector."""
    return frozenset(thought.version for thought in session.pool.waiting)


class Thinking(Command):
    """A wish that puts thoughts into the pool or gives vectors to those that are there."""

    embedded: Embedded = UNEMBEDDED
    gather: Gather = alone

    def thoughts(
        self, session: Session, added: Sequence[ThoughtAdded], after: int
    ) -> tuple[list[ThoughtAdded], list[Placed]]:
        """These thoughts with their vectors, the first at version ``after + 1``."""
        new = [*self.embedded.new, *[None] * len(added)][: len(added)]
        given = [(after + place, vector) for place, vector in enumerate(new, 1) if vector]
        placed = self._fitting(session, given)
        vectors = dict(placed)
        made = [
            one.model_copy(update=_fields(vectors.get(version)))
            for version, one in enumerate(added, after + 1)
        ]
        return made, placed

    def settled(self, session: Session, placed: Sequence[Placed]) -> Iterator[Caused]:
        """Those that waited get their vectors, and all that have one now are gathered."""
        has = {thought.version for thought in session.pool.active if thought.embedded}
        waiting = [pair for pair in self.embedded.waiting if pair[0] not in has]
        late = self._fitting(session, waiting, placed)
        for version, embedding in late:
            yield _embedded(version, embedding)
        arrivals = sorted([*late, *placed])
        if arrivals:
            for event in self.gather(session, arrivals):
                yield Caused(event, arrivals[-1].version, SYSTEM)

    def _fitting(
        self,
        session: Session,
        given: Sequence[tuple[int, Embedding]],
        before: Sequence[Placed] = (),
    ) -> list[Placed]:
        """Those vectors that are of the session's model, each stored once."""
        if self.embedded.embedder != session.config.embedding_model:
            return []
        width = session.pool.dimension or next((e.dimension for _, e in (*before, *given)), None)
        return _once([pair for pair in given if pair[1].dimension == width], before)


def _once(given: Sequence[tuple[int, Embedding]], before: Sequence[Placed] = ()) -> list[Placed]:
    """Let a vector that is there already be named instead of stored again."""
    holders = {e.data: version for version, e in before if e.data is not None}
    placed: list[Placed] = []
    for version, embedding in given:
        kept = embedding
        if embedding.data is not None:
            holder = holders.setdefault(embedding.data, version)
            if holder != version:
                kept = embedding._replace(data=None, of=holder)
        placed.append(Placed(version, kept))
    return placed


def _fields(embedding: Embedding | None) -> dict[str, object]:
    if embedding is None:
        return {}
    return {
        "embedding": embedding.data,
        "embedding_of": embedding.of,
        "embedding_model": embedding.model,
        "dimension": embedding.dimension,
    }


def _embedded(version: int, embedding: Embedding) -> Caused:
    event = ThoughtEmbedded(
        thought=version,
        embedding=embedding.data,
        embedding_of=embedding.of,
        embedding_model=embedding.model,
        dimension=embedding.dimension,
    )
    return event.because(version, by=SYSTEM)


class InjectThought(Thinking):
    """Put a thought of your own into the mind's pool."""

    text: str
    by: str

    def decide(self, session: Session) -> Decision:
        """The thought, marked as injected, and the company it finds."""
        text = checked_text(self.text, "thought")
        thought = injected(text, self.by, session.upcoming)
        made, placed = self.thoughts(session, [thought], session.version)
        yield from made
        yield from self.settled(session, placed)


class EmbedWaiting(Thinking):
    """Give vectors to thoughts that have none."""

    still: Callable[[Session], Container[int]] = waiting_in_pool
    """Tells which thoughts wait: somebody else may have been faster."""

    def decide(self, session: Session) -> Decision:
        """The vectors of those that still wait, and the company they find."""
        still = self.still(session)
        waiting = tuple(pair for pair in self.embedded.waiting if pair[0] in still)
        embedded = self.embedded._replace(waiting=waiting)
        yield from self.model_copy(update={"embedded": embedded}).settled(session, ())


class ChangeEmbedder(Thinking):
    """Make vectors with another model from now on, those of the active pool anew."""

    model: str

    def decide(self, session: Session) -> Decision:
        """The setting, the pool's vectors, and new clusters: the old ones can't be compared."""
        old = session.config.embedding_model
        yield ConfigChanged(key="embedding_model", old=old, new=self.model)
        pool = {thought.version for thought in session.pool.active}
        given = self.embedded.waiting if self.embedded.embedder == self.model else ()
        placed = _once([pair for pair in given if pair[0] in pool])
        for version, embedding in placed:
            yield _embedded(version, embedding)
        for event in self.gather(session, placed) if placed else ():
            yield Caused(event, placed[-1].version, SYSTEM)


def injected(text: str, by: str, iteration: int) -> ThoughtAdded:
    """A thought that somebody put into the pool, first seen by an iteration."""
    return ThoughtAdded(text=text, iteration=iteration, mind=by, origin="injected")
