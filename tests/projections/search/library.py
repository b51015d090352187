"""A real store, and short words for what is said in it and what is found."""

import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from commands.eventlog import EventLog
from domain.events import DraftAccepted, DraftEmitted, Event, MessageSent
from domain.events.base import Caused
from domain.ids import CommandId, ExchangeId, SessionId
from domain.recorded import Draw
from projections.search.ask import Searcher
from projections.search.hit import Branch, Everywhere, Hit, Scope, Vectors
from tests.commands.eventlog.stores import ANN, MAIN, NOON, begin, branch

MINUTE = 60_000_000

CONCEPTS = (
    {"login", "signin", "password", "credentials"},
    {"tide", "tides", "moon", "lunar"},
    {"bread", "flour", "loaf", "baking"},
)


class Library:
    """A store with a session `main`; each wish takes a minute."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(exist_ok=True)
        self.directory = directory
        self.log = EventLog.create(directory)
        weakref.finalize(self, self.log.close)
        self.wishes = 0
        begin(self.log)

    def records(self, *events: Event, session: str = MAIN, cause: int | None = None) -> int:
        """Append events, and tell the version of the first."""
        self.wishes += 1
        after = self.log.head(SessionId(session)).version
        wish = CommandId((self.wishes + (1 << 70)).to_bytes(16, "big"))
        caused = [Caused(event, cause) for event in events]
        self.log.append(SessionId(session), after, Draw(caused, self.now, ANN, wish))
        return after + 1

    @property
    def now(self) -> int:
        """The time of the newest wish."""
        return NOON + self.wishes * MINUTE

    def says(self, *texts: str, session: str = MAIN) -> int:
        """Send messages."""
        begun = self.log.head(SessionId(session)).version
        return self.records(
            *(
                MessageSent(exchange=ExchangeId(f"exc_{begun + n}_000"), text=text, iteration=1)
                for n, text in enumerate(texts)
            ),
            session=session,
        )

    def answers(self, question: str, *drafts: str, accept: int = 1, session: str = MAIN) -> int:
        """A whole exchange; the version of the acceptance."""
        asked = self.says(question, session=session)
        exchange = ExchangeId(f"exc_{asked - 1}_000")
        first = self.records(
            *(
                DraftEmitted(exchange=exchange, index=n, text=text, iteration=1)
                for n, text in enumerate(drafts, 1)
            ),
            session=session,
        )
        accepted = DraftAccepted(exchange=exchange, index=accept)
        return self.records(accepted, session=session, cause=first + accept - 1)

    def forks(self, child: str, at: int | None = None, parent: str = MAIN) -> None:
        """Branch off."""
        branch(self.log, parent, at or self.log.head(SessionId(parent)).version, child)

    def finds(self, text: str, scope: Scope = Everywhere(), **more: Any) -> list[str]:
        """What a search finds, best first: ``kind session@version text``."""
        return [told(hit) for hit in self.hits(text, scope, **more)]

    def finds_in(self, session: str, text: str, upto: int | None = None) -> list[str]:
        """The same, as a session sees it."""
        return self.finds(text, Branch(SessionId(session), upto))

    def hits(self, text: str, scope: Scope = Everywhere(), **more: Any) -> list[Hit]:
        """What a search finds."""
        with Searcher(self.log, self.directory) as searcher:
            return searcher.search(text, scope=scope, **more)


def told(hit: Hit) -> str:
    """A hit in one line."""
    return f"{hit.kind} {hit.ref} {hit.text}"


def by_concept(texts: Sequence[str]) -> list[bytes | None]:
    """A small embedder: texts about the same thing are near each other; wordless ones have none."""
    rows = []
    for text in texts:
        words = {word.strip(".,?") for word in text.casefold().split()}
        row = np.zeros(64)
        row[: len(CONCEPTS)] = [len(words & concept) for concept in CONCEPTS]
        row[len(CONCEPTS) + crc32(text.encode()) % 61] += 0.1
        unit = (row / np.linalg.norm(row)).astype("<f2").tobytes()
        rows.append(unit if any(word.isalpha() for word in words) else None)
    return rows


TOY = Vectors("toy", by_concept)
