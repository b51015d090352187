"""`mind effort`, `fact`, `event`, `artifact`, `dashboard`: what conversations leave, by hand."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from commands.forks import fork_session
from commands.sessions import start_session
from domain.actors import SYSTEM
from domain.context import assemble
from domain.events import Caused, Event
from domain.ids import SessionId
from domain.recorded import Draw
from tests.cli.conftest import Mind, Ran
from tests.domain.happened import evicted, expanded
from tests.stories.cast import Stage

MAIN, OTHER = SessionId("main"), SessionId("other")


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """An accepted exchange (2 to 7) and another one that is open, and a second session."""
    stage = Stage(tmp_path / "store", "main").begins(detector="off")
    stage.answers("", "Because the moon pulls on both sides.")
    stage.answers("and the sun?", "It does the same from farther away.")
    start_session(stage.log, OTHER, stage.world, settings={"model": "script:rehearsed"})
    return stage


@pytest.fixture
def mind(within: Mind, stage: Stage) -> Mind:
    """Commands on that store, within this process."""

    def run(*words: str, **more: str) -> Ran:
        return within(*words, MIND_STORE=str(stage.log.place.home), MIND_SESSION="main", **more)

    return run


@pytest.fixture
def does(mind: Mind) -> Callable[..., Ran]:
    """The same for what has to succeed."""

    def run(*words: str, **more: str) -> Ran:
        done = mind(*words, **more)
        assert done.code == 0, (words, done)
        return done

    return run


def head(stage: Stage) -> int:
    """The newest version."""
    return stage.log.head(MAIN).version


def happened(stage: Stage, *events: Event) -> None:
    """What the system does."""
    draw = Draw(
        [Caused(event, None, SYSTEM) for event in events],
        stage.world.now(),
        SYSTEM,
        stage.world.command_id(),
    )
    stage.log.append(MAIN, head(stage), draw)


def rows(shown: Ran) -> list[str]:
    """A list without its header, spaces made one."""
    return [" ".join(line.split()) for line in shown.out.splitlines()[1:]]


def memory(stage: Stage) -> list[str]:
    """The artifacts that a mind would be shown now."""
    return [held.text for held in assemble(stage.state, "2026-05-02T10:30").memory]


# efforts


def test_an_effort_from_its_beginning_to_its_end(
    does: Callable[..., Ran], stage: Stage, installed: Mind
) -> None:
    """Opened in an exchange, with a part; resolved; what leaves the context by it is said."""
    store = {"MIND_STORE": str(stage.log.place.home), "MIND_SESSION": "main"}
    done = installed("effort", "open", "explain the tides", "-e", "exc_1", **store)
    assert (done.code, done.out) == (0, "")
    effort = head(stage)
    assert done.err == (f'This is effort {effort}. It ends by: mind effort resolve {effort} "…"\n')
    opened = does("effort", "open", "ask the moon", "--part-of", f"effort:{effort}", "--json")
    part = opened.data["id"]
    assert part == head(stage)
    shown = does("effort", "list")
    assert rows(shown) == [f"{effort} open explain the tides", f"{part} open ask the moon"]
    assert "   ask the moon" in shown.out
    done = does("effort", "resolve", str(effort), "both sides", "--from", "exc_1")
    assert re.search(r"is resolved; 1 exchange left the context, about \d+ → \d+ tokens", done.err)
    assert f"Still open, though parts of it: {part}" in done.err
    assert rows(does("effort", "list", "--open")) == [f"{part} open ask the moon"]
    data = does("effort", "resolve", str(part), "no word", "-o", "failed", "--json").data
    assert data["open_parts"] == []
    assert data["exchanges"] == []
    (row, _) = does("effort", "list", "--json").data
    assert (row["standing"], row["resolution"], row["messages"]) == (
        "resolved",
        "both sides",
        [2, 5],
    )


def test_an_effort_is_reopened_expanded_and_collapsed(
    does: Callable[..., Ran], mind: Mind, stage: Stage
) -> None:
    """Each said in one sentence; a second time there is nothing to do."""
    does("effort", "open", "explain", "--apart")
    effort = str(head(stage))
    does("effort", "resolve", effort, "so")
    assert f"exchanges of effort {effort}" in does("effort", "expand", effort).err
    assert "(expanded)" in does("effort", "list").out
    assert mind("effort", "expand", effort).code == 2
    assert "goal and resolution alone" in does("effort", "collapse", effort).err
    assert does("effort", "reopen", effort, "--reason", "not so").err == (
        f"Effort {effort} is open again.\n"
    )
    told = does("effort", "show", effort).out
    assert "effort.reopened  effort" in told
    assert "not so" in told


def test_an_effort_begins_in_the_open_exchange(does: Callable[..., Ran], stage: Stage) -> None:
    """Unless another is named, or none."""
    does("message", "and the wind?")
    does("effort", "open", "explain the wind")
    effort = head(stage)
    asked = stage.state.dialogue.awaiting
    assert asked is not None
    assert stage.state.shelf.thread(effort) == (asked.exchange,)
    does("effort", "open", "something else", "--apart")
    assert stage.state.shelf.thread(head(stage)) == ()
    does("artifact", "route", asked.exchange, "--none")
    assert stage.state.shelf.thread(effort) == ()
    does("artifact", "route", asked.exchange, str(effort))
    assert stage.state.shelf.thread(effort) == (asked.exchange,)


# facts and events


def test_facts(does: Callable[..., Ran], stage: Stage) -> None:
    """Learned with the messages they came from; superseded; what no longer holds with --all."""
    done = does("fact", "learn", "two tides", "--since", "2026-05-02", "--from", "exc_1:1")
    fact = head(stage)
    assert done.err == f"This is fact {fact}: mind fact show {fact}\n"
    new = does("fact", "learn", "one tide", "--supersedes", str(fact), "--json").data["id"]
    assert rows(does("fact", "list")) == [f"{new} current one tide"]
    does("fact", "supersede", str(new), "two tides a day", "--reason", "counted")
    newest = head(stage) - 1
    assert rows(does("fact", "list", "--all")) == [
        f"{fact} superseded two tides (since 2026-05-02, by {new})",
        f"{new} superseded one tide (by {newest})",
        f"{newest} current two tides a day",
    ]
    assert does("fact", "supersede", str(newest), "--json").data == {"id": newest, "by": None}
    shown = does("fact", "show", str(new)).out
    assert f"superseded by: {newest} (superseded) two tides a day" in shown
    assert f"supersedes: {fact} (superseded) two tides" in shown


def test_events(does: Callable[..., Ran], mind: Mind, stage: Stage) -> None:
    """Noted with a time as people say it, listed by time; a time that is none is refused."""
    does("event", "note", "later", "--when", "2999-05-02 15:00", "--expires", "2999-05-03")
    later = head(stage)
    soon = does("event", "note", "soon", "--when", "tomorrow at 3pm", "--json").data["id"]
    does("event", "note", "long ago", "--when", "2001-01-01")
    (row,) = [row for row in does("event", "list", "--json").data if row["id"] == soon]
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT15:00", row["when"])
    coming = [row["id"] for row in does("event", "list", "--upcoming", "--json").data]
    assert coming == [soon, later]
    told = does("event", "show", str(later)).out
    assert "when: 2999-05-02T15:00" in told
    assert "expires: 2999-05-03" in told
    refused = mind("event", "note", "x", "--when", "whenever")
    assert refused.code == 2
    assert "'whenever' is no date: write 2026-05-02" in refused.err


# artifacts of any type


def test_the_list_of_artifacts(does: Callable[..., Ran], stage: Stage) -> None:
    """Of all types or some; what left the context with --all; as of any moment."""
    does("effort", "open", "explain", "--apart")
    effort = head(stage)
    does("fact", "learn", "a", "--effort", str(effort))
    does("event", "note", "tea")
    happened(stage, evicted(effort + 1))
    shown = does("artifact", "list")
    assert rows(shown) == [f"{effort} effort open explain", f"{effort + 2} event current tea"]
    assert "1 artifact that left the context not shown: add --all." in shown.err
    assert rows(does("artifact", "list", "-t", "fact", "--all")) == [f"{effort + 1} fact evicted a"]
    past = does("at", str(effort + 1), "artifact", "list", "--json").data
    assert [(row["id"], row["standing"]) for row in past] == [
        (effort, "open"),
        (effort + 1, "current"),
    ]
    assert does("at", "1", "artifact", "list").err == "There is no artifact yet.\n"
    does("artifact", "recall", str(effort + 1))
    assert len(rows(does("artifact", "list"))) == 3


def test_artifacts_are_edited_merged_rejected_linked(
    does: Callable[..., Ran], mind: Mind, stage: Stage
) -> None:
    """Each an event; what was rejected leaves orphans that can be asked for."""
    does("effort", "open", "explain", "--apart")
    effort = head(stage)
    one, two = (does("fact", "learn", w, "-e", str(effort), "--json").data["id"] for w in "ab")
    does("artifact", "edit", str(one), "--text", "a2", "--when", "2026-05-02")
    does("artifact", "link", str(one), str(two), "--as", "speaks against")
    data = does("artifact", "show", str(one), "--json").data
    assert (data["text"], data["when"]) == ("a2", "2026-05-02")
    assert data["links"][0]["relation"] == "speaks against"
    assert [one_["kind"] for one_ in data["history"]] == [
        "fact.learned",
        "artifact.edited",
        "artifact.linked",
    ]
    assert does("artifact", "merge", str(two), str(one)).err == f"{one} stands for {two} as well.\n"
    refused = mind("artifact", "edit", str(two), "--text", "x")
    assert (refused.code, "merged into" in refused.err) == (2, True)
    done = does("artifact", "reject", str(effort), "--reason", "nobody wanted it")
    assert f"Orphans by that: {one} (mind artifact list --orphans)" in done.err
    orphans = does("artifact", "list", "--orphans", "--json").data
    assert [row["id"] for row in orphans] == [one]


def test_an_artifact_is_kept_from_the_mind(does: Callable[..., Ran], stage: Stage) -> None:
    """And shown again."""
    does("fact", "learn", "the moon is a balloon")
    fact = str(head(stage))
    assert memory(stage) == ["the moon is a balloon"]
    does("artifact", "exclude", fact)
    assert memory(stage) == []
    assert rows(does("fact", "list")) == [f"{fact} excluded the moon is a balloon"]
    does("artifact", "include", fact)
    assert memory(stage) == ["the moon is a balloon"]


def test_artifacts_are_imported_and_followed(
    does: Callable[..., Ran], mind: Mind, stage: Stage
) -> None:
    """By reference; the list says when the origin has moved on, and follow brings it here."""
    does("fact", "learn", "two tides", "-s", "other")
    fact = stage.log.head(OTHER).version
    done = does("artifact", "import", f"other@{fact}", "--follow")
    copy = head(stage)
    assert f"This is fact {copy}, 'two tides' of other@{fact}, and follows it" in done.err
    assert f"(from other@{fact}, followed)" in does("fact", "list").out
    assert does("artifact", "follow").err == "All that follow are as they are in their origins.\n"
    does("artifact", "edit", str(fact), "--text", "many tides", "-s", "other")
    assert f"(from other@{fact}, followed, origin has moved on)" in does("fact", "list").out
    assert "says there: many tides" in does("fact", "show", str(copy)).out
    assert does("artifact", "follow", "--json").data == {"changed": [copy]}
    assert rows(does("fact", "list")) == [
        f"{copy} current many tides (from other@{fact}, followed)"
    ]
    again = mind("artifact", "import", f"other@fact:{fact}")
    assert (again.code, f"Fact {copy} is that of other@{fact} already" in again.err) == (2, True)
    does("fact", "learn", "of my own")
    refused = mind("artifact", "follow", str(head(stage)))
    assert "was not imported" in refused.err


def test_the_picture(does: Callable[..., Ran], stage: Stage, tmp_path: Path) -> None:
    """A tree in the terminal, Graphviz, an image or a page, on stdout or in a file."""
    assert does("artifact", "graph").err == "There is no artifact yet.\n"
    does("effort", "open", "explain", "--apart")
    effort = head(stage)
    does("effort", "open", "ask", "-p", str(effort), "--apart")
    does("fact", "learn", "a", "-e", str(effort + 1))
    does("fact", "supersede", str(effort + 2), "b")
    assert does("artifact", "graph").out.splitlines() == [
        f"effort {effort} (open)  explain",
        f"└─ effort {effort + 1} (open)  ask",
        f"   ├─ fact {effort + 2} (superseded)  a",
        f"   └─ fact {effort + 3}  b [supersedes {effort + 2}]",
    ]
    assert does("artifact", "graph", "--dot").out.startswith('digraph "Artifacts of main" {')
    assert does("artifact", "graph", "--svg").out.startswith("<svg ")
    page = tmp_path / "page.html"
    done = does("artifact", "graph", "--html", "-o", str(page))
    assert (done.out, done.err) == ("", f"Wrote {page}.\n")
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")
    data = does("at", str(effort), "artifact", "graph", "--json").data
    assert [node["id"] for node in data["nodes"]] == [str(effort)]


def test_the_dashboard(does: Callable[..., Ran], stage: Stage) -> None:
    """All chats at a glance; a branch that has the same is counted, not repeated."""
    does("effort", "open", "explain", "--apart")
    effort = head(stage)
    does("fact", "learn", "two tides", "-s", "other")
    does("event", "note", "eclipse", "--when", "2999-08-12")
    fork_session(stage.log, MAIN, head(stage), SessionId("b"), stage.world)
    told = does("dashboard").out.splitlines()
    assert told == [
        "open efforts",
        f"  main@{effort} (in 2 branches) explain",
        "recent facts",
        f"  other@{stage.log.head(OTHER).version} two tides",
        "upcoming events",
        f"  main@{effort + 1} (in 2 branches) 2999-08-12 eclipse",
    ]
    data = does("dashboard", "--json").data
    assert set(data) == {"open_efforts", "recent_facts", "upcoming_events"}
    assert data["open_efforts"][0]["sessions"] == ["main", "b"]
    does("archive", "other")
    assert does("dashboard", "--json").data["recent_facts"] == []
    assert len(does("dashboard", "--all", "--json").data["recent_facts"]) == 1


# refs


def test_artifacts_are_moments(does: Callable[..., Ran], mind: Mind, stage: Stage) -> None:
    """`effort:12` names one wherever a ref does; show and why lead to its messages."""
    does("effort", "open", "explain", "-e", "exc_1")
    effort = head(stage)
    shown = does("show", f"effort:{effort}").out
    assert "from 2, message.sent: why two tides?" in shown
    data = does("show", f"artifact:{effort}", "--json").data
    assert [message["version"] for message in data["came_from"]] == [2, 5]
    assert "came_from" not in does("show", "2", "--json").data
    told = does("why", f"effort:{effort}").out
    assert "came from" in told
    assert does("at", f"effort:{effort}", "status", "--json").data["version"] == effort
    does("effort", "resolve", str(effort), "so")
    assert "tells of" in does("why", "~1").out
    refused = mind("show", f"fact:{effort}")
    assert refused.code == 2
    assert f"has no moment 'fact:{effort}'; the nearest is effort:{effort}." in refused.err
    assert mind("show", "artifact:2").code == 2


# what is refused


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("effort", "show", "x"), "'x' is no artifact: give its number (mind artifact list)."),
        (("effort", "show", "session:4"), "'session:4' is no artifact"),
        (("effort", "show", "99"), "There is no artifact 99 here (mind artifact list --all)."),
        (("effort", "resolve", "99", "x"), "There is no artifact 99"),
        (("effort", "resolve", "2", "x", "-o", "won"), "'won' is no outcome"),
        (("effort", "open", "x", "-e", "4"), "'4' is no exchange: give its id"),
        (("effort", "open", "x", "-e", "exc_1:1"), "'exc_1:1' is no exchange"),
        (("effort", "open", "x", "-e", "exc_9"), "has no moment 'exc_9'"),
        (("effort", "open", "x", "-e", "exc_1", "--apart"), "not both"),
        (("fact", "learn", "x", "--from", "1"), "'1' is a session.started: name a message"),
        (("fact", "learn", "x", "--from", "other@1"), "is of another session"),
        (("fact", "learn", " "), "The statement is empty"),
        (("artifact", "list", "-t", "thing"), "'thing' is no type: choose from effort, fact"),
        (("artifact", "import", "12"), "write it as payments@12"),
        (("artifact", "import", "nowhere@1"), "There is no session 'nowhere'"),
        (("artifact", "import", "other@1"), "There is no artifact 1"),
        (("artifact", "route", "exc_1"), "or say --none"),
        (("artifact", "graph", "--svg", "--dot"), "Choose one of"),
        (("artifact", "graph", "--svg", "-o", "no/where.svg"), "can't be written"),
        (("artifact", "follow", "99"), "There is no artifact 99"),
        (("at", "2", "effort", "open", "x"), "The past can only be read"),
        (("at", "2", "event", "note", "x"), "The past can only be read"),
        (("at", "2", "artifact", "follow"), "The past can only be read"),
        (("at", "2", "artifact", "import", "other@1"), "The past can only be read"),
    ],
)
def test_what_is_refused(mind: Mind, stage: Stage, words: tuple[str, ...], why: str) -> None:
    """In one sentence, with nothing changed."""
    before = list(stage.log.feed())
    refused = mind(*words)
    assert (refused.code, refused.out) == (2, "")
    assert why in refused.err
    assert refused.err.count("\n") == 1
    assert list(stage.log.feed()) == before


def test_nothing_commands_the_terminal(does: Callable[..., Ran], stage: Stage) -> None:
    """Whatever was written is shown, never obeyed."""
    nasty = "a \x1b[31mred\x1b[0m\nherring"
    does("effort", "open", nasty, "-e", "exc_1")
    effort = str(head(stage))
    does("fact", "learn", nasty, "-e", effort)
    does("effort", "resolve", effort, nasty)
    happened(stage, expanded(int(effort)))
    for words in (
        ("effort", "list"),
        ("effort", "show", effort),
        ("artifact", "list"),
        ("artifact", "list", "--json"),
        ("artifact", "graph"),
        ("artifact", "graph", "--dot"),
        ("artifact", "graph", "--html"),
        ("dashboard",),
        ("why", f"effort:{effort}"),
        ("show", f"effort:{effort}"),
    ):
        shown = does(*words)
        assert "\x1b" not in shown.out + shown.err, words
    assert json.loads(does("artifact", "list", "--json").out)


def test_redaction_reaches_what_was_made(
    does: Callable[..., Ran], mind: Mind, stage: Stage
) -> None:
    """Of a message the artifacts; of an artifact its copies elsewhere; each is named first."""
    does("fact", "learn", "she lives in Bay Street", "--from", "exc_1")
    fact = head(stage)
    does("artifact", "import", f"main@{fact}", "-s", "other")
    copy = stage.log.head(OTHER).version
    why = ("--reason", "private", "--yes")
    refused = mind("redact", "exc_1_000", *why)
    assert refused.code == 2
    assert f"(main@{fact}, other@{copy}" in refused.err
    assert "say --everywhere to remove it there too" in refused.err
    left = does("redact", f"fact:{fact}", *why, "--only", "--json").data
    assert (left["redacted"], left["left"]) == ([f"main@{fact}"], [f"other@{copy}"])
    assert "[redacted]" in does("fact", "list").out
    assert "Bay Street" in does("fact", "list", "-s", "other").out
    done = does("redact", "2", *why, "--only")
    assert "Left as it is" not in done.err
    done = does("redact", str(copy), *why, "-s", "other")
    assert "Bay Street" not in does("fact", "list", "-s", "other").out
    for words in (("artifact", "graph"), ("artifact", "show", str(fact)), ("dashboard",)):
        assert "Bay Street" not in does(*words).out
