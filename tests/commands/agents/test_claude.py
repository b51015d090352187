"""Agents that are Claude Code, by its SDK and a stand-in for its executable."""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest

from commands.agents.backend import (
    Answer,
    Ask,
    BackendUnavailable,
    Called,
    Compacted,
    Heard,
    Opened,
    SessionGone,
    Text,
    ToolBegan,
    ToolEnded,
    TurnBroke,
    Warned,
)
from commands.agents.claude import ClaudeBackend
from commands.agents.tools import Outcome, Tool
from domain.agents import Agent
from domain.errors import LogosphereError
from domain.events import AgentDrafted
from domain.ids import AgentId
from domain.limits import Spent
from tests.commands.agents.claude_installed import KEY, forget, gone, install, plays

READ = {"call": [], "use": "Read", "input": {"file_path": "tides.md"}}
LOOK = {"call": ["Let me look."], "use": "mcp__mind__look", "input": {"what": "tides", "deep": 2}}
Kind = TypeVar("Kind")
ANSWER = {"call": ["The moon ", "pulls twice."]}


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and pidfd_open")


class Turn(NamedTuple):
    """What came of a turn."""

    answer: Answer | None
    error: LogosphereError | None
    heard: list[Heard]
    used: list[tuple[str, str, str]]

    @property
    def opened(self) -> str:
        """The name of the conversation."""
        return self.of(Opened)[0].session

    @property
    def text(self) -> str:
        """All that was heard of the answer."""
        return "".join(piece.text for piece in self.of(Text))

    def of(self, kind: type[Kind]) -> list[Kind]:
        """What was heard of one kind."""
        return [one for one in self.heard if isinstance(one, kind)]


async def _unused(_: dict[str, Any]) -> str:
    return "tools are used through the harness"


TOOL = Tool(
    "look",
    "Looks.",
    {
        "type": "object",
        "properties": {"what": {"type": "string"}, "deep": {"type": "integer"}},
        "required": ["what"],
    },
    _unused,
)


class Claude:
    """A stand-in on the disk, and turns that it answers."""

    def __init__(self, directory: Path) -> None:
        self.env = install(directory)
        self.home = Path(self.env["CLAUDE_CONFIG_DIR"])

    def ask(
        self,
        steps: list[dict[str, Any]],
        resume: str | None = None,
        *,
        tools: tuple[str, ...] = (),
        limits: dict[str, float] | None = None,
        spent: Spent = Spent(),
        enough: Callable[[], bool] = lambda: False,
        path: Path | None = None,
        old: bool = False,
    ) -> tuple[Ask, Turn]:
        """A turn that is to follow these steps, and where what comes of it is noted."""
        prompt = "/clear @tides.md why two tides?"
        plays(self.env, {prompt: steps}, old=old)
        drafted = AgentDrafted(
            role="analyst",
            instructions="unused",
            model="claude:default",
            client="cli",
            project="sea",
            task="tides",
            tools=tools,
            limits=limits or {},
        )
        agent = Agent(AgentId("analyst-1"), drafted, 0, backend=resume, spent=spent)
        noted = Turn(None, None, [], [])

        async def use(call: str, name: str, arguments: str) -> Outcome:
            noted.used.append((call, name, arguments))
            return Outcome("two bulges", failed=False)

        ask = Ask(
            agent,
            "You look at tides.",
            (),
            "",
            prompt,
            (TOOL,),
            path,
            noted.heard.append,
            use,
            enough,
        )
        return ask, noted

    def turn(
        self,
        steps: list[dict[str, Any]],
        resume: str | None = None,
        *,
        model: str = "default",
        **more: Any,
    ) -> Turn:
        """Answer a prompt by these steps."""
        ask, noted = self.ask(steps, resume, **more)
        try:
            answer = asyncio.run(ClaudeBackend(model, self.env).turn(ask))
        except LogosphereError as error:
            return noted._replace(error=error)
        return noted._replace(answer=answer)

    @property
    def started(self) -> dict[str, Any]:
        """How it was started the last time."""
        return dict(json.loads((self.home / "started.json").read_text()))


@pytest.fixture
def claude(tmp_path: Path) -> Claude:
    """A stand-in of one test."""
    return Claude(tmp_path)


def test_a_conversation_goes_on_where_it_was(claude: Claude, tmp_path: Path) -> None:
    """The first turn names it, the next resumes it; each is told with what it alone took."""
    first = claude.turn([ANSWER])
    assert first.answer == Answer("The moon pulls twice.", "claude-stand-in", "end_turn")
    assert first.heard == [
        Opened(first.opened),
        Text("The moon "),
        Text("pulls twice."),
        Called(1, 100, 20, 40, 7, 0.01, context_tokens=147, context_window=200_000),
    ]
    flags = claude.started["flags"]
    assert flags["--session-id"] == first.opened
    assert claude.started["instructions"] == "You look at tides."
    assert Path(claude.started["cwd"]).is_relative_to(tmp_path / f"mind-claude-{os.getuid()}")
    assert not Path(flags["--system-prompt-file"]).exists()

    second = claude.turn([LOOK, READ, ANSWER], first.opened, tools=("Read",), model="opus")
    assert second.answer is not None
    assert second.answer.text == "Let me look.\n\nThe moon pulls twice." == second.text
    assert second.of(Opened) == []
    assert second.of(Called) == [
        Called(3, 300, 60, 120, 21, 0.03, context_tokens=147, context_window=200_000)
    ]
    assert claude.started["flags"]["--resume"] == first.opened
    assert claude.started["flags"]["--model"] == "opus"
    kept = next(claude.home.glob(f"*/{first.opened}.json"))
    assert json.loads(kept.read_text())["prompts"] == ["/clear @tides.md why two tides?"] * 2


def test_it_is_given_no_more_than_it_needs(claude: Claude, tmp_path: Path) -> None:
    """No setting of the machine, no other service's key, no way around the permissions."""
    project = tmp_path / "project"
    project.mkdir()
    claude.env |= {"CLAUDECODE": "1", "AWS_SECRET_ACCESS_KEY": KEY, "LC_ALL": "C.UTF-8"}
    assert claude.turn([ANSWER], path=project).answer is not None
    started = claude.started
    assert started["cwd"] == str(project)
    assert started["flags"]["--setting-sources"] == ""
    assert started["flags"]["--tools"] == ""
    assert started["flags"]["--permission-mode"] == "default"
    assert started["flags"]["--allowedTools"] == "mcp__mind__look"
    assert {"ANTHROPIC_API_KEY", "LC_ALL", "PATH"} <= set(started["env"])
    assert not {"OPENAI_API_KEY", "CLAUDECODE", "AWS_SECRET_ACCESS_KEY"} & set(started["env"])


def test_our_tools_are_used_by_whoever_asked(claude: Claude) -> None:
    """A call comes with the model's id for it and is told once; one that fits no schema, too."""
    wrong = {**LOOK, "input": {"what": 3}}
    turn = claude.turn([LOOK, wrong, ANSWER])
    assert turn.used == [("toolu_1", "look", '{"what": "tides", "deep": 2}')]
    assert turn.of(ToolBegan) == [ToolBegan("toolu_2", "look", '{"what": 3}')]
    refused = turn.of(ToolEnded)[0]
    assert (refused.call, refused.failed) == ("toolu_2", True)
    assert "3 is not of type 'string'" in refused.result
    shown = claude.started["tools"]
    assert [(tool["name"], tool["inputSchema"]["required"]) for tool in shown] == [
        ("look", ["what"])
    ]


def test_a_role_names_the_built_in_tools(claude: Claude) -> None:
    """What it names is used and told; what it does not, or not in this way, is refused."""
    bash = {"call": [], "use": "Bash", "input": {"command": "rm -r sea"}}
    write = {"call": [], "use": "Write", "input": {"file_path": "tides.md"}}
    turn = claude.turn([READ, bash, write, ANSWER], tools=("Read", "Bash(git log *)"))
    assert turn.answer is not None
    assert [began.name for began in turn.of(ToolBegan)] == ["Read", "Bash", "Write"]
    read, ran, wrote = turn.of(ToolEnded)
    assert (read.result, read.failed) == ("Read has done it", False)
    assert json.loads(read.arguments) == READ["input"]
    assert (ran.result, ran.failed) == ("The role 'analyst' does not allow this use of Bash.", True)
    assert wrote.failed
    assert claude.started["flags"]["--tools"] == "Read,Bash"


def test_an_older_one_counts_each_turn_for_itself(claude: Claude) -> None:
    """Where it can't say what was before, its cost is believed only if it is this turn's."""
    first = claude.turn([{**ANSWER, "whole": True}], old=True)
    assert first.of(Text) == [Text("The moon pulls twice.")]
    second = claude.turn([READ, ANSWER], first.opened, tools=("Read",), old=True)
    assert second.of(Called) == [
        Called(2, 200, 40, 80, 14, 0.02, context_tokens=147, context_window=200_000)
    ]


def test_what_it_does_besides_is_told(claude: Claude) -> None:
    """It makes room for a conversation by itself, and asks its service again."""
    turn = claude.turn([{"retry": 2400}, {"compact": 150_000}, ANSWER])
    assert turn.of(Warned) == [Warned("The model did not answer; it is asked again in 2 s.")]
    assert turn.of(Compacted) == [Compacted(150_000, "auto", 0, "")]


@pytest.mark.parametrize(
    ("limits", "spent", "sentence"),
    [
        ({"turns": 5}, Spent(calls=4), "Claude Code has called the model as often as it may."),
        ({"budget_usd": 1}, Spent(0.995), "Claude Code has spent what it may."),
    ],
)
def test_it_ends_where_its_bounds_are(
    claude: Claude, limits: dict[str, float], spent: Spent, sentence: str
) -> None:
    """It is told what is left of the bounds, and what was said until then is not lost."""
    turn = claude.turn([LOOK, ANSWER], limits=limits, spent=spent)
    assert isinstance(turn.error, TurnBroke)
    assert (turn.error.sentence, turn.error.partial) == (sentence, "Let me look.")
    assert [(took.calls, took.cost_usd) for took in turn.of(Called)] == [(1, 0.01)]


def test_an_answer_that_is_whole_counts_although_it_was_too_dear(claude: Claude) -> None:
    """Its last call goes over the budget, and nothing was left to do."""
    turn = claude.turn([ANSWER], limits={"budget_usd": 0.005})
    assert turn.answer == Answer("The moon pulls twice.", "claude-stand-in", "end_turn")


def test_it_is_stopped_where_nothing_more_is_wanted(claude: Claude) -> None:
    """After a tool, by whoever asked or by its tokens, and it still tells what it took."""
    turn = claude.turn([LOOK, {"until": "interrupted"}], enough=lambda: True)
    assert turn.answer == Answer("Let me look.", "claude-stand-in", "stopped")
    assert [(took.calls, took.cost_usd) for took in turn.of(Called)] == [(1, 0.01)]
    turn = claude.turn([LOOK, {"until": "interrupted"}], limits={"tokens": 167})
    assert turn.answer is not None
    assert turn.answer.finish == "stopped"


def test_a_service_that_fails_is_one_sentence(claude: Claude) -> None:
    """With what to do if nobody is logged in, without any key, and without a conversation."""
    said = f"API Error: 529 no session for sk-ant-0123456789abcdef\nor {KEY}"
    turn = claude.turn([{"trouble": "server_error", "text": said}])
    assert isinstance(turn.error, TurnBroke)
    assert turn.error.sentence == (
        "Claude Code could not answer (API Error: 529 no session for … or …)."
    )
    assert turn.heard == []
    turn = claude.turn([{"trouble": "authentication_failed", "text": "Not logged in"}])
    assert isinstance(turn.error, BackendUnavailable)
    assert "set ANTHROPIC_API_KEY" in turn.error.sentence


@on_linux
def test_one_that_crashes_is_one_sentence(
    claude: Claude, capfd: pytest.CaptureFixture[str]
) -> None:
    """What had arrived is kept, what it took is told, and nothing is printed.

    A command that it leaves behind holds its pipes; nobody waits for it, and it is ended.
    """
    end = {"die": 3, "complaint": f"panic with {KEY}", "broken": True, "heirs": True}
    turn = claude.turn([LOOK, end])
    assert isinstance(turn.error, TurnBroke)
    assert turn.error.sentence == (
        "Claude Code ended in the middle of the turn (exit code 3): panic with …."
    )
    assert turn.error.partial == "Let me look."
    assert [(took.calls, took.tokens_in, took.cost_usd) for took in turn.of(Called)] == [
        (1, 100, None)
    ]
    assert gone(int((claude.home / "pids").read_text()))
    turn = claude.turn([{"garbage": "{no JSON"}])
    assert isinstance(turn.error, TurnBroke)
    assert "can't be read" in turn.error.sentence
    assert capfd.readouterr() == ("", "")


def test_a_conversation_that_is_gone_is_told_apart(claude: Claude) -> None:
    """It can't be resumed; an error that only speaks of it is an error of the turn."""
    first = claude.turn([ANSWER])
    complaint = "No conversation found with session ID: 0"
    turn = claude.turn([{"die": 1, "complaint": complaint}], first.opened)
    assert isinstance(turn.error, TurnBroke)
    forget(claude.env)
    turn = claude.turn([ANSWER], first.opened)
    assert isinstance(turn.error, SessionGone)
    assert first.opened in turn.error.sentence
    assert turn.heard == []


@on_linux
@pytest.mark.parametrize("how", ["polite", "deaf"])
def test_a_turn_that_is_cancelled_leaves_nothing_behind(claude: Claude, how: str) -> None:
    """Neither the process nor a command that it runs, even if it does not listen."""
    ask, noted = claude.ask([LOOK, {"hang": how}])

    async def cancelled() -> bool:
        arrived = asyncio.Event()

        def hear(heard: Heard) -> None:
            noted.heard.append(heard)
            if heard == Text("…"):
                arrived.set()

        turn = asyncio.create_task(
            ClaudeBackend("default", claude.env).turn(ask._replace(hear=hear))
        )
        await arrived.wait()
        turn.cancel()
        done, _ = await asyncio.wait({turn}, timeout=10)
        return turn in done and turn.cancelled()

    assert asyncio.run(cancelled())
    assert [(took.calls, took.cost_usd) for took in noted.of(Called)] == [(1, None)]
    process, command = (int(pid) for pid in (claude.home / "pids").read_text().split())
    assert gone(process)
    assert gone(command)


def test_what_is_missing_is_said_before_anything_begins(claude: Claude, tmp_path: Path) -> None:
    """Each sentence says what to do."""
    named = claude.env["MIND_CLAUDE"]
    claude.env["MIND_CLAUDE"] = str(tmp_path / "nothing")
    errors = [claude.turn([ANSWER]).error]
    broken = tmp_path / "broken"
    broken.write_text("#!/nowhere/python\n")
    broken.chmod(0o700)
    claude.env["MIND_CLAUDE"] = str(broken)
    errors.append(claude.turn([ANSWER]).error)
    claude.env["MIND_CLAUDE"] = named
    errors.append(claude.turn([ANSWER], path=tmp_path / "away").error)
    errors.append(claude.turn([ANSWER], tools=("Read,Write",)).error)
    errors.append(claude.turn([ANSWER], model="--dangerous").error)
    for error, words in zip(
        errors,
        [
            "no program is there",
            "can't be started (No such file",
            "is not there: put it back",
            "'Read,Write' is no tool",
            "claude:--dangerous names no model",
        ],
        strict=True,
    ):
        assert isinstance(error, BackendUnavailable)
        assert words in error.sentence
