"""What the documentation shows of other engines is run, and says what the database says."""

import re
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from commands.eventlog import EventLog
from domain.ids import SessionId
from domain.recorded import BEGINNING
from projections.analytics.files.lake import export_parquet
from tests.commands.eventlog.stores import MAIN, branch, draw
from tests.domain.happened import asked, drafted, started

YEAR = 1_770_000_000_000_000
"""A moment in 2026."""
DAY = 86_400_000_000
PAGE = Path(__file__).parents[3] / "docs" / "lake.md"
QUESTION = """
SELECT session, count(*) AS drafts, round(avg(edits)) AS edits FROM drafts
WHERE NOT signal AND time >= DATE '2026-01-01' GROUP BY session ORDER BY session
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A lake of two exports, and what the database says."""
    directory = tmp_path_factory.mktemp("engines")
    home = directory / "letters"
    home.mkdir()
    with EventLog.create(home) as log:
        drafts = [drafted(n, f"of tides, the {n}th time: {'more ' * n}") for n in range(1, 9)]
        log.begin(MAIN, BEGINNING, draw(started(), asked(), *drafts[:2], at=YEAR - 99 * DAY))
        log.append(MAIN, 4, draw(*drafts[2:6], at=YEAR, wish=1))
        export_parquet(log, home, directory / "lake")
        branch(log, MAIN, 7, "main/fork")
        log.append(SessionId("main/fork"), 8, draw(*drafts[5:7], at=YEAR + DAY, wish=2))
        branch(log, "main/fork", 9, "main/fork/again")
        log.append(SessionId("main/fork/again"), 10, draw(drafts[7], at=YEAR, wish=3))
        export_parquet(log, home, directory / "lake")
    with duckdb.connect(str(home / "analytics.duckdb"), read_only=True) as connection:
        seen = "FROM drafts_of('main/fork/again') ORDER BY version DESC"
        said = {
            "answer": connection.sql(QUESTION).fetchall(),
            "sessions": connection.sql("FROM sessions ORDER BY session").fetchall(),
            "seen": connection.sql(f"SELECT session, version, number, edits {seen}").fetchall(),
        }
    return directory, said


def _blocks() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("block", _blocks(), ids=["duckdb", "polars", "sessions", "branch"])
def test_what_the_page_shows(
    told: tuple[Path, dict[str, Any]], monkeypatch: pytest.MonkeyPatch, block: str
) -> None:
    """The same question gets the same answer, in each engine."""
    directory, said = told
    monkeypatch.chdir(directory)
    names: dict[str, Any] = {}
    exec(block, names)  # noqa: S102 — of our own page
    (name,) = names.keys() & said.keys()
    found = names[name]
    rows = found.rows() if isinstance(found, pl.DataFrame) else found.fetchall()
    if name == "sessions":
        rows = sorted(row[:-1] for row in rows)
    assert [tuple(row) for row in rows] == said[name]
    assert len(rows) > 1


def test_engines_open_only_the_days_they_need(told: tuple[Path, dict[str, Any]]) -> None:
    """And find the same rows by directory as they do by the manifest, up to its position."""
    directory, _ = told
    with duckdb.connect() as connection:
        files = f"read_parquet('{directory}/lake/drafts/**/*.parquet', hive_partitioning = true)"
        query = f"SELECT count(*) FROM {files} WHERE day = DATE '2026-02-02'"  # noqa: S608 — ours
        plan = connection.execute(f"EXPLAIN ANALYZE {query}").fetchall()[0][1]
        assert connection.execute(query).fetchall() == [(4 + 1,)]
        assert re.search(r"Scanning Files: 2/4|Total Files Read: 2", plan), plan
