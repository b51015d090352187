"""How well and how fast search finds: python -m tests.benchmarks.search [--quick].

Quality: labelled questions over a few thousand messages, with the embedder of this machine. Recall
at k is the share of questions whose message is among the first k; MRR is the mean of 1 / its rank,
0 beyond the first ten. Speed: 100,000 messages in one store, warm; the vectors of that store are
made up (200 topics, unit length), those of the questions cost what the real embedder takes.
"""

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: as the command line does

import numpy as np

from cli.search import vectors_for
from commands.eventlog import EventLog
from domain.config import Config
from domain.events import Caused, MessageSent, SessionStarted
from domain.ids import CommandId, ExchangeId, SessionId
from domain.recorded import BEGINNING, Draw
from projections.search.ask import Searcher
from projections.search.hit import Vectors
from tests.benchmarks.measure import Stopwatch
from tests.benchmarks.search_data import WAYS, Question, others, questions, wanted
from tests.commands.eventlog.stores import ANN, NOON

MESSAGES, SPEED_MESSAGES = 4_000, 100_000
"""In the store that is asked for quality, and in the one that is asked for speed."""

CHAT = 500
"""Messages of a session."""

TOPICS = 200


class Score(NamedTuple):
    """How often the wanted message came among the first."""

    how: str
    way: str
    questions: int
    recall_5: float
    recall_10: float
    mrr: float


class Speed(NamedTuple):
    """Milliseconds of a search, all of it: caught up, asked, its vector and snippets made."""

    how: str
    asked: int
    p50: float
    p95: float
    worst: float
    cpu_p50: float
    """Of CPU, which says the same on a busy machine."""
    cpu_p95: float


def fill(directory: Path, texts: Sequence[str]) -> EventLog:
    """A store of sessions with these messages."""
    log = EventLog.create(directory)
    for number, start in enumerate(range(0, len(texts), CHAT)):
        begun = SessionStarted(
            title=f"chat {number}", config=Config().model_dump(), protocol="1.4", seed=7
        )
        sent = [
            MessageSent(exchange=ExchangeId(f"exc_{n}_000"), text=text, iteration=n)
            for n, text in enumerate(texts[start : start + CHAT], 1)
        ]
        draw = Draw([Caused(event) for event in (begun, *sent)], NOON, ANN, CommandId(bytes(16)))
        log.begin(SessionId(f"chat-{number}"), BEGINNING, draw)
    return log


def quality(messages: int = MESSAGES) -> list[Score]:
    """Ask the labelled questions by words, by meaning, and by both.

    Raises:
        SystemExit: the local embedder is not installed.
    """
    vectors = _local()
    targets, dice = wanted(), random.Random(7)  # noqa: S311 — the same store in every run
    texts = [*targets, *others(messages - len(targets))]
    dice.shuffle(texts)
    with TemporaryDirectory() as place, fill(Path(place), texts) as log:
        return _asked(log, Path(place), vectors)


def _asked(log: EventLog, directory: Path, vectors: Vectors) -> list[Score]:
    targets, scores = wanted(), []
    with Searcher(log, directory, vectors) as both, Searcher(log, directory) as words:
        both.make_vectors()

        def by_meaning(text: str) -> list[str]:
            hits = [h for h in both.search(text, limit=200) if h.similarity is not None]
            return [h.text for h in sorted(hits, key=lambda h: -(h.similarity or 0))]

        def by_words(text: str) -> list[str]:
            return [hit.text for hit in words.search(text)]

        def by_both(text: str) -> list[str]:
            return [hit.text for hit in both.search(text)]

        ways: dict[str, Callable[[str], list[str]]] = {
            "words": by_words,
            "meaning": by_meaning,
            "both": by_both,
        }
        for how, ask in ways.items():
            ranks = [(q, _rank(ask(q.text), targets[q.wanted])) for q in questions()]
            scores += [_score(how, way, ranks) for way in (*WAYS, "all")]
    return scores


def _rank(found: Sequence[str], text: str) -> int | None:
    return found[:10].index(text) + 1 if text in found[:10] else None


def _score(how: str, way: str, ranks: Iterable[tuple[Question, int | None]]) -> Score:
    mine = [rank for question, rank in ranks if way in {question.way, "all"}]
    return Score(
        how=how,
        way=way,
        questions=len(mine),
        recall_5=sum(rank is not None and rank <= 5 for rank in mine) / len(mine),
        recall_10=sum(rank is not None for rank in mine) / len(mine),
        mrr=sum(1 / rank for rank in mine if rank) / len(mine),
    )


def speed(messages: int = SPEED_MESSAGES) -> tuple[list[Speed], list[str]]:
    """Ask a large store, warm."""
    real = _local()
    texts = [*wanted(), *varied(messages - len(wanted()))]
    asked = [q.text for q in questions()] + _drawn(texts, 200)
    with TemporaryDirectory() as place:
        directory, remarks = Path(place), []
        with fill(directory, texts) as log:
            with Searcher(log, directory) as words:
                began = time.perf_counter()
                words.search("warm")
                taken = time.perf_counter() - began
                remarks.append(f"The index of {messages:,} messages was built in {taken:.1f} s.")
                figures = [_timed("words", words, asked)]
            made_up = MadeUp(real)
            with Searcher(log, directory, Vectors("made-up", made_up.of)) as both:
                both.make_vectors()
                made_up.honest = True
                both.search("warm")
                figures.append(_timed("both", both, asked))
        size = (directory / "search.db").stat().st_size
        remarks.append(f"It takes {size / 1e6:.0f} MB, the vectors in it included.")
    return figures, remarks


class MadeUp:
    """Unit vectors around topics; once ``honest``, it takes as long as the real embedder does."""

    def __init__(self, real: Vectors) -> None:
        self._real, self.honest = real, False
        self._dice = np.random.default_rng(7)
        self._topics = self._dice.standard_normal((TOPICS, 384))

    def of(self, texts: Sequence[str]) -> list[bytes | None]:
        """One vector a text, near one of the topics."""
        if self.honest:
            self._real.of(texts)
        topics = self._topics[self._dice.integers(0, TOPICS, len(texts))]
        rows = topics + 1.2 * self._dice.standard_normal((len(texts), 384))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return [row.astype("<f2").tobytes() for row in rows]


def varied(count: int) -> list[str]:
    """Messages with as many different words as a long history has, most of them rare (Zipf)."""
    dice = np.random.default_rng(7)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er")]
    names = ["".join(dice.choice(syllables, 3)) for _ in range(30_000)]
    lengths = dice.integers(4, 30, count)
    ranks = np.minimum(dice.zipf(1.15, int(lengths.sum())), len(names)) - 1
    cuts = np.cumsum(lengths)[:-1]
    tails = [" ".join(names[rank] for rank in part) for part in np.split(ranks, cuts)]
    heads = list(others(min(count, 40_000)))
    return [f"{heads[n % len(heads)]} {tail}" for n, tail in enumerate(tails)]


def _drawn(texts: Sequence[str], count: int) -> list[str]:
    """Questions made of one to five words of a message, frequent ones too."""
    dice = random.Random(11)  # noqa: S311 — the same questions in every run
    return [
        " ".join(dice.sample(words, min(len(words), dice.randint(1, 5))))
        for words in (dice.choice(texts).split() for _ in range(count))
    ]


def _timed(how: str, searcher: Searcher, asked: Sequence[str]) -> Speed:
    walls, cpus = [], []
    for text in asked:
        with Stopwatch() as watch:
            searcher.search(text)
        walls.append(watch.wall)
        cpus.append(watch.cpu)
    p50, p95 = (quantiles(walls, n=20)[n] for n in (9, 18))
    cpu_p50, cpu_p95 = (quantiles(cpus, n=20)[n] for n in (9, 18))
    return Speed(how, len(asked), p50, p95, max(walls), cpu_p50, cpu_p95)


def _local() -> Vectors:
    vectors = vectors_for(Config())
    if vectors is None:
        sys.exit("This benchmark needs the local embedder.")
    return vectors


def tables(scores: Sequence[Score], speeds: Sequence[Speed], remarks: Sequence[str]) -> str:
    """All figures as Markdown."""
    lines = ["| found by | questions | recall@5 | recall@10 | MRR |", "|---|---|---:|---:|---:|"]
    lines += [
        f"| {s.how} | {s.way} ({s.questions}) | {s.recall_5:.2f} | {s.recall_10:.2f} |"
        f" {s.mrr:.2f} |"
        for s in scores
    ]
    if speeds:
        lines += ["", "| found by | searches | p50 ms | p95 ms | slowest | CPU p50 | CPU p95 |"]
        lines += ["|---|" + "---:|" * 6]
        lines += [
            f"| {s.how} | {s.asked} | {s.p50:.1f} | {s.p95:.1f} | {s.worst:.1f} |"
            f" {s.cpu_p50:.1f} | {s.cpu_p95:.1f} |"
            for s in speeds
        ]
    return "\n".join([*lines, "", *(f"* {remark}" for remark in remarks)]) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.search", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--quick", action="store_true", help="fewer messages, no speed")
    parser.add_argument("--no-quality", action="store_true", help="leave out what is found")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables there too")
    given = parser.parse_args(arguments)
    scores = [] if given.no_quality else quality(500 if given.quick else MESSAGES)
    speeds, remarks = ([], []) if given.quick else speed()
    told = tables(scores, speeds, remarks)
    print(told)
    if given.json:
        found: dict[str, Any] = {
            "quality": [score._asdict() for score in scores],
            "speed": [one._asdict() for one in speeds],
        }
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if given.markdown:
        given.markdown.write_text(told, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
