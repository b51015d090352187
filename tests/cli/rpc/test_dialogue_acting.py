"""Acting over the protocol: messages, drafts, presence, forks, settings."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from cli.client.local import LocalClient
from cli.rpc.errors import INVALID_PARAMS, REFUSED
from tests.cli.conftest import Mind
from tests.cli.rpc.spoken import made, refused, talked


@pytest.fixture
def store(tmp_path: Path, within: Mind) -> Path:
    """A session that awaits drafts."""
    return made(tmp_path)


def test_an_exchange_from_message_to_answer(store: Path) -> None:
    """Run, accept, and the next message: each answers with what it made."""

    async def talk(client: LocalClient) -> Any:
        first = await client.call("run")
        accepted = await client.call("accept")
        sent = await client.call("message", text="And the Sun?")
        return first, accepted, sent, await client.call("status")

    ran, accepted, sent, status = talked(store, talk)
    assert (ran["reason"], ran["iterations"]) == ("draft", 1)
    assert (accepted["exchange"], accepted["index"]) == ("exc_1_000", 1)
    assert accepted["text"].startswith("The Moon")
    assert sent["exchange"] == status["awaiting"]["exchange"] == "exc_2_000"


def test_what_a_message_leaves_among_artifacts_is_told(store: Path) -> None:
    """As after ``mind message``: an effort that was opened stands in the answer."""

    async def talk(client: LocalClient) -> Any:
        await client.call("run")
        await client.call("accept")
        return await client.call("message", text="I need to fix the login before Friday.")

    assert "effort.opened" in "".join(talked(store, talk)["remarks"])


def test_seen_marks_drafts(store: Path) -> None:
    """A background run leaves drafts unseen; marking them says which were marked, once."""

    async def talk(client: LocalClient) -> Any:
        await client.call("run", mode="background", iterations=2)
        before = await client.call("status")
        first = await client.call("seen", indexes=[2])
        rest = await client.call("seen")
        return before, first, rest, await client.call("status")

    before, first, rest, after = talked(store, talk)
    assert (before["unseen"], after["unseen"]) == (2, 0)
    assert (first["indexes"], rest["indexes"]) == ([2], [1])


def test_presence_is_set_kept_and_taken_back(store: Path) -> None:
    """What is left out stays; without anything, it is only told."""

    async def talk(client: LocalClient) -> Any:
        return [
            await client.call("signal"),
            await client.call("signal", presence="r", status="at my desk"),
            await client.call("signal", presence="engaged"),
            await client.call("signal", clear=True),
            await client.call("signal"),
        ]

    found = [(one["presence"], one["statusText"]) for one in talked(store, talk)]
    assert found == [
        ("absent", ""),
        ("reviewing", "at my desk"),
        ("engaged", "at my desk"),
        ("engaged", ""),
        ("engaged", ""),
    ]


def test_a_thought_enters_the_pool(store: Path) -> None:
    """It is named by its version, and marked as injected."""

    async def talk(client: LocalClient) -> Any:
        return await client.call("think", text="Fundy!"), await client.call("thoughts")

    placed, thoughts = talked(store, talk)
    assert thoughts["thoughts"][0]["id"] == placed["id"]
    assert thoughts["thoughts"][0]["origin"] == "injected"


def test_many_act_at_once(store: Path) -> None:
    """Thoughts, forks and switches of many callers side by side: each is done, none is lost."""

    async def talk(client: LocalClient) -> Any:
        calls = [client.call("think", text=f"thought {n}") for n in range(8)]
        calls += [client.call("fork", name=f"branch-{n}", session="main") for n in range(8)]
        calls += [client.call("switch", session="main") for _ in range(8)]
        done = await asyncio.gather(*calls)
        listed = await client.call("sessions")
        return done[:8], listed["sessions"], await client.call("timeline", session="main")

    placed, listed, timeline = talked(store, talk)
    kinds = {event["version"]: event["kind"] for event in timeline["events"]}
    thoughts = {version for version, kind in kinds.items() if kind == "thought.added"}
    assert {one["id"] for one in placed} == thoughts
    assert len(thoughts) == 8
    assert sorted(one["id"] for one in listed) == [*(f"branch-{n}" for n in range(8)), "main"]
    assert sum(one["current"] for one in listed) == 1


def test_a_fork_of_a_past_moment_is_worked_on(store: Path) -> None:
    """It sees what was so then, the parent goes on unharmed, and it is the current session."""

    async def talk(client: LocalClient) -> Any:
        await client.call("run")
        await client.call("run")
        forked = await client.call("fork", name="what-if", at="iter:1", reason="try the other")
        return (
            forked,
            await client.call("status"),
            await client.call("status", session="main"),
            await client.call("sessions"),
            await client.call("switch", session="main"),
            await client.call("status"),
        )

    forked, branch, main, listed, switched, back = talked(store, talk)
    assert (forked["parent"], forked["version"]) == ("main", forked["at"] + 1)
    assert (branch["session"], branch["drafts"]) == ("what-if", 1)
    assert main["drafts"] == 2
    assert [(s["id"], s["current"]) for s in listed["sessions"]] == [
        ("main", False),
        ("what-if", True),
    ]
    assert listed["sessions"][1]["parent"] == f"main@{forked['at']}"
    assert (switched["session"], back["session"]) == ("main", "main")


def test_a_new_session_has_its_settings(store: Path) -> None:
    """It begins with a message, its settings are checked, and it is the current one."""

    async def talk(client: LocalClient) -> Any:
        settings = {"embedding_model": None, "token_limit": 900}
        begun = await client.call("new", name="sun", message="And the Sun?", settings=settings)
        return begun, await client.call("config"), await client.call("status")

    begun, config, status = talked(store, talk)
    assert begun["session"] == config["session"] == status["session"] == "sun"
    assert config["settings"]["token_limit"] == 900
    assert config["settings"]["embedding_model"] == "off"
    assert status["awaiting"]["text"] == "And the Sun?"


def test_settings_are_changed_all_or_none(store: Path) -> None:
    """One that can't be had leaves the others as they were."""

    async def talk(client: LocalClient) -> Any:
        good = await client.call("config", set={"token_limit": 900})
        error = await refused(client, "config", set={"token_limit": 800, "attempts": 0})
        return good, error, await client.call("config")

    good, error, after = talked(store, talk)
    assert good["settings"]["token_limit"] == after["settings"]["token_limit"] == 900
    assert (error.code, error.error) == (INVALID_PARAMS, "BadSetting")


def test_the_past_can_not_be_changed(store: Path) -> None:
    """Acting methods know no moment, and settings of a moment can only be read."""

    async def talk(client: LocalClient) -> Any:
        await client.call("run")
        past = await refused(client, "config", at="iter:1", set={"token_limit": 900})
        return past, await refused(client, "message", at="iter:1", text="hm")

    past, unknown = talked(store, talk)
    assert (past.code, past.error) == (REFUSED, "Refused")
    assert "branch off there first" in past.sentence
    assert (unknown.code, unknown.error) == (INVALID_PARAMS, "BadParams")


WRONG: list[tuple[str, str, dict[str, Any], list[str]]] = [
    ("AnswerFirst", "message", {"text": "again"}, ["message", "again"]),
    ("NothingToAccept", "accept", {}, ["accept"]),
    ("NoSuchDraft", "accept", {"index": 4}, ["accept", "4"]),
    ("BadText", "think", {"text": " "}, ["think", " "]),
    ("BadSetting", "signal", {"presence": "x"}, ["signal", "-p", "x"]),
    ("SessionExists", "fork", {"name": "main"}, ["fork", "main"]),
    ("NoSuchMoment", "fork", {"name": "x", "at": "~99"}, ["fork", "x", "--at", "~99"]),
    ("NoSuchSession", "switch", {"session": "nope"}, ["switch", "nope"]),
    ("BadName", "new", {"name": "No!"}, ["new", "No!"]),
]


def test_refusals_are_those_of_the_command_line(store: Path, within: Mind) -> None:
    """The same class, and the sentence that ``mind`` prints; nothing has changed."""

    async def talk(client: LocalClient) -> Any:
        before = await client.call("status")
        failed = [await refused(client, method, **params) for _, method, params, _ in WRONG]
        return failed, before == await client.call("status")

    failed, unchanged = talked(store, talk)
    assert [one.error for one in failed] == [error for error, *_ in WRONG]
    said = [within(*words, MIND_STORE=str(store)).err for *_, words in WRONG]
    assert [f"mind: {one.sentence}\n" for one in failed] == said
    assert unchanged
