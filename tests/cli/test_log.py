"""The events themselves: some of them, and those that are to come."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.log import Match, _newest
from cli.wiring import Desk
from commands.eventlog import EventLog
from commands.world import RealWorld
from domain.recorded import Recorded
from tests.cli.conftest import MIND, Mind, Ran
from tests.stories.cast import Stage


def versions(ran: Ran) -> list[int]:
    """Which events are listed, in their order."""
    assert ran.code == 0, ran.err
    return [json.loads(line)["version"] for line in ran.out.splitlines()]


@pytest.fixture
def mind(within: Mind) -> Mind:
    """Commands within this process: there are many here."""
    return within


@pytest.fixture
def told(asked: Mind) -> Mind:
    """Two iterations, a word of Bob's, an acceptance."""
    asked("run", "-b", "2")
    asked("note", "Spring\nTIDES are two", MIND_USER="bob")
    asked("accept")
    return asked


def events(mind: Mind, *options: str) -> list[dict[str, Any]]:
    """What is listed."""
    ran = mind("log", "--json", *options)
    assert ran.code == 0, ran.err
    return [json.loads(line) for line in ran.out.splitlines()]


def test_by_actor(told: Mind) -> None:
    """An actor, or the beginning of one."""
    every = events(told, "-n", "0")
    for actor in ("user", "user:ann", "user:bob", "mind", "system", "mind:script"):
        theirs = [e for e in every if f"{e['actor']}:".startswith(f"{actor}:")]
        assert events(told, "-n", "0", "--actor", actor) == theirs
    assert [e["kind"] for e in events(told, "--actor", "user:bob")] == ["note.added"]
    assert "mind.invoked" in {e["kind"] for e in events(told, "--actor", "mind")}


def test_what_is_left_out_is_said(told: Mind) -> None:
    """Nobody takes the newest thirty for all there is; whoever says how many is told nothing."""
    for number in range(25):
        told("note", f"remark {number}")
    newest = told("log")
    assert newest.out.count("\n") == 30
    assert newest.err == "These are the newest 30: -n 0 shows all.\n"
    assert versions(told("log", "--json")) == versions(told("log", "--json", "-n", "30"))
    for options in (("-n", "0"), ("-n", "30"), ("--kind", "draft.emitted")):
        assert told("log", *options).err == ""


def test_a_pipe_gets_all_of_a_line(told: Mind) -> None:
    """What grep looks for is not behind the end of a terminal that nobody has."""
    remark = "of spring tides " * 20
    told("note", remark)
    assert told("log", "-n", "1").out.endswith(f"{remark.strip()}\n")


def test_an_actor_who_never_acted(told: Mind) -> None:
    """Is refused, and those who did are named; one who had nothing to do with it is none found."""
    refused = told("log", "--actor", "user:zoe")
    assert (refused.code, refused.out) == (2, "")
    assert "there are mind:script:" in refused.err
    assert "user:ann, user:bob" in refused.err
    nothing = told("log", "--actor", "user:bob", "--kind", "draft.accepted")
    assert (nothing.code, nothing.out) == (0, "")
    assert "No event matches" in nothing.err


def test_a_kind_that_is_nearly_one(told: Mind) -> None:
    """Is refused with the kind that may have been meant, where there is one, else with all."""
    near = told("log", "--kind", "draft.emited")
    assert (near.code, near.out) == (2, "")
    assert "is no kind of event: did you mean draft.emitted" in near.err
    assert "message.sent" not in near.err
    assert "there are session.started" in told("log", "--kind", "zzzz").err


def test_from_one_moment_to_another(told: Mind) -> None:
    """Behind the one, up to the other, by any ref; together with the newest so many."""
    head = told("status", "--json").data["version"]
    every = list(range(1, head + 1))
    for options, expected in (
        (["--since", "3"], every[3:]),
        (["--until", "draft:1"], every[:6]),
        (["--since", "2", "--until", "draft:1"], every[2:6]),
        (["--since", "2", "--until", "draft:1", "-n", "2"], every[4:6]),
        (["--since", "~2"], every[-2:]),
        (["--since", "2001-01-01"], every),
        (["--until", "2001-01-01"], []),
        (["--since", "head"], []),
        (["--since", "4", "--until", "3"], []),
    ):
        assert versions(told("log", "--json", "-n", "0", *options)) == expected, options
    assert versions(told("at", "5", "log", "--until", "head", "--json")) == every[:5]
    assert versions(told("at", "5", "log", "--since", "3", "--json")) == every[3:5]


def test_a_moment_of_another_session_is_refused(told: Mind) -> None:
    """Its versions mean nothing here."""
    told("new", "other")
    refused = told("log", "--since", "main@2")
    assert refused.code == 2
    assert "is no moment of other" in refused.err


def test_by_text(told: Mind) -> None:
    """In the line or in any field, in capitals or not, the raw output of the mind included."""
    for text, kinds in (
        ("spring tides", ["note.added"]),
        ("FUNDY", ["mind.invoked", "thought.added"]),
        ("earth more than the far", ["mind.invoked", "draft.emitted"]),
        ("draft: |", ["mind.invoked", "mind.invoked"]),
        ("#2 of exc_1_000", ["draft.accepted"]),
        ("background", ["run.started"]),
        ("token_limit", ["session.started"]),
    ):
        assert [e["kind"] for e in events(told, "--grep", text)] == kinds, text
    assert told("log", "--grep", "spring tides").out.count("\n") == 1
    assert "No event matches" in told("log", "-g", "neap").err


def test_the_newest_that_match(told: Mind) -> None:
    """Not those that match among the newest."""
    assert [e["data"]["text"] for e in events(told, "-n", "1", "-k", "thought.added")] == [
        "compare with Fundy"
    ]
    matching = events(told, "-n", "0", "--grep", "moon")
    assert len(matching) == 4
    assert events(told, "-n", "2", "--grep", "moon") == matching[-2:]
    both = events(told, "-n", "1", "--grep", "moon", "--kind", "draft.emitted", "--actor", "mind")
    assert [e["data"]["index"] for e in both] == [2]


def test_little_is_read_for_the_newest_that_match(tmp_path: Path) -> None:
    """Reading goes backwards and ends where there are enough, however long history is."""
    stage = Stage(tmp_path).begins()
    for number in range(60):
        stage.answers(f"question {number}", f"the answer to question number {number}")
    read: list[int] = []

    class Counting(EventLog):
        def read(self, *arguments: Any, **more: Any) -> Iterator[Recorded]:
            for event in super().read(*arguments, **more):
                read.append(event.version)
                yield event

    with Counting(tmp_path) as log:
        at = Desk(tmp_path, log, stage.session, None, RealWorld(stage.world.actor))
        match = Match(kinds=(), by="user", text="NUMBER 5")
        assert list(_newest(at, match, 3, 0, stage.state.version)) == []
        everything = len(read)
        read.clear()
        match = Match(by="mind", text="NUMBER 5")
        found = list(_newest(at, match, 3, 0, stage.state.version))
    assert len(found) == 3
    assert everything == stage.state.version > 4 * len(read)
    stage.log.close()


def test_texts_do_not_command_the_terminal(told: Mind) -> None:
    """What is searched for may hold anything; what is found is shown, not obeyed."""
    told("note", "a \x1b[31mred\x1b[0m note")
    found = told("log", "--grep", "\x1b[31m")
    assert "red" in found.out
    assert "\x1b" not in found.out
    assert "\x1b" not in told("log", "--actor", "\x1b[31m").err


def test_what_was_redacted_says_so(told: Mind) -> None:
    """In its line, also where nothing of it would show; it is not found by what it said."""
    told("redact", "draft:1", "--reason", "It named a patient.", "--yes", "--only")
    lines = told("log", "-n", "0").out.splitlines()
    gone = [line for line in lines if "[redacted]" in line]
    assert [line.split()[3] for line in gone] == ["mind.invoked", "draft.emitted"]
    assert [e["kind"] for e in events(told, "--grep", "[redacted]")] == [
        "mind.invoked",
        "draft.emitted",
    ]
    assert [e["version"] for e in events(told, "-n", "0") if e["redacted"]] == [4, 6]
    assert [e["version"] for e in events(told, "-g", "near water more than the Earth.")] == []


def test_what_is_to_come_has_no_end(told: Mind) -> None:
    """`--until` with `--follow` is refused."""
    refused = told("log", "--follow", "--until", "3")
    assert refused.code == 2
    assert "--until" in refused.err


def test_following_what_matches(told: Mind, tmp_path: Path) -> None:
    """First the newest that match, then each new one that does, once, until Ctrl-C."""
    env = {"PATH": os.environ["PATH"], "MIND_STORE": "thinking", "MIND_USER": "ann"}
    words = ["log", "--follow", "--grep", "tide", "--kind", "note.added", "--actor", "user:bob"]
    with subprocess.Popen(
        [MIND, *words, "--json"], cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True
    ) as following:
        assert following.stdout is not None
        assert "Spring" in following.stdout.readline()
        told("note", "a tide of mine")
        told("note", "a word of his", MIND_USER="bob")
        told("message", "which tide?", MIND_USER="bob")
        told("note", "a Tide of his", MIND_USER="bob")
        assert json.loads(following.stdout.readline())["data"]["text"] == "a Tide of his"
        following.send_signal(signal.SIGINT)
        assert following.stdout.read() == ""
        assert following.wait(timeout=30) == 0
