"""Tools that read a store: what they answer fits, says how to get the rest, and changes nothing."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from cli.tools.bounds import ROOM
from cli.tools.reading import read_tools
from commands.agents.arguments import checked
from commands.artifacts.efforts import OpenEffort, ResolveEffort
from commands.artifacts.facts import LearnFact
from commands.dialogue import SendMessage
from commands.forks import fork_session
from commands.redaction import redact_events
from domain.errors import BadName, NoSuchExchange, NoSuchMoment, NoSuchSession
from domain.ids import SessionId
from tests.stories.cast import Stage

LONG = "the water rises and falls " * 1_000


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """A session with two accepted exchanges, one of them long, and a message that awaits."""
    stage = Stage(tmp_path / "store").begins(embedding_model="off")
    stage.runs("thoughts: [the far bulge is the surprising half]\ndraft: The Moon pulls at both.")
    stage.answers("why two tides?", "The Moon pulls at both.")
    stage.answers("and in words?", LONG)
    stage.does(SendMessage(text="and the Sun?"))
    stage.runs("draft: The Sun pulls half as much as the Moon.", "draft: '+1'")
    return stage


def asked(stage: Stage, name: str, **given: Any) -> Any:
    """What a tool answers, checked to fit and to be JSON."""
    tools = {tool.name: tool for tool in read_tools(stage.log, stage.directory, stage.world)}
    answer = asyncio.run(tools[name].run(checked(tools[name], given)))
    text = json.dumps(answer, ensure_ascii=False, allow_nan=False)
    assert len(text) < ROOM + 1_000
    return json.loads(text)


def test_history_is_read_backwards_page_by_page(stage: Stage) -> None:
    """The newest exchanges come first to hand, and `before` leads to older ones, to the first."""
    newest = asked(stage, "read_history", count=1)
    assert [one["message"] for one in newest["exchanges"]] == ["and in words?"]
    assert newest["exchanges"][0]["answer"].endswith("more characters]")
    assert newest["awaits_answer"]["message"] == "and the Sun?"
    before = newest["exchanges"][0]["version"]
    assert newest["older"] == f"read_history with before={before}"
    older = asked(stage, "read_history", count=5, before=before)
    assert [one["answer"] for one in older["exchanges"]] == ["The Moon pulls at both."]
    assert "older" not in older
    assert "awaits_answer" not in older
    assert asked(stage, "read_history", before=1)["exchanges"] == []


def test_what_was_shortened_is_read_whole_in_pages(stage: Stage) -> None:
    """`show_event` gives the rest of a long text, page by page."""
    [draft] = [r for r in stage.history() if getattr(r.event, "text", None) == LONG.strip()]
    read, offset = "", 0
    while True:
        page = asked(stage, "show_event", version=draft.version, offset=offset)
        read += page["data"]["text"]
        if "more" not in page:
            break
        assert page["characters_left"]["text"] == len(LONG.strip()) - len(read)
        offset = int(page["more"].rpartition("=")[2])
    assert read == LONG.strip()
    assert page["kind"] == "draft.emitted"
    assert page["actor"] == "mind:rehearsed"


def test_every_event_can_be_shown(stage: Stage) -> None:
    """Whatever its fields are, bytes and long lists among them."""
    for recorded in stage.history():
        assert asked(stage, "show_event", version=recorded.version)["kind"] == recorded.event.kind


def test_drafts_come_newest_first_with_their_marks(stage: Stage) -> None:
    """Which one is a signal and which was accepted is said where it is so."""
    shown = asked(stage, "read_drafts")
    assert shown["open"] is True
    assert [one["text"] for one in shown["drafts"]][-1].startswith("The Sun pulls half")
    assert all("accepted" not in one for one in shown["drafts"])
    first = asked(stage, "read_drafts", exchange="exc_1_000")
    assert [one.get("accepted", False) for one in first["drafts"]].count(True) == 1
    assert first["open"] is False


def test_thoughts_are_told_with_their_age(stage: Stage) -> None:
    """The newest first, and how many there ever were."""
    told = asked(stage, "read_thoughts")
    [thought] = told["thoughts"]
    assert thought["text"] == "the far bulge is the surprising half"
    assert thought["age"] >= 1
    assert (told["in_pool"], told["ever"]) == (1, 1)


def test_artifacts_are_told_by_type_and_standing(stage: Stage) -> None:
    """All of them, or only what is open or still holds; newest first."""
    effort = stage.does(OpenEffort(goal="explain tides")).state.version
    stage.does(ResolveEffort(effort=effort, resolution="done so"))
    stage.does(OpenEffort(goal="measure them"), LearnFact(statement="the Moon is near"))
    told = [(one["type"], one["text"], one["standing"]) for one in artifacts(stage)]
    assert told == [
        ("fact", "the Moon is near", "current"),
        ("effort", "measure them", "open"),
        ("effort", "explain tides", "resolved"),
    ]
    assert [one["text"] for one in artifacts(stage, type="effort", open=True)] == ["measure them"]
    assert artifacts(stage, type="effort")[1]["resolution"] == "done so"
    assert len(artifacts(stage, count=1)) == 1


def artifacts(stage: Stage, **given: Any) -> list[dict[str, Any]]:
    """Artifacts as the tool tells them."""
    found: list[dict[str, Any]] = asked(stage, "read_artifacts", **given)["artifacts"]
    return found


def test_a_fork_shows_what_it_inherited(stage: Stage) -> None:
    """Its history is its parent's up to where it branched off, whatever came later."""
    at = asked(stage, "read_history")["exchanges"][0]["version"]
    fork_session(stage.log, stage.session, at, SessionId("tides/colder"), stage.world)
    told = asked(stage, "read_history", session="tides/colder")
    assert [one["answer"] for one in told["exchanges"]] == ["The Moon pulls at both."]
    listed = {one["session"]: one for one in asked(stage, "list_sessions")["sessions"]}
    assert (listed["tides/colder"]["parent"], listed["tides/colder"]["forked_at"]) == ("tides", at)


def test_what_was_redacted_is_shown_as_such(stage: Stage) -> None:
    """The text is gone from every answer, and nothing fails for it."""
    [asked_] = [r for r in stage.history() if getattr(r.event, "text", None) == "and the Sun?"]
    redact_events(stage.log, [asked_], "private", stage.world)
    assert asked(stage, "read_history")["awaits_answer"]["message"] == "[redacted]"
    assert asked(stage, "show_event", version=asked_.version)["redacted"] is True
    assert asked(stage, "read_drafts")["message"] == "[redacted]"


def test_sessions_are_listed_newest_first(stage: Stage) -> None:
    """With the time, so that a model knows how long ago all this was."""
    listed = asked(stage, "list_sessions")
    assert listed["current"] == "tides"
    assert listed["now"].startswith("2026-05-02")
    [only] = listed["sessions"]
    assert (only["session"], only["state"]) == ("tides", "drafting")


@pytest.mark.parametrize(
    ("tool", "given", "refusal"),
    [
        ("read_history", {"session": "nope"}, NoSuchSession),
        ("read_history", {"session": "agent:one"}, BadName),
        ("read_drafts", {"session": "../../etc"}, BadName),
        ("read_drafts", {"exchange": "exc_99_000"}, NoSuchExchange),
        ("show_event", {"version": 9_999}, NoSuchMoment),
        ("search", {"query": "tides", "session": "nope"}, NoSuchSession),
    ],
)
def test_what_is_not_there_is_refused(
    stage: Stage, tool: str, given: dict[str, Any], refusal: type[Exception]
) -> None:
    """A wrong name is a refusal with a sentence, never a fault."""
    with pytest.raises(refusal):
        asked(stage, tool, **given)


def test_search_finds_with_marks(stage: Stage) -> None:
    """Hits name session and version, and show what matched."""
    hits = asked(stage, "search", query="Moon", count=5)["hits"]
    assert "**Moon**" in hits[0]["text"]
    assert asked(stage, "show_event", version=hits[0]["version"])["session"] == "tides"
    assert asked(stage, "search", query="Moon", session="tides", count=1)["hits"] == hits[:1]


def test_reading_changes_nothing(stage: Stage) -> None:
    """No tool appends an event."""
    position = stage.log.position()
    for name in ("list_sessions", "read_history", "read_drafts", "read_thoughts", "read_artifacts"):
        asked(stage, name)
    asked(stage, "search", query="tides")
    assert stage.log.position() == position
