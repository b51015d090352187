"""What makes thoughts comparable: an embedder, and the partition that each session's make.

Nothing here can cost a thought or a draft: where there is no vector, the thought waits for one;
where there is no decision, it stands alone. Both are told.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from threading import RLock
from typing import TYPE_CHECKING, TypeVar

from commands.embedders.embedder import Embedder, EmbedderUnavailable
from commands.handle import Done
from commands.thinking import Embedded, Embedding, Placed, Thinking
from domain.config import Config
from domain.events import ConfigChanged, Event, ThoughtAdded, ThoughtEmbedded
from domain.ids import SessionId
from domain.log import Log
from domain.pool import Thought
from domain.sampling import Memory
from domain.session import Session

if TYPE_CHECKING:
    from domain.clustering.partition import Partition

SESSIONS_KEPT = 4
"""Sessions whose partitions are at hand."""

TEXTS_KEPT = 10_000
"""Newest texts whose vectors are named again rather than made and stored again."""

Wish = TypeVar("Wish", bound=Thinking)

Listener = Callable[[str], object]
"""Told in one sentence what did not work."""


class Gathered:
    """One session's thoughts at one version: their partition, and which texts have vectors."""

    def __init__(self, log: Log, session: SessionId) -> None:
        from domain.clustering.fold import shelf_of  # noqa: PLC0415 — brings numpy along
        from domain.clustering.partition import Partition  # noqa: PLC0415

        self._log, self._session = log, session
        self.version = 0
        self.partition = Partition(shelf_of(log, session))
        self.waiting: dict[int, str] = {}
        """Thoughts without a vector, by version, with their texts."""
        self.model: str | None = None
        """What the vectors are made with; None before the first one."""
        self._known: OrderedDict[bytes, Embedding] = OrderedDict()

    def catch_up(self, version: int) -> None:
        """Fold what has happened since."""
        from domain.clustering.fold import KINDS  # noqa: PLC0415

        if version == self.version:
            return
        for recorded in self._log.read(
            self._session, after=self.version, upto=version, kinds=KINDS
        ):
            self.fold(recorded.version, recorded.event)
            if recorded.redacted:  # what it said is gone: it waits for nothing
                self.waiting.pop(recorded.version, None)
        self.version = version

    def fold(self, version: int, event: Event) -> None:
        """One more event, of any kind."""
        from domain.clustering.fold import fold_event  # noqa: PLC0415

        fold_event(self.partition, version, event)
        match event:
            case ThoughtAdded(dimension=None):
                self.waiting[version] = event.text
            case ThoughtAdded():
                self._note(version, event.text, event)
            case ThoughtEmbedded():
                text = self.waiting.pop(event.thought, None)
                if text is not None:
                    self._note(event.thought, text, event)
            case ConfigChanged(key="embedding_model"):
                self._known.clear()
                self.model = None
        self.version = version

    def _note(self, thought: int, text: str, event: ThoughtAdded | ThoughtEmbedded) -> None:
        if event.embedding is None or event.embedding_model is None or event.dimension is None:
            return
        self.model = event.embedding_model
        same = Embedding(event.embedding_model, event.dimension, of=thought)
        self._known[_key(text)] = same
        if len(self._known) > TEXTS_KEPT:
            self._known.popitem(last=False)

    def known(self, text: str) -> Embedding | None:
        """The vector that a thought of the very same text has."""
        return self._known.get(_key(text))


class Gatherer:
    """Embeds the thoughts of all sessions of a log, and decides about their clusters.

    Safe to use from several threads.
    """

    def __init__(
        self,
        log: Log,
        embedder_for: Callable[[Config], Embedder | None],
        on_problem: Listener = lambda _: None,
    ) -> None:
        """One for a log.

        Args:
            log: where the sessions live.
            embedder_for: gives the embedder of these settings; None where they say off. May
                raise EmbedderUnavailable.
            on_problem: told what did not work, in one sentence.
        """
        self._log, self._embedder_for, self._on_problem = log, embedder_for, on_problem
        self._kept: OrderedDict[SessionId, Gathered] = OrderedDict()
        self._embedders: dict[str, Embedder | None] = {}
        self._lock = RLock()

    def at(self, session: SessionId, version: int) -> Gathered:
        """What a session's thoughts make at a version."""
        with self._lock:
            kept = self._kept.pop(session, None)
            if kept is None or kept.version > version:
                kept = Gathered(self._log, session)
            kept.catch_up(version)
            self._kept[session] = kept
            if len(self._kept) > SESSIONS_KEPT:
                self._kept.popitem(last=False)
            return kept

    def recorded(self, done: Done) -> None:
        """Take over what has just been recorded, which saves reading it again."""
        session, events = done.state, done.events
        before = session.version - len(events)
        with self._lock:
            kept = self._kept.get(session.id)
            if kept is None or kept.version != before:
                return
            del self._kept[session.id]  # half of it would be wrong
            with suppress(Exception):  # it is in the log, and will be folded from there
                for version, event in enumerate(events, before + 1):
                    kept.fold(version, event)
                self._kept[session.id] = kept

    def embedded(self, session: Session, texts: Sequence[str]) -> Embedded:
        """Vectors for new thoughts, and for those of the pool that wait for theirs.

        Never raises for what an embedder does; what is missing is told to ``on_problem``.
        """
        waiting = session.pool.waiting
        config = session.config
        found = self._vectors(session, config, [*texts, *(thought.text for thought in waiting)])
        vectors, tokens, cost = found
        return Embedded(
            config.embedding_model,
            tuple(vectors[: len(texts)]),
            _pairs([thought.version for thought in waiting], vectors[len(texts) :]),
            tokens,
            cost,
        )

    def with_company(self, wish: Wish, session: Session, texts: Sequence[str]) -> Wish:
        """The same wish with vectors for its thoughts, which find company when it is decided."""
        embedded = self.embedded(session, texts)
        return wish.model_copy(update={"embedded": embedded, "gather": self.decide})

    def waiting(self, session: Session) -> dict[int, str]:
        """The texts of thoughts that have no vector, in the pool or beyond, oldest first."""
        waiting = dict(self.at(session.id, session.version).waiting)
        for thought in session.pool.waiting:  # another model has left them without
            waiting.setdefault(thought.version, thought.text)
        return dict(sorted(waiting.items()))

    def late(self, session: Session, waiting: Sequence[tuple[int, str]]) -> Embedded:
        """Vectors for thoughts that are in the log without one, given with their texts."""
        versions, texts = [version for version, _ in waiting], [text for _, text in waiting]
        vectors, tokens, cost = self._vectors(session, session.config, texts)
        pairs = _pairs(versions, vectors)
        return Embedded(session.config.embedding_model, (), pairs, tokens, cost)

    def anew(self, session: Session, config: Config) -> Embedded:
        """Vectors for the whole pool by other settings."""
        pool = session.pool.active
        vectors, tokens, cost = self._vectors(None, config, [thought.text for thought in pool])
        pairs = _pairs([thought.version for thought in pool], vectors)
        return Embedded(config.embedding_model, (), pairs, tokens, cost)

    def _vectors(
        self, session: Session | None, config: Config, texts: list[str]
    ) -> tuple[list[Embedding | None], int | None, float | None]:
        """A vector for each text that one can be had for; never raises but what breaks off."""
        nothing: list[Embedding | None] = [None] * len(texts)
        if not texts or config.embedding_model == "off":
            return nothing, None, None
        try:
            return self._asked(session, config, texts)
        except EmbedderUnavailable as error:
            self._on_problem(f"Thoughts wait for their vectors: {error.sentence}")
        except Exception as error:  # noqa: BLE001 — what was thought must be kept, whatever breaks
            why = " ".join(repr(error).split())
            self._on_problem(f"Thoughts wait for their vectors, since embedding broke ({why}).")
        return nothing, None, None

    def _asked(
        self, session: Session | None, config: Config, texts: list[str]
    ) -> tuple[list[Embedding | None], int | None, float | None]:
        from commands.embedders.embed import embed  # noqa: PLC0415 — brings numpy along

        known: list[Embedding | None] = [None] * len(texts)
        dimension = None
        if session is not None:
            gathered = self.at(session.id, session.version)
            known = [gathered.known(text) for text in texts]
            dimension = session.pool.dimension
        unknown = [text for text, same in zip(texts, known, strict=True) if same is None]
        embedder = self._embedder(config) if unknown else None
        if embedder is None:
            return known, None, None
        if session is not None and gathered.model not in {None, embedder.model}:
            self._on_problem(
                f"Thoughts wait for their vectors: {embedder.name!r} is {embedder.model} now, and"
                f" those of this session are of {gathered.model}; embed the pool anew with"
                f" mind embed --model {embedder.name}."
            )
            return known, None, None
        made = embed(embedder, unknown, precision=config.embedding_precision, dimension=dimension)
        if made.problem is not None:
            self._on_problem(f"Some thoughts wait for their vectors: {made.problem}")
        rest = iter(made.found)
        vectors = [
            same or (Embedding(e.model, e.dimension, e.data) if (e := next(rest)) else None)
            for same in known
        ]
        return vectors, made.tokens, made.cost_usd

    def _embedder(self, config: Config) -> Embedder | None:
        name = config.embedding_model
        if name not in self._embedders:
            self._embedders[name] = self._embedder_for(config)
        return self._embedders[name]

    def decide(self, session: Session, placed: Sequence[Placed]) -> list[Event]:
        """What becomes of thoughts that get their vectors behind this state.

        Never raises: a thought that nothing could be decided about stands alone.
        """
        try:
            with self._lock:
                partition = self.at(session.id, session.version).partition
                return _decided(partition, session.config, session, placed)
        except Exception as error:  # noqa: BLE001 — what was thought must be kept, whatever breaks
            self._on_problem(f"New thoughts stand alone, since clustering failed ({error!r}).")
            return []

    def decide_anew(self, config: Config) -> Callable[[Session, Sequence[Placed]], Iterable[Event]]:
        """As :meth:`decide`, for a pool that begins again with vectors of other settings."""

        def decide(session: Session, placed: Sequence[Placed]) -> list[Event]:
            with self._lock:
                partition = self.at(session.id, session.version).partition.successor()
                return _decided(partition, config, session, placed)

        return decide

    def memory(self, session: Session) -> Memory:
        """What lies beyond the pool of a session."""
        active = frozenset(thought.version for thought in session.pool.active)
        with self._lock:
            partition = self.at(session.id, session.version).partition
            clusters = partition.clusters
            beyond = {
                cluster: [m for m in clusters[cluster].members if m not in active]
                for cluster in session.pool.sizes
                if cluster in clusters
            }

        def older(cluster: int) -> list[int]:
            there = beyond.get(cluster, [])
            if not there:
                return []
            with self._lock:
                rows = partition.vectors(there)
            # what was redacted has no vector any more, and is not called back
            return [version for version, row in zip(there, rows, strict=True) if row.any()]

        def thought(version: int) -> Thought:
            return thoughts_at(self._log, session, [version])[0]

        return Memory(older, thought)


def thoughts_at(log: Log, session: Session, versions: Sequence[int]) -> list[Thought]:
    """Thoughts of a session, in the pool or beyond, without their clusters."""
    return [
        Thought(r.version, r.event.text, r.event.iteration, r.event.mind, r.event.origin)
        for r in log.pick(session.id, versions)
        if isinstance(r.event, ThoughtAdded)
    ]


def _decided(
    partition: "Partition", config: Config, session: Session, placed: Sequence[Placed]
) -> list[Event]:
    from domain.clustering.decide import decide  # noqa: PLC0415 — brings numpy along
    from domain.clustering.rules import Rules  # noqa: PLC0415
    from domain.clustering.vectors import Arrival, Stored  # noqa: PLC0415

    stored = {
        version: Stored(embedding.data, embedding.dimension)
        for version, embedding in placed
        if embedding.data is not None
    }
    arrivals = [
        Arrival(version, stored.get(same) or partition.shelf.stored(same))
        for version, embedding in placed
        for same in (embedding.of or version,)
    ]
    pool = [thought.version for thought in session.pool.active]
    new = [a.version for a in arrivals if a.version > session.version]
    active = frozenset([*pool, *new][-config.active_pool_size :])
    return list(decide(partition, arrivals, Rules.of(config), active))


def _pairs(
    versions: Sequence[int], vectors: Sequence[Embedding | None]
) -> tuple[tuple[int, Embedding], ...]:
    return tuple(
        (version, vector)
        for version, vector in zip(versions, vectors, strict=True)
        if vector is not None
    )


def _key(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]
