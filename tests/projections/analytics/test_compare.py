"""Two databases side by side: whatever somebody changed in one is found, and named."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from commands.drafts import AcceptDraft
from domain.events import Caused
from domain.recorded import Draw
from projections.analytics.catchup import build, catch_up
from projections.analytics.compare import Difference, compared
from projections.analytics.place import FILE
from tests.domain.happened import thought, with_vector
from tests.stories.cast import Stage

duckdb = pytest.importorskip("duckdb")
ANSWER = "an answer that is long enough to be one"


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """A session with an exchange, and thoughts with vectors of two kinds."""
    stage = Stage(tmp_path_factory.mktemp("compare") / "store").begins()
    stage.runs(f"thoughts: [one, two]\ndraft: {ANSWER}", f"draft: {ANSWER}!", iterations=2)
    stage.does(AcceptDraft())
    kinds = (with_vector(1.0, 0.0), with_vector(0.6, 0.8, 0.0) | {"embedding_model": "other"})
    events = [Caused(thought(f"with {n}", **kind)) for n, kind in enumerate(kinds)]
    draw = Draw(events, stage.world.now(), stage.world.actor, stage.world.command_id())
    stage.log.append(stage.session, stage.state.version, draw)
    return stage


@pytest.fixture(scope="module")
def made(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the database as it was caught up, and as it is built at once."""
    directory = tmp_path_factory.mktemp("made")
    catch_up(stage.log, stage.log.place.home, size=2)
    shutil.copy(stage.log.place.home / FILE, directory / "maintained")
    build(stage.log, directory / "rebuilt")
    return directory


@pytest.fixture
def pair(made: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Copies of both."""
    maintained, rebuilt = (
        shutil.copy(made / name, tmp_path / name) for name in ("maintained", "rebuilt")
    )
    return maintained, rebuilt


def changed(file: Path, *statements: str) -> None:
    """Somebody changes something."""
    with closing(duckdb.connect(str(file))) as connection:
        for statement in statements:
            assert connection.execute(statement).fetchall() != [(0,)], statement


def test_the_same(pair: tuple[Path, Path]) -> None:
    """However it was caught up, it is what is built at once."""
    assert compared(*pair) == []
    assert compared(*pair[::-1]) == []


@pytest.mark.parametrize(
    ("statement", "table", "missing", "surplus"),
    [
        ("DELETE FROM messages", "messages", 1, 0),
        ("INSERT INTO messages SELECT * FROM messages", "messages", 0, 1),
        ("UPDATE base.drafts SET text = 'forged' WHERE number = 1", "base.drafts", 1, 1),
        ("UPDATE base.drafts SET confidence = 0 WHERE number = 1", "base.drafts", 1, 1),
        ("UPDATE base.edits SET edits = 7", "base.edits", 1, 1),
        ("UPDATE events SET cause = 77 WHERE version = 2", "events", 1, 1),
        ("UPDATE events SET data = 'x'::VARIANT WHERE version = 2", "events", 1, 1),
        (
            "UPDATE events SET data = '{\"text\": 1}'::JSON::VARIANT WHERE version = 2",
            "events",
            1,
            1,
        ),
        ("UPDATE base.vectors_1 SET embedding = [0.5, 0.5]", "vectors by minilm", 1, 1),
        ("DELETE FROM base.vectors_2", "vectors by other", 1, 0),
        ("INSERT INTO base.vectors_1 FROM base.vectors_1", "vectors by minilm", 0, 1),
        ("UPDATE acceptances SET time = time + INTERVAL 1 MICROSECOND", "acceptances", 1, 1),
        ("UPDATE base.status SET hash = 'x'::BLOB", "base.status", 1, 1),
        ("UPDATE base.status SET layout = 'x'", "base.status", 1, 1),
        ("ALTER TABLE notes ADD COLUMN mine INTEGER", "notes", 0, 0),
    ],
)
def test_what_differs_is_named(
    pair: tuple[Path, Path], statement: str, table: str, missing: int, surplus: int
) -> None:
    """A row more, a row less, or another value: the table, how many, and one of them."""
    maintained, rebuilt = pair
    changed(maintained, statement)
    (found,) = compared(maintained, rebuilt)
    assert found[:3] == (table, missing, surplus)
    assert found.sample
    (mirrored,) = compared(rebuilt, maintained)
    assert mirrored[:3] == (table, surplus, missing)


def test_a_table_that_is_not_there(pair: tuple[Path, Path]) -> None:
    """It is named, with all the rows that are missing."""
    maintained, rebuilt = pair
    changed(maintained, "DROP TABLE presence CASCADE")
    (found,) = compared(maintained, rebuilt)
    assert found == Difference("presence", 0, 0, "no such table in the maintained database")


def test_a_sample_is_one_row(pair: tuple[Path, Path]) -> None:
    """It shows its columns, and of a long text the beginning."""
    maintained, rebuilt = pair
    changed(maintained, "UPDATE messages SET text = repeat('forged ', 100)")
    (found,) = compared(maintained, rebuilt)
    assert "session: tides" in found.sample
    assert "text: forged forged" in found.sample
    assert len(found.sample) < 600


def test_numbers_of_embedders_may_differ(pair: tuple[Path, Path]) -> None:
    """Vectors are compared by who made them: the numbers are only an order of arrival."""
    maintained, rebuilt = pair
    changed(
        maintained,
        "DROP VIEW base.vectors",
        "DROP VIEW thoughts CASCADE",
        "DROP VIEW thoughts_by_1",
        "DROP VIEW thoughts_by_2",
        "ALTER TABLE base.vectors_1 RENAME TO vectors_3",
        "UPDATE base.embedders SET embedder = 3 WHERE embedder = 1",
    )
    assert compared(maintained, rebuilt) == []


def test_one_has_come_further(stage: Stage, pair: tuple[Path, Path], tmp_path: Path) -> None:
    """Events since then are no difference; others are still found."""
    maintained, _ = pair
    draw = Draw(
        [Caused(thought("later", **with_vector(0.0, 1.0)))],
        stage.world.now(),
        stage.world.actor,
        stage.world.command_id(),
    )
    stage.log.append(stage.session, stage.state.version, draw)
    build(stage.log, tmp_path / "further")
    assert compared(maintained, tmp_path / "further") == []
    assert compared(tmp_path / "further", maintained) == []
    changed(maintained, "DELETE FROM messages")
    assert [found.table for found in compared(maintained, tmp_path / "further")] == ["messages"]
