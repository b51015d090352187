"""Reading a dialogue over the protocol: what the command line says, now and as of any moment."""

from pathlib import Path
from typing import Any

import pytest

from cli.client.local import LocalClient
from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft
from domain.dialogue import TEXTS_KEPT
from tests.cli.conftest import Mind, lived
from tests.cli.rpc.spoken import made, refused, talked
from tests.stories.cast import Stage


@pytest.fixture(scope="module")
def told_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two exchanges: one with two drafts, of which the second was accepted; one that is open."""
    home = tmp_path_factory.mktemp("reading")
    return lived(home, ("run",), ("run",), ("accept",), ("message", "And the Sun?"), ("run",))


@pytest.fixture
def store(told_once: Path, within: Mind) -> Path:
    """The same; reading changes nothing."""
    return told_once


def test_status_says_where_a_session_stands(store: Path) -> None:
    """What awaits, how often the mind was asked, how present the user is: in one answer."""

    async def talk(client: LocalClient) -> Any:
        return await client.call("status")

    status = talked(store, talk)
    assert status["session"] == "main"
    assert status["state"] == "drafting"
    assert status["awaiting"] == {"exchange": "exc_3_000", "text": "And the Sun?"}
    assert status["iteration"] == 3
    assert status["exchanges"] == 1
    assert status["presence"] == "absent"
    assert status["unknownCosts"] == 3
    assert status["version"] == status["position"]


def test_the_past_is_seen_from_there(store: Path) -> None:
    """Status, drafts and thoughts of a moment are what they were then; history knew nothing yet."""

    async def talk(client: LocalClient) -> Any:
        names = ("status", "drafts", "thoughts", "history")
        return [await client.call(name, at="iter:1") for name in names]

    status, drafts, thoughts, history = talked(store, talk)
    assert status["iteration"] == 1
    assert status["awaiting"]["exchange"] == "exc_1_000"
    assert [draft["index"] for draft in drafts["drafts"]] == [1]
    assert [thought["text"] for thought in thoughts["thoughts"]] == [
        "the far bulge is the surprising half"
    ]
    assert history["entries"] == []


def test_history_counts_the_drafts_of_each_exchange(store: Path) -> None:
    """An entry has question and answer, which draft it was, and of how many."""

    async def talk(client: LocalClient) -> Any:
        return await client.call("history", count=5)

    (entry,) = talked(store, talk)["entries"]
    assert entry["message"] == "why two tides a day?"
    assert entry["answer"].endswith("the far water.")
    assert (entry["index"], entry["drafts"], entry["by"]) == (2, 2, "user")


def test_drafts_stand_newest_first(store: Path) -> None:
    """Those of a closed exchange stay readable, with their ages in iterations."""

    async def talk(client: LocalClient) -> Any:
        first = await client.call("drafts", exchange="exc_1_000")
        return first, await client.call("drafts")

    closed, open_ = talked(store, talk)
    assert [draft["index"] for draft in closed["drafts"]] == [2, 1]
    assert [draft["age"] for draft in closed["drafts"]] == [2, 3]
    assert [draft["accepted"] for draft in closed["drafts"]] == [True, False]
    assert not closed["open"]
    assert open_["open"]
    assert [draft["signal"] for draft in open_["drafts"]] == [True]


def test_two_drafts_are_compared_by_lines_and_by_words(store: Path) -> None:
    """What went and came, line by line; put together, the words are both drafts."""

    async def talk(client: LocalClient) -> Any:
        diff = await client.call("draft_diff", exchange="exc_1_000", a=1, b=2)
        return diff, await client.call("drafts", exchange="exc_1_000")

    diff, board = talked(store, talk)
    second, first = (draft["text"] for draft in board["drafts"])
    assert [line["op"] for line in diff["lines"]] == ["-", "+"]
    assert "".join(p["text"] for p in diff["pieces"] if p["op"] != "+") == first
    assert "".join(p["text"] for p in diff["pieces"] if p["op"] != "-") == second


def test_thoughts_stand_newest_first(store: Path) -> None:
    """At most as many as were asked for, and how many there ever were."""

    async def talk(client: LocalClient) -> Any:
        return await client.call("thoughts", count=1)

    thoughts = talked(store, talk)
    assert [thought["text"] for thought in thoughts["thoughts"]] == ["compare with Fundy"]
    assert thoughts["total"] == 2
    assert thoughts["thoughts"][0]["origin"] == "mind"


def test_a_timeline_is_read_in_stretches(store: Path) -> None:
    """The newest, those behind a version, those before one: always in order, and never twice."""

    async def talk(client: LocalClient) -> Any:
        newest = await client.call("timeline", count=4)
        before = newest["events"][0]["version"]
        return (
            newest,
            await client.call("timeline", before=before, count=3),
            await client.call("timeline", after=1, count=2),
            await client.call("timeline", after=newest["last"]),
            await client.call("timeline", at="iter:1"),
        )

    newest, earlier, begin, none, past = talked(store, talk)
    last = newest["last"]
    assert [event["version"] for event in newest["events"]] == [*range(last - 3, last + 1)]
    assert [event["version"] for event in earlier["events"]] == [*range(last - 6, last - 3)]
    assert [event["version"] for event in begin["events"]] == [2, 3]
    assert none["events"] == []
    assert past["last"] == past["events"][-1]["version"] < last
    assert begin["events"][0]["summary"] == "exc_1_000: why two tides a day?"


def test_what_was_redacted_is_told_as_such(tmp_path: Path, within: Mind) -> None:
    """Every reading method goes on working when texts were taken away for good."""
    store = str(made(tmp_path))
    for words in (("run",), ("accept",), ("redact", "exc_1_000:1", "--reason", "x", "--yes")):
        done = within(*words, MIND_STORE=store)
        assert done.code == 0, done.err

    async def talk(client: LocalClient) -> Any:
        names = ("status", "history", "drafts", "thoughts", "timeline", "context", "export")
        return {name: await client.call(name) for name in names}

    found = talked(Path(store), talk)
    assert found["history"]["entries"][0]["answer"] == "[redacted]"
    assert found["drafts"]["drafts"][0]["text"] == "[redacted]"
    assert any(event["redacted"] for event in found["timeline"]["events"])
    assert "[redacted]" in found["export"]["text"]
    assert "The Moon pulls" not in str(found)


def test_long_ago_drafts_are_counted_too(tmp_path: Path, within: Mind) -> None:
    """Beyond the exchanges that the state holds, a count comes from the log."""
    stage = Stage(tmp_path / "long").begins(None)
    for number in range(TEXTS_KEPT + 1):
        stage.does(SendMessage(text=f"question {number}"))
        stage.runs("draft: an answer that is long enough", iterations=2 if number == 0 else 1)
        stage.does(AcceptDraft())

    async def talk(client: LocalClient) -> Any:
        return await client.call("history", count=TEXTS_KEPT + 1)

    entries = talked(tmp_path / "long", talk)["entries"]
    assert [entry["drafts"] for entry in entries] == [2] + [1] * TEXTS_KEPT


REFUSED: list[tuple[str, dict[str, Any], list[str]]] = [
    ("status", {"session": "nope"}, ["status", "--session", "nope"]),
    ("status", {"session": "../x"}, ["status", "--session", "../x"]),
    ("status", {"at": "draft:9"}, ["at", "draft:9", "status"]),
    ("status", {"at": "the day"}, ["at", "the day", "status"]),
    ("drafts", {"exchange": "exc_9_000"}, ["drafts", "--exchange", "exc_9_000"]),
    ("draft_diff", {"a": 1, "b": 7}, ["drafts", "diff", "1", "7"]),
]


def test_refusals_are_those_of_the_command_line(store: Path, within: Mind) -> None:
    """The sentence of an error is the one that ``mind`` prints for the same wish."""

    async def talk(client: LocalClient) -> list[str]:
        failures = [await refused(client, method, **params) for method, params, _ in REFUSED]
        return [f"mind: {failed.sentence}\n" for failed in failures]

    said = [within(*words, MIND_STORE=str(store)).err for _, _, words in REFUSED]
    assert talked(store, talk) == said
