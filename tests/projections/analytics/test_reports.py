"""Reports say what the events say: of branches of branches, and as of any moment."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from commands.eventlog import EventLog
from domain.errors import BadSetting
from domain.ids import SessionId
from projections.analytics.catchup import build
from projections.analytics.database import connect
from projections.analytics.plots.charts import checked
from projections.analytics.reports.contract import charts, parse, report, reports, tell
from tests.projections.analytics import retold
from tests.projections.branching import branches, grown, share
from tests.strategies import turns

Sections = Mapping[str, list[dict[str, Any]]]
Ask = Callable[..., Sections]

NAMES = (
    *("acceptance", "branches", "clusters", "cost", "diversity"),
    *("drafts", "interventions", "lineage", "overview", "signals"),
)
KINDS: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "time": (datetime,),
    "day": (date,),
    "flag": (bool,),
    **dict.fromkeys(("number", "version", "iteration", "count", "tokens"), (int,)),
    **dict.fromkeys(("mean", "share", "similarity", "USD", "seconds", "ms"), (float,)),
}
"""What a column of a unit holds."""


def asking(file: Path) -> Ask:
    """Asks a database for reports."""
    connection = connect(file, read_only=True)

    def ask(name: str, session: str, version: int | None = None) -> Sections:
        told = tell(connection, report(name), session, version)
        for one in told:
            _keeps_its_word(one.section.columns, one.rows)
            for chart in charts(one):
                checked(chart)
        return {
            one.section.name: [
                dict(zip((c.name for c in one.section.columns), row, strict=True))
                for row in one.rows
            ]
            for one in told
        }

    return ask


def _keeps_its_word(columns: Sequence[Any], rows: Sequence[Sequence[Any]]) -> None:
    for row in rows:
        for column, value in zip(columns, row, strict=True):
            wanted = KINDS[column.unit]
            assert value is None or isinstance(value, wanted), (column, value)
            assert isinstance(value, bool) == (bool in wanted and value is not None), column


def only(rows: Sequence[Mapping[str, Any]], names: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows with just these columns."""
    return [{name: row[name] for name in names} for row in rows]


def unlike(rows: Sequence[Mapping[str, Any]], wanted: Sequence[Mapping[str, Any]]) -> list[str]:
    """Where rows are not what is wanted, in this order, up to rounding; empty where they are."""
    found = [] if len(rows) == len(wanted) else [f"{len(rows)} rows, not {len(wanted)}"]
    return found + [
        f"row {n}: {name} is {row[name]!r}, not {value!r}"
        for n, (row, one) in enumerate(zip(rows, wanted, strict=False))
        for name, value in one.items()
        if row[name]
        != (pytest.approx(value, rel=5e-4, abs=1e-9) if isinstance(value, float) else value)
    ]


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of a store in which nothing has happened."""
    directory = tmp_path_factory.mktemp("empty")
    with EventLog.create(directory) as log:
        build(log, directory / "a.duckdb")
    return directory / "a.duckdb"


def test_these_reports_there_are() -> None:
    """Every report of the list is a file, and every file is in the list."""
    assert tuple(one.name for one in reports()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_contracts_are_whole_and_true(name: str, empty: Path) -> None:
    """Each section says what it tells, in whole lines, and its columns are those that come."""
    what = report(name)
    assert set(what.parameters) == {"session", "at_version"}
    with closing(connect(empty, read_only=True)) as connection:
        for section in what.sections:
            given = {n: None for n in ("session", "at_version") if f"${n}" in section.sql}
            connection.execute(section.sql, given)
            columns = connection.description or []
            assert [c[0] for c in columns] == [c.name for c in section.columns], section.name
            connection.fetchall()
            assert section.title
            assert section.nothing[0].islower()
            assert not section.nothing.endswith(".")
            assert all(column.about for column in section.columns)
            assert len({column.name for column in section.columns}) == len(section.columns)


@pytest.mark.parametrize("name", NAMES)
def test_of_a_session_that_is_not_there_nothing_is_told(name: str, empty: Path) -> None:
    """In an empty store, every section of every report is empty."""
    assert not any(asking(empty)(name, "nobody").values())


def test_a_report_that_is_not_there_is_refused_by_name() -> None:
    """The sentence names those that there are."""
    with pytest.raises(BadSetting, match="no report 'drift': there are acceptance, branches"):
        report("drift")


GOOD = """-- report: Words
-- about: How many
--   words there are.
-- parameter: session | the session

-- section: words
-- title: Words
-- nothing: no word
-- column: word | text | the word
-- column: n | count | how often
-- chart: bars | Words | x=word | y=n
-- a comment of the statement
SELECT 'a' AS word, 1 AS n -- $session
"""


def test_a_contract_is_read() -> None:
    """Lines that go on are one, and the statement begins where the contract ends."""
    what = parse("words", GOOD)
    (section,) = what.sections
    assert (what.title, what.about) == ("Words", "How many words there are.")
    assert [column.name for column in section.columns] == ["word", "n"]
    assert section.sql.startswith("-- a comment of the statement\nSELECT")
    assert section.drawings[0].y == ("n",)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("-- about: How many\n--   words there are.\n", ""),
        ("-- title: Words\n", ""),
        ("-- title: Words\n", "-- title: Words\n-- title: Words\n"),
        ("-- nothing: no word\n", ""),
        ("| count |", "| stones |"),
        ("-- column: n | count | how often\n", ""),
        ("-- column: n | count | how often\n", "-- column: n | count\n"),
        ("-- column: n | count | how often\n", "-- column: n | count | \n"),
        ("bars |", "pie |"),
        ("y=n", "y=m"),
        ("y=n", "z=n"),
        ("y=n", "y=n | series=m"),
        ("y=n", "y=n, word | series=word"),
        ("-- chart:", "-- drawing:"),
        ("-- nothing", "-- shape: cube\n-- nothing"),
        ("-- nothing", "-- keep: some\n-- nothing"),
        ("$session", "$moment"),
        ("SELECT 'a' AS word, 1 AS n -- $session", ""),
        ("-- section: words\n", ""),
    ],
)
def test_a_contract_that_is_broken_is_not_read(old: str, new: str) -> None:
    """What is missing, twice, unknown or of no use is an error, not a surprise later."""
    broken = GOOD.replace(old, new).replace("-- a comment of the statement\n", "")
    assert broken != GOOD
    with pytest.raises(ValueError, match="report words"):
        parse("words", broken)


@settings(
    max_examples=2,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # shrinking would take minutes
    suppress_health_check=[HealthCheck.too_slow],
)
@given(steps=turns, more=branches, which=share, part=share)
def test_whatever_happens_reports_say_what_the_events_say(
    steps: Any, more: Any, which: float, part: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Of any branch, now and as of a moment: the same numbers as one event after the other."""
    with grown(steps, more) as log:
        file = tmp_path_factory.mktemp("any") / "a.duckdb"
        build(log, file)
        ask, sessions = asking(file), log.sessions()
        _check(log, sessions[-1], None, ask)
        session = sessions[round(which * (len(sessions) - 1))]
        _check(log, session, 1 + round(part * (log.head(session).version - 1)), ask)


def _check(log: EventLog, session: SessionId, version: int | None, ask: Ask) -> None:
    past = list(log.read(session, upto=version))
    told = {name: ask(name, session, version) for name in NAMES}
    assert not unlike(told["overview"]["facts"], [retold.overview(session, past)])
    assert sum(day["events"] for day in told["overview"]["days"]) == len(past)
    assert not unlike(told["drafts"]["exchanges"], retold.drafting(past))
    assert [row["text"] for row in told["drafts"]["steps"]] == [
        draft.text for draft in retold.drafts(past)
    ]
    assert not unlike(told["acceptance"]["exchanges"], retold.acceptance(past))
    assert not unlike(told["acceptance"]["presence"], retold.presences(past))
    assert not unlike(told["signals"]["kinds"], retold.signals(past))
    assert not unlike(told["cost"]["models"], retold.models(past))
    assert not unlike(told["interventions"]["acts"], retold.interventions(past))
    edges = [(row["thought"], row["shown"]) for row in told["lineage"]["edges"]]
    assert sorted(edges) == retold.edges(past)
    _check_clusters(log, session, past, told)
    wanted = retold.family(log, session, version)
    found = {row["session"]: row for row in told["branches"]["branches"]}
    assert found.keys() == wanted.keys()
    assert not unlike([found[name] for name in wanted], list(wanted.values()))


def _check_clusters(
    log: EventLog, session: SessionId, past: Any, told: Mapping[str, Sections]
) -> None:
    held = retold.gathered(past)
    sizes = {c: list(held.values()).count(c) for c in held.values()}
    clusters = {row["cluster"]: row["thoughts"] for row in told["clusters"]["clusters"]}
    assert {cluster: n for cluster, n in clusters.items() if n} == sizes
    newest = max((row["iteration"] for row in told["clusters"]["sizes"]), default=0)
    based = {e.iteration: e.based_on for e in retold.events(past, retold.MindInvoked)}
    if newest > max(based, default=0):
        now = [row for row in told["clusters"]["sizes"] if row["iteration"] == newest]
        assert {row["cluster"]: row["thoughts"] for row in now} == sizes
    for row in told["diversity"]["pool"]:
        pool = log.state(session, based.get(row["iteration"], past[-1].version)).pool
        weights = [*pool.sizes.values(), *[1] * (len(pool.active) - pool.sizes.total())]
        wanted = {
            "pool": len(pool.active),
            "clusters": len(pool.sizes),
            "alone": len(pool.active) - pool.sizes.total(),
            "effective": len(pool.active) ** 2 / sum(n * n for n in weights),
            "largest": max(pool.sizes.values(), default=0) / len(pool.active),
        }
        assert not unlike([row], [wanted])
