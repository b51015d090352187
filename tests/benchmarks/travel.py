"""What looking back costs: compare branches, find a turn, explain, prove what is new."""

import random
from collections.abc import Sequence
from statistics import median

from commands.eventlog import EventLog
from commands.handle import handle
from commands.notes import AddNote
from domain.ancestry import Point
from domain.config import Config
from domain.ids import SessionId
from projections.bisect import bisect
from projections.comparison import compare
from projections.facts import FACTS, Facts
from projections.predicate import predicate
from projections.receipts import receipt
from tests.benchmarks.figures import Figure, Report
from tests.benchmarks.measure import Job, Stopwatch, WrongState, shuffled
from tests.benchmarks.workload import SteppingWorld

TARGET = 20
"""Milliseconds that the design allows for a diff."""


class Travels:
    """Looks back at one session, timed, each answer checked."""

    def __init__(
        self, log: EventLog, session: SessionId, ends: Sequence[int], dice: random.Random
    ) -> None:
        """Travel in a session.

        Args:
            log: where it lives.
            session: which.
            ends: the version behind each iteration, from 0 on.
            dice: choose where to look.
        """
        self.log, self.session, self.ends, self.dice = log, session, ends, dice
        self.world = SteppingWorld()
        self.looks: list[int] = []

    def diff(self, one: Point, other: Point, parted: int) -> Job:
        """Two branches that part behind this version."""

        def job() -> float:
            with Stopwatch() as watch:
                found = compare(self.log, one, other)
            if found.ancestor is None or found.ancestor.version != parted:
                raise WrongState(f"diff parts at {found.ancestor}")
            return watch.cpu

        return job

    def turn(self) -> float:
        """The first event of a random iteration, found by a condition."""
        wanted = self.dice.randint(1, len(self.ends) - 1)
        with Stopwatch() as watch:
            asked = predicate(f"iteration >= {wanted}", FACTS, Config.model_fields)

            def holds(version: int) -> bool:
                return asked.holds(Facts(self.log, self.log.state(self.session, version)))

            found = bisect(1, self.ends[-1], holds)
        self.looks.append(found.looks)
        if self.log.state(self.session, found.first).iteration != wanted:
            raise WrongState(f"bisect finds {found.first}")
        return watch.cpu

    def why(self) -> float:
        """The receipt of a random draft."""
        upto = self.ends[self.dice.randint(1, len(self.ends) - 1)]
        draft = self.log.newest(self.session, ["draft.emitted"], upto=upto)
        if draft is None:
            raise WrongState("no draft")
        with Stopwatch() as watch:
            found = receipt(self.log, self.session, draft.version)
        if found.draft is None:
            raise WrongState("why")
        return watch.cpu

    def proved(self) -> float:
        """The proof of one event that has just come."""
        handle(self.log, self.session, AddNote(text="one more"), self.world)
        with Stopwatch() as watch:
            verdicts = list(self.log.verify(new=True))
        if [verdict.events for verdict in verdicts] != [1] or verdicts[0].findings:
            raise WrongState("verify what is new")
        return watch.cpu

    def measure(
        self, section: str, diffs: dict[str, tuple[Job, float | None]], report: Report, runs: int
    ) -> None:
        """All figures; diffs by what they are called, each with its target."""
        with Stopwatch() as whole:
            if any(verdict.findings for verdict in self.log.verify()):
                raise WrongState("verify")
        many = 8 * runs
        jobs: dict[str, list[Job]] = {
            "bisect": [self.turn] * many,
            "why of a draft": [self.why] * many,
            "verify one new event": [self.proved] * many,
        }
        jobs |= {name: [job] * (many if target else 3) for name, (job, target) in diffs.items()}
        taken = shuffled(jobs, self.dice)
        self.looks = self.looks or [0]
        report.figures.append(Figure(section, "verify all, once", whole.cpu))
        for name, values in taken.items():
            target = diffs[name][1] if name in diffs else None
            states = f" ({median(self.looks):.0f} states)" if name == "bisect" else ""
            report.figures.append(
                Figure(section, name + states, median(values), target=target, runs=len(values))
            )
