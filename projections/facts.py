"""What is true at one moment of a session, by name: what conditions are written with."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from domain.events import DraftEmitted
from domain.log import Log
from domain.session import Session


class Fact(NamedTuple):
    """How a fact is read from a state, and what it means."""

    of: Callable[[Log, Session], Any]
    """Its value: a text, a number, True, False, None, a tuple of texts, or a dict of these."""
    meaning: str


def _at(_: Log, s: Session) -> str:
    return datetime.fromtimestamp(s.at / 1e6, UTC).isoformat(timespec="microseconds")


def _question(_: Log, s: Session) -> str | None:
    if s.dialogue.awaiting is not None:
        return s.dialogue.awaiting.text
    return s.dialogue.history[-1].question if s.dialogue.history else None


def _answer(log: Log, s: Session) -> str | None:
    if not s.dialogue.history:
        return None
    last = s.dialogue.history[-1]
    return _texts(log, s, [(last.draft_version, last.answer)])[0]


def _draft(log: Log, s: Session) -> str | None:
    draft = s.dialogue.latest_content
    return _texts(log, s, [(draft.version, draft.text)])[0] if draft else None


def _drafts(log: Log, s: Session) -> tuple[str, ...]:
    return _texts(log, s, [(draft.version, draft.text) for draft in s.dialogue.drafts])


def _texts(log: Log, s: Session, kept: Sequence[tuple[int, str | None]]) -> tuple[str, ...]:
    """Texts of drafts: the newest are in the state, older ones are read from the log."""
    left_out = [version for version, text in kept if text is None]
    read = log.pick(s.id, left_out) if left_out else []
    texts = {r.version: r.event.text for r in read if isinstance(r.event, DraftEmitted)}
    return tuple(texts.get(version, "") if text is None else text for version, text in kept)


def _largest(_: Log, s: Session) -> int:
    return max(s.pool.sizes.values(), default=0)


FACTS: dict[str, Fact] = {
    "session": Fact(lambda _, s: s.id, "the session's name"),
    "title": Fact(lambda _, s: s.title, "its title"),
    "archived": Fact(lambda _, s: s.archived, "whether it was put away"),
    "version": Fact(lambda _, s: s.version, "the number of the event"),
    "at": Fact(_at, "when that happened: ISO 8601, UTC"),
    "iteration": Fact(lambda _, s: s.iteration, "how often the mind has been invoked"),
    "state": Fact(
        lambda _, s: "drafting" if s.dialogue.awaiting else "idle",
        "'drafting' while a message awaits its answer, else 'idle'",
    ),
    "exchange": Fact(lambda _, s: s.dialogue.newest, "the newest exchange, open or closed"),
    "question": Fact(_question, "the newest message, answered or not"),
    "answer": Fact(_answer, "the draft that was accepted last"),
    "draft": Fact(_draft, "the latest draft with content of the open exchange"),
    "drafts": Fact(_drafts, "all drafts of the open exchange, oldest first, signals too"),
    "draft_count": Fact(lambda _, s: len(s.dialogue.drafts), "how many these are"),
    "unseen_count": Fact(
        lambda _, s: sum(not draft.seen for draft in s.dialogue.drafts),
        "how many of them nobody has read",
    ),
    "exchanges": Fact(lambda _, s: s.dialogue.accepted, "how many exchanges were answered"),
    "thoughts": Fact(
        lambda _, s: tuple(thought.text for thought in s.pool.active),
        "the thoughts of the pool, oldest first",
    ),
    "thought_count": Fact(lambda _, s: len(s.pool.active), "how many these are"),
    "thoughts_ever": Fact(lambda _, s: s.pool.total, "how many thoughts there ever were"),
    "unembedded_count": Fact(
        lambda _, s: len(s.pool.waiting), "thoughts of the pool without a vector"
    ),
    "clusters": Fact(lambda _, s: len(s.pool.sizes), "clusters with a thought in the pool"),
    "largest_cluster": Fact(_largest, "thoughts of the pool in the largest of them"),
    "presence": Fact(
        lambda _, s: s.attention.presence, "the user is 'absent', 'reviewing' or 'engaged'"
    ),
    "status": Fact(lambda _, s: s.attention.status, "what the user says about it"),
    "hard_signals": Fact(
        lambda _, s: s.work.consecutive_hard, "iterations without a draft, in a row"
    ),
    "running": Fact(lambda _, s: s.work.run is not None, "whether a run holds the session"),
    "tokens_in": Fact(lambda _, s: s.work.tokens_in, "tokens that the mind has read"),
    "tokens_out": Fact(lambda _, s: s.work.tokens_out, "tokens that it has written"),
    "cost_usd": Fact(lambda _, s: s.work.cost_usd, "the known cost of that, in US dollars"),
    "unknown_costs": Fact(lambda _, s: s.work.unknown_costs, "calls whose cost nobody knows"),
    "model": Fact(lambda _, s: s.config.model, "the mind: the same as config.model"),
    "config": Fact(
        lambda _, s: s.config.model_dump(), "all settings: config.KEY is the one of that name"
    ),
}
"""Every fact by its name, in the order in which they are listed."""


class Facts(Mapping[str, Any]):
    """The facts of one state; each is looked up when it is asked for, and once."""

    def __init__(self, log: Log, session: Session) -> None:
        """Look at a state; texts that it no longer holds are read from its log."""
        self._log, self._session = log, session
        self._known: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        """The value of a fact; KeyError where there is none of that name."""
        if name not in self._known:
            self._known[name] = FACTS[name].of(self._log, self._session)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(FACTS)

    def __len__(self) -> int:
        return len(FACTS)
