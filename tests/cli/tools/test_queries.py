"""SQL by a tool: in a process of its own, which ends when nobody waits for it any more."""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest

from cli.tools.bounds import ROOM
from cli.tools.queries import Queries
from cli.tools.reading import read_tools
from commands.eventlog.place import Place
from domain.errors import Refused
from tests.stories.cast import Stage

pytest.importorskip("duckdb")

T = TypeVar("T")

ENDLESS = "SELECT count(*) FROM range(10000000000) a, range(10000000000) b"


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """A session with one accepted exchange."""
    stage = Stage(tmp_path_factory.mktemp("asked") / "store").begins(embedding_model="off")
    stage.answers("why two tides?", "The Moon pulls at both halves of it.")
    return stage


def test_a_query_is_answered_as_rows(stage: Stage) -> None:
    """$session is the session that is named; what is more than the limit is told of."""
    tools = {tool.name: tool for tool in read_tools(stage.log, stage.directory, stage.world)}
    sql = "SELECT message FROM exchanges_of($session), range(3)"
    given: dict[str, Any] = {"sql": sql, "session": "tides", "limit": 2}
    answer = asyncio.run(tools["query"].run(given))
    assert answer["rows"] == [{"message": "why two tides?"}] * 2
    assert answer["more"].startswith("There is more")


def test_a_query_that_does_more_than_read_is_refused(stage: Stage) -> None:
    """With the sentence of `mind query`."""
    with pytest.raises(Refused, match="This statement is no query"):
        asyncio.run(Queries(Place(stage.directory)).rows("DELETE FROM events"))


def test_an_answer_fits_however_wide_its_rows_are(stage: Stage) -> None:
    """Long texts and lists are cut, many columns are cut shorter."""
    wide = ", ".join(f"repeat('x', 5000) AS c{n}" for n in range(60))
    sql = f"SELECT {wide}, list(range) AS l FROM range(3000)"  # noqa: S608 — our own words
    answer = asyncio.run(Queries(Place(stage.directory)).rows(sql))
    assert len(answer["rows"]) == 1
    assert len(json.dumps(answer)) < ROOM
    assert answer["rows"][0]["c0"].endswith("more characters]")


def test_tables_are_described(stage: Stage) -> None:
    """What can be asked, with questions to begin with."""
    described = asyncio.run(Queries(Place(stage.directory)).tables())
    assert "drafts_of" in {row["name"] for row in described["rows"]}
    assert all(example["sql"] for example in described["examples"])
    with pytest.raises(Refused, match="There is no table"):
        asyncio.run(Queries(Place(stage.directory)).tables("nope"))


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_who_stops_waiting_ends_the_query(stage: Stage) -> None:
    """A cancelled call leaves no process behind, long before the query would have ended."""

    async def cancelled() -> None:
        call = asyncio.create_task(Queries(Place(stage.directory)).rows(ENDLESS))
        children = await asyncio.to_thread(until, processes)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.to_thread(until, lambda: not processes() & children)

    asyncio.run(asyncio.wait_for(cancelled(), 15))


def until(look: Callable[[], T]) -> T:
    """What there is to be seen, once there is."""
    while not (found := look()):
        os.sched_yield()
    return found


def processes() -> set[str]:
    """The processes of this one that ask."""
    found = set()
    for thread in Path("/proc/self/task").iterdir():
        for child in (thread / "children").read_text().split():
            with suppress(OSError):  # it has ended since
                if b"cli.main" in Path(f"/proc/{child}/cmdline").read_bytes():
                    found.add(child)
    return found
