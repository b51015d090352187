"""How long contexts get: python -m tests.benchmarks.context [--quick] [--csv FILE].

Long conversations (``tests/conversations``) are played through the commands that the command line
uses, on a log on disk: message, a look for artifacts by the rules, the prompt that a mind is shown,
its draft, acceptance, another look. For each turn: what the context would hold if all that was
said stood there, and what it does hold.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from commands.detection.attend import attend
from commands.detection.choose import RulesDetector
from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft
from commands.eventlog import EventLog
from commands.handle import handle
from commands.iterate import prepare
from commands.minds.tokens import counter
from commands.recording import RecordIteration
from commands.sessions import start_session
from domain.detection.rules import detect
from domain.dialogue import is_signal
from domain.events import DraftEmitted, MessageSent
from domain.ids import SessionId
from domain.session import Session
from domain.tokens import estimate
from projections.prompts import sections
from projections.search.ask import Searcher
from tests.benchmarks.context_told import MOST, Played, Turn, as_csv, missed, summary, table
from tests.benchmarks.measure import Stopwatch
from tests.conversations.generate import Exchange, conversation
from tests.stories.cast import Rehearsed, SteadyWorld

SIZES = (58_000, 120_000, 240_000)
"""Tokens of the conversations."""

MINUTES = 20
"""Between two messages: a conversation of weeks."""

TOKENIZER = "openai:gpt-4o"
"""The model whose published tokenizer counts beside the estimate."""

WORDS = 30
"""By so many, its first and as many from its middle, each message is searched for: many texts begin
alike, and what is pasted stands in the middle."""

SESSION = SessionId("talk")


class World(SteadyWorld):
    """In which time passes between two messages."""

    def passes(self) -> None:
        """Some minutes."""
        self.time += MINUTES * 60 * 1_000_000


Count = Callable[[Sequence[str]], list[int]]


def play(
    exchanges: Sequence[Exchange], directory: Path, *, count: Count | None, search: bool = True
) -> Played:
    """Play a conversation and look at every prompt.

    Args:
        exchanges: what is said.
        directory: where the store is made.
        count: counts tokens as a model would.
        search: whether every message is searched for at the end.
    """
    world, turns = World(), []
    exchanges = [_answerable(exchange) for exchange in exchanges]
    with EventLog.create(directory) as log:
        settings = {"model": "local", "embedding_model": "off", "detector": "rules"}
        start_session(log, SESSION, world, settings=settings)
        said = said_counted = 0
        memory = ""
        seen = Tally(log)
        for number, exchange in enumerate(exchanges, 1):
            world.passes()
            with Stopwatch() as watch:
                prompt, shown, state = _turn(log, world, exchange)
            both = count([exchange.question, exchange.answer, prompt]) if count else None
            said += estimate(exchange.question)
            said_counted += both[0] if both else 0
            seen.look()
            turns.append(
                Turn(
                    number,
                    said,
                    estimate(prompt),
                    estimate(exchange.question),
                    both[2] if both else None,
                    both[0] if both else None,
                    said_counted if both else None,
                    len(state.shelf.open_efforts),
                    len(state.shelf.artifacts),
                    shown,
                    seen.of["artifacts.evicted"],
                    seen.of["context.compacted"],
                    seen.of["effort.resolved"],
                    memory == (memory := sections(prompt).get("memory", "")),
                    watch.cpu,
                )
            )
            said += estimate(exchange.answer)
            said_counted += both[1] if both else 0
        picked = _picked(log, exchanges)
        found = _found(log, directory, exchanges) if search else None
    return Played(said, turns, 2 * len(exchanges), picked, found)


def _answerable(exchange: Exchange) -> Exchange:
    """A word or two would be a signal, which nobody can accept."""
    if not is_signal(exchange.answer):
        return exchange
    return exchange._replace(answer=f"{exchange.answer} I will be here then.")


def _turn(log: EventLog, world: World, exchange: Exchange) -> tuple[str, int, Session]:
    """Everything that the program does for a turn: the prompt, artifacts in it, its state."""
    mind, detector = Rehearsed(name="local"), RulesDetector(detect)

    before = log.head(SESSION).version
    handle(log, SESSION, SendMessage(text=exchange.question), world)
    attend(log, SESSION, detector, world, after=before)
    state = log.state(SESSION)
    prepared = prepare(state, mind, world.local_time().isoformat(timespec="seconds"))
    first, *_ = exchange.answer.split("\n", 1)
    wish = RecordIteration(
        invocation=prepared.invocation,
        exchange=prepared.exchange,
        texts=(f"The user asked: {exchange.question[:120]}", f"I would say: {first[:160]}"),
        draft=exchange.answer,
    )
    before = handle(log, SESSION, wish, world).state.version
    handle(log, SESSION, AcceptDraft(index=1), world)
    attend(log, SESSION, detector, world, after=before)
    return prepared.request.prompt, len(prepared.view.memory), state


class Tally:
    """Counts what happens, as it happens."""

    def __init__(self, log: EventLog) -> None:
        self._log, self._after = log, 0
        self.of = dict.fromkeys(("artifacts.evicted", "context.compacted", "effort.resolved"), 0)

    def look(self) -> None:
        """Count what happened since the last look."""
        for recorded in self._log.read(SESSION, after=self._after, kinds=self.of):
            several = getattr(recorded.event, "artifacts", (None,))
            self.of[recorded.event.kind] += len(several)
            self._after = recorded.version


def _picked(log: EventLog, exchanges: Sequence[Exchange]) -> int:
    """How many messages and answers can be read back."""
    said: dict[type, list[int]] = {MessageSent: [], DraftEmitted: []}
    for recorded in log.read(SESSION, kinds=["message.sent", "draft.emitted"]):
        said[type(recorded.event)].append(recorded.version)
    wanted = [text.strip() for e in exchanges for text in (e.question, e.answer)]
    versions = [v for pair in zip(*said.values(), strict=True) for v in pair]
    found = [getattr(recorded.event, "text", None) for recorded in log.pick(SESSION, versions)]
    return sum(a == b for a, b in zip(wanted, found, strict=True))


def _found(log: EventLog, directory: Path, exchanges: Sequence[Exchange]) -> int:
    """How many messages and answers a search for some of their words finds."""
    found = 0
    with Searcher(log, directory) as searcher:
        for exchange in exchanges:
            for text in (exchange.question, exchange.answer):
                hits = searcher.search(_some(text), kinds=("message", "answer"))
                found += any(hit.text.strip() == text.strip() for hit in hits)
    return found


def _some(text: str) -> str:
    words = text.split()
    middle = max(WORDS, len(words) // 2)
    return " ".join(words[:WORDS] + words[middle : middle + WORDS])


@contextmanager
def _store(directory: Path | None) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="context-", dir=directory) as made:
        yield Path(made)


def main(arguments: list[str] | None = None) -> int:
    """Play, print, write."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.context", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--quick", action="store_true", help="the shortest conversation alone")
    parser.add_argument("--size", type=int, action="append", help="tokens; may be repeated")
    parser.add_argument("--seed", type=int, default=1, help="of the first conversation")
    parser.add_argument("--every", type=int, default=25, help="turns between two lines")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write every turn there")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw it there, svg or png")
    parser.add_argument("--dir", type=Path, help="where stores are made and deleted")
    parser.add_argument("--strict", action="store_true", help="exit 1 where a promise is broken")
    wanted = parser.parse_args(arguments)
    known = counter(TOKENIZER, os.environ)
    all_: list[Played] = []
    began = time.monotonic()
    for seed, size in enumerate(wanted.size or (SIZES[:1] if wanted.quick else SIZES), wanted.seed):
        print(f"A conversation of {size:,} tokens …", file=sys.stderr, flush=True)
        with _store(wanted.dir) as directory:
            count = known.counted if known.exact else None
            one = play(conversation(seed, size), directory, count=count)
        all_.append(one)
        print("\n".join(table(one, wanted.every)))
        tenth = max(len(one.turns) // 10, 1)
        print(
            f"CPU of a turn: {one.cpu(slice(tenth, 2 * tenth)):.1f} ms in the second tenth,"
            f" {one.cpu(slice(-tenth, None)):.1f} ms in the last.\n"
        )
    print("\n".join(summary(all_)))
    broken = [sentence for one in all_ for sentence in missed(one)]
    print("\n".join(broken) or "Every promise is kept.")
    print(f"Took {time.monotonic() - began:.0f} s.", file=sys.stderr)
    if wanted.csv:
        as_csv(all_, wanted.csv)
    if wanted.picture:
        from tests.benchmarks.context_picture import Curve, picture  # noqa: PLC0415 — slow

        curves = [Curve(one.tokens, [turn._asdict() for turn in one.turns]) for one in all_]
        picture(curves, MOST, wanted.picture)
    return 1 if broken and wanted.strict else 0


if __name__ == "__main__":
    sys.exit(main())
