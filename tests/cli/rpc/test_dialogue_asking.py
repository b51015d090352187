"""Looking things up over the protocol: search, context, query, export."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.client.local import LocalClient
from cli.rpc.errors import INVALID_PARAMS, REFUSED
from tests.cli.conftest import Mind, lived
from tests.cli.rpc.spoken import made, refused, talked


@pytest.fixture(scope="module")
def told_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One exchange that was answered, and one that is open."""
    home = tmp_path_factory.mktemp("asking")
    return lived(home, ("run",), ("accept",), ("message", "And the Sun?"), ("run",))


@pytest.fixture
def store(told_once: Path, within: Mind) -> Path:
    """The same, for tests that only read it."""
    return told_once


def test_search_names_the_exchange(store: Path) -> None:
    """A hit has the moment and the exchange that it belongs to."""

    async def talk(client: LocalClient) -> Any:
        return await client.call("search", query="Moon", words=True, count=3)

    (hit,) = talked(store, talk)["hits"]
    assert (hit["kind"], hit["exchange"], hit["session"]) == ("answer", "exc_1_000", "main")
    assert hit["ref"] == f"main@{hit['version']}"
    assert "**Moon**" in hit["snippet"]


def test_search_can_look_from_a_moment(store: Path) -> None:
    """Before the answer was accepted, it could not be found; an unknown kind is refused."""

    async def talk(client: LocalClient) -> Any:
        past = await client.call("search", query="Moon", words=True, at="iter:1")
        return past, await refused(client, "search", query="Moon", kinds=["nonsense"])

    past, bad = talked(store, talk)
    assert past["hits"] == []
    assert bad.error == "BadSetting"


def test_context_tells_what_the_next_prompt_shows(store: Path) -> None:
    """Blocks and parts as ``mind context`` has them, with tokens."""

    async def talk(client: LocalClient) -> Any:
        return await client.call("context")

    found = talked(store, talk)
    assert [block["name"] for block in found["blocks"]] == [
        "message",
        "memory",
        "history",
        "drafts",
        "thoughts",
    ]
    assert found["awaiting"] == "exc_2_000"
    assert 0 < found["tokens"] < found["limit"]
    assert any(part["block"] == "message" for part in found["parts"])


def test_a_query_reads(store: Path) -> None:
    """Rows in the order of the columns; more than the limit is told; parameters are filled in."""
    pytest.importorskip("duckdb")
    sql = "SELECT kind, count(*) AS many FROM events WHERE kind = $kind GROUP BY kind"

    async def talk(client: LocalClient) -> Any:
        return (
            await client.call("query", sql=sql, parameters={"kind": "draft.emitted"}),
            await client.call("query", sql="FROM events SELECT kind", limit=2),
            await client.call("query", sql="SELECT 1 AS a, 2 AS a WHERE false"),
            await client.call("query", sql="SELECT $session AS s, $at_version AS v", at="iter:1"),
        )

    counted, cut, empty, ours = talked(store, talk)
    assert counted == {
        "columns": ["kind", "many"],
        "rows": [["draft.emitted", 2]],
        "truncated": False,
    }
    assert (len(cut["rows"]), cut["truncated"]) == (2, True)
    assert (empty["columns"], empty["rows"]) == (["a", "a_1"], [])
    assert ours["rows"][0][0] == "main"
    assert isinstance(ours["rows"][0][1], int)


def test_a_query_does_nothing_but_read_the_store(store: Path, within: Mind) -> None:
    """Whatever writes, reads other files or leaves a name open is refused as by ``mind query``."""
    pytest.importorskip("duckdb")
    wrong = (
        "DELETE FROM events",
        "COPY events TO 'here.csv'",
        "FROM read_csv('/etc/passwd')",
        "SELECT 1; SELECT 2",
        "SELECT $what",
    )

    async def talk(client: LocalClient) -> Any:
        return [await refused(client, "query", sql=sql) for sql in wrong]

    found = talked(store, talk)
    assert {failed.code for failed in found} == {INVALID_PARAMS}
    said = within("query", wrong[0], MIND_STORE=str(store)).err
    assert said == f"mind: {found[0].sentence}\n"


def test_an_export_is_read_in_again(store: Path, within: Mind, tmp_path: Path) -> None:
    """Markdown holds the exchanges in a form that ``mind import`` takes."""

    async def talk(client: LocalClient) -> Any:
        return await client.call("export")

    exported = talked(store, talk)
    assert exported["format"] == "markdown"
    assert within("init", "other").code == 0
    (tmp_path / "talk.md").write_text(exported["text"], encoding="utf-8")
    done = within("import", "talk.md", "--from", "markdown", "--json", MIND_STORE="other")
    assert done.code == 0, done.err
    again = within("history", "-s", "why-two-tides-a-day", "--json", MIND_STORE="other").data
    assert [turn["question"] for turn in again] == ["why two tides a day?"]
    assert again[0]["answer"].strip() == "The Moon pulls the near water more than the Earth."


def test_an_export_has_every_event(store: Path, within: Mind) -> None:
    """Lines of JSON are those of ``mind log``; YAML has the exchanges; both as of a moment, too."""

    async def talk(client: LocalClient) -> Any:
        return (
            await client.call("export", format="jsonl"),
            await client.call("export", format="yaml"),
            await client.call("export", format="yaml", at="iter:1"),
        )

    events, exchanges, past = (one["text"] for one in talked(store, talk))
    logged = within("log", "--count", "0", "--json", MIND_STORE=str(store)).out
    assert [json.loads(one) for one in events.splitlines()] == [
        json.loads(one) for one in logged.splitlines()
    ]
    found = yaml.safe_load(exchanges)
    assert [turn["exchange"] for turn in found["exchanges"]] == ["exc_1_000"]
    assert found["awaiting"]["question"] == "And the Sun?"
    assert yaml.safe_load(past)["exchanges"] == []


def test_an_answer_of_a_query_is_cut(store: Path) -> None:
    """No more rows come than an answer can hold, and that is told."""
    pytest.importorskip("duckdb")

    async def talk(client: LocalClient) -> Any:
        return await client.call("query", sql="SELECT repeat('x', 3000000) FROM range(9)")

    rows = talked(store, talk)
    assert rows["truncated"]
    assert len(rows["rows"]) == 2


def test_what_is_too_long_for_an_answer_is_refused(tmp_path: Path, within: Mind) -> None:
    """The sentence names the command that writes it where the store is."""
    store = made(tmp_path)

    async def talk(client: LocalClient) -> Any:
        for _ in range(15):
            await client.call("think", text="€" * 200_000)
        return await refused(client, "export", format="jsonl")

    failed = talked(store, talk)
    assert (failed.code, failed.error) == (REFUSED, "Refused")
    assert "mind log --count 0 --json -s main" in failed.sentence
