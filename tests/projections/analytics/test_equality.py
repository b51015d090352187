"""The database against the log: whatever happens, and however it was caught up.

Hypothesis makes two stores as for the log itself (forks of forks, imports under other names,
redactions, clusters that form, merge and split), and more: picks, embedders of several kinds,
vectors that come late. The database is caught up now and then, by slices of any size. In the end
it equals one that is built at once, and what a branch sees in it is what the log says.
"""

import json
import random
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

from commands.command import Command
from commands.notes import AddNote
from commands.picks import Pick, find_picked
from commands.redaction import has_content
from commands.thinking import ChangeEmbedder, Embedded, Embedding, EmbedWaiting
from domain.errors import Refused
from domain.ids import SessionId
from domain.session import Session
from projections.analytics.catchup import build, catch_up
from projections.analytics.compare import compared
from projections.analytics.database import connect
from tests.commands import test_log_machine as log_machine
from tests.commands.places import Place, Spot
from tests.domain.happened import vector
from tests.projections.analytics.asked import (
    SOME,
    clusters,
    exchanges,
    rows_of,
    time_of,
    vectors,
)
from tests.projections.analytics.test_plain_views import check_plain
from tests.strategies import Wish, as_it_is, company

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

WANTED = {"caught up", "picked", "embedded late", "another embedder", "redacted", "renamed"}
parts = st.sampled_from((1, 3, 8, 0))
"""Slices that what is new is cut into; 0 for each event by itself, up to some."""
EMBEDDERS = (("letters", 2), ("digits", 2), ("digits", 3), ("letters", 4))


def embedding(kind: tuple[str, int], text: str, of: int | None = None) -> Embedding:
    """A vector of a text that says by whom it is; or whose very vector it has."""
    model, dimension = kind
    numbers = [1.0, *(text.count(letter) / 8 for letter in "tmo")][:dimension]
    data = None if of else vector(*numbers)
    return Embedding(model, dimension, data, of)


class AnalyticsMachine(log_machine.LogMachine):
    """What may happen to two stores, and to their databases."""

    depths: ClassVar[list[int]] = []
    happened: ClassVar[Counter[str]] = Counter()
    looks = 2
    """Branches to look at in the end."""

    def __init__(self) -> None:
        super().__init__()
        self.known: Counter[Path] = Counter()

    @rule(spot=log_machine.LogMachine.sessions, parts=parts, elsewhere=st.booleans())
    def catch_up(self, spot: Spot, parts: int, elsewhere: bool) -> None:
        """Somebody asks something."""
        self._catch_up(spot.place, parts, elsewhere=elsewhere)

    def _catch_up(self, place: Place, parts: int, *, elsewhere: bool = False) -> Path:
        log = place.process(elsewhere=elsewhere)
        new = log.position() - self.known[place.directory]
        size = max(1, new // 12, new // parts if parts else 0)
        found = catch_up(log, place.directory, size=size)
        self.known[place.directory] = log.position()
        assert found.behind == 0
        self._did("caught up", found.why or f"followed by {parts or 'single'} slices")
        return found.file

    def _do(self, spot: Spot, *wishes: Wish, elsewhere: bool = False, later: int = 1) -> None:
        """And something else, mostly, that the log's own tests have no need of."""
        super()._do(spot, *wishes, elsewhere=elsewhere, later=later)
        acts = (self._change_embedder, self._embed, self._pick, self._travel, self._redact)
        self.luck.choices((*acts, self._ask), (3, 3, 3, 2, 1, 4))[0](spot)

    def _ask(self, spot: Spot) -> None:
        self._catch_up(spot.place, self.luck.choice((0, 1, 2, 4)), elsewhere=True)

    def _redact(self, spot: Spot) -> None:
        said = [r for r in spot.past if has_content(r)]
        if said:
            self.clock.tick(1)
            spot.place.redact(spot.place.log, [self.luck.choice(said)], self.clock)
            self._did("redacted")

    def _travel(self, spot: Spot) -> None:
        if len(spot.place.naive.events) < log_machine.MOST_SESSIONS:
            self._carry(spot)

    def _change_embedder(self, spot: Spot) -> None:
        """Vectors are made by another model from now on."""
        kind = self.luck.choice(EMBEDDERS)

        def wish(session: Session) -> Command:
            waiting = tuple((t.version, embedding(kind, t.text)) for t in session.pool.active)
            on = Embedded("local", waiting=waiting)
            return ChangeEmbedder(model="local", embedded=on, gather=company)

        off = as_it_is(ChangeEmbedder(model="off", embedded=Embedded("off"), gather=company))
        super()._do(spot, off, wish)
        self._did("another embedder")

    def _embed(self, spot: Spot) -> None:
        """Thoughts that wait get vectors, in a branch those of its parent too."""
        kind, luck = self.luck.choice(EMBEDDERS), self.luck.random()

        def wish(session: Session) -> Command:
            there = [t.version for t in session.pool.active if t.embedded]
            of = there[int(luck * len(there))] if there and luck < 0.5 else None
            model = (kind[0], session.pool.dimension or kind[1])
            given = tuple((t.version, embedding(model, t.text, of)) for t in session.pool.waiting)
            if given:
                self._did("embedded late")
            late = Embedded(session.config.embedding_model, waiting=given)
            return EmbedWaiting(embedded=late, gather=company)

        super()._do(spot, wish)

    def _pick(self, spot: Spot) -> None:
        """Something is brought over from another branch; and a note about it."""
        naive = spot.place.naive
        other = naive.events[self.luck.choice(list(naive.events))]
        there = [r for r in other if r.event.kind in {"thought.added", "draft.accepted"}]
        if not there:
            return
        chosen = self.luck.choice(there)
        wanted = [(chosen.session, chosen.version)]
        with suppress(Refused):
            found = find_picked(spot.place.log, spot.session, wanted)
            about = (self.luck.randint(1, len(spot.past)),)
            note = as_it_is(AddNote(text=f"from {chosen.session}", about=about))
            super()._do(spot, as_it_is(Pick(picked=tuple(found))), note)
            self._did("picked")

    # those are for the tests of the log
    every_head_is_right = all_that_is_new_is_proved = look_back = read_a_part = None
    lose_snapshots = tamper = cut = None
    say_in_confidence = None  # whatever is redacted, all is built anew: not all the time

    def teardown(self) -> None:
        """Whatever has been: caught up is built at once, and is what the log says."""
        try:
            if sys.exc_info()[0] is None:
                for place in (self.here, self.there):
                    self._the_same(place)
        finally:
            for place in (self.here, self.there):
                place.demolish()

    def _the_same(self, place: Place) -> None:
        file = self._catch_up(place, self.luck.choice((0, 1, 3, 5)))
        whole = place.directory / "whole.duckdb"
        build(place.other, whole, size=100_000)
        assert compared(file, whole) == []
        with closing(connect(file, read_only=True)) as connection:
            check_store(connection, place)
            names = list(place.naive.events)
            deep = sorted(names, key=place.naive.depth)[-1:]
            for name in {*deep, *self.luck.sample(names, min(len(names), self.looks))}:
                past = place.naive.events[name]
                for version in (self.luck.randint(1, len(past)), None):
                    check_branch(connection, place, name, version, self.luck)


def check_store(connection: "DuckDBPyConnection", place: Place) -> None:
    """Sessions, ancestries and vectors are what the log says."""
    log, naive = place.log, place.naive
    asked = "SELECT session, head, events, parent, branched_at, depth, archived, position"
    rows = connection.execute(f"{asked} FROM sessions ORDER BY position").fetchall()
    assert [row[0] for row in rows] == log.sessions()
    for name, head, events, parent, at, depth, archived, first in rows:
        own = naive.own(SessionId(name))
        assert head == log.head(SessionId(name)).version
        assert events == len(own)
        assert (parent, at) == naive.parents.get(SessionId(name), (None, None))
        assert depth + 1 >= len(log.path(SessionId(name)))
        assert archived == log.state(SessionId(name)).archived
        assert first == own[0].recorded.position
        if parent is None:
            check_plain(connection, name)
    lineage = connection.execute(
        "SELECT session, stream, after, upto FROM lineage ORDER BY session, depth"
    ).fetchall()
    for name in log.sessions():
        path = [(p.stream, p.after, p.upto or 2**63 - 1) for p in log.path(name)]
        assert [tuple(row[1:]) for row in lineage if row[0] == name] == path
    made, newest = vectors(log)
    known = connection.execute("SELECT model, dimension, view FROM embedders").fetchall()
    assert {(model, dimension) for model, dimension, _ in known} == set(made)
    for model, dimension, view in known:
        found = connection.execute(f"SELECT position, embedding FROM {view}").fetchall()  # noqa: S608
        assert sorted(found) == sorted(made[model, dimension].items())
    everything = connection.execute("SELECT position, embedder, embedding FROM thoughts").fetchall()
    thoughts = [r.position for r in naive.feed if r.event.kind == "thought.added"]
    assert sorted(position for position, _, _ in everything) == thoughts
    for position, embedder, found in everything:
        wanted = made[newest].get(position) if newest else None
        assert found == wanted
        assert embedder == (newest[0] if newest and wanted else None)


def check_branch(
    connection: "DuckDBPyConnection",
    place: Place,
    name: SessionId,
    version: int | None,
    luck: random.Random,
) -> None:
    """What a branch saw at a moment is what the log says."""
    past = list(place.log.read(name, upto=version))
    at, given = f"'{name}'", {"version": version}
    moment = f"{at}, at_version := $version"
    if luck.random() < 0.3 and version is not None:
        time = past[-1].at
        past = [r for r in place.log.read(name) if r.at <= time]
        given, moment = {"version": time_of(time)}, f"{at}, at_time := $version"
    for table, rows in rows_of(place.naive.parents, past).items():
        columns = SOME.get(table)
        envelope = "position, session, version, time"
        chosen = f"{envelope}, {columns}" if columns else "*"
        where = "WHERE kind <> 'session.forked'" if table == "interventions" else ""
        found = connection.execute(f"SELECT {chosen} FROM {table}_of({moment}) {where}", given)  # noqa: S608
        assert_same(table, [_plain(table, row) for row in found.fetchall()], rows)
    columns = "version, exchange, message, drafts, signals, first_draft, accepted_version, accepted"
    found = connection.execute(f"SELECT {columns} FROM exchanges_of({moment})", given)  # noqa: S608
    assert_same("exchanges", found.fetchall(), exchanges(past))
    homes = connection.execute(
        f"SELECT thought, cluster FROM cluster_assignments_of({moment}) WHERE cluster IS NOT NULL",  # noqa: S608
        given,
    ).fetchall()
    assert_same("cluster_assignments", homes, clusters(past).items())
    sizes = Counter(clusters(past).values())
    found = connection.execute(f"SELECT cluster, members FROM clusters_of({moment})", given)  # noqa: S608
    assert {c: n for c, n in found.fetchall() if n} == sizes


def _plain(table: str, row: tuple[Any, ...]) -> tuple[Any, ...]:
    """With JSON read."""
    if table == "events":
        return (*row[:-1], json.loads(row[-1]))
    if table == "configs":
        return (*row[:-2], *(None if value is None else json.loads(value) for value in row[-2:]))
    return row


def assert_same(table: str, found: Sequence[Any], wanted: Any) -> None:
    """Check that both have the same rows, in any order."""
    one, other = (sorted(map(_told, rows)) for rows in (found, wanted))
    for mine, theirs in zip(one, other, strict=False):
        assert mine == theirs, table
    assert len(one) == len(other), table


def _told(row: Sequence[Any]) -> str:
    return json.dumps(row, sort_keys=True, default=str)


class ThoroughMachine(AnalyticsMachine):
    """The same, with more to look at."""

    depths: ClassVar[list[int]] = []
    happened: ClassVar[Counter[str]] = Counter()
    looks = 6


QUICK = settings(
    max_examples=2,
    stateful_step_count=7,
    database=None,
    phases=[Phase.generate],
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


class TestAnalytics(seed(18)(AnalyticsMachine).TestCase):  # type: ignore[misc]
    """Some machines, in seconds."""

    settings = QUICK

    def runTest(self) -> None:  # noqa: N802 — unittest's name
        """All that can happen happens to some."""
        super().runTest()
        assert AnalyticsMachine.happened.keys() >= WANTED, AnalyticsMachine.happened


@pytest.mark.slow
class TestAnalyticsThoroughly(ThoroughMachine.TestCase):  # type: ignore[misc]
    """More and longer ones."""

    settings = settings(
        QUICK,
        max_examples=20,
        stateful_step_count=16,
        phases=[Phase.generate, Phase.shrink],
    )
