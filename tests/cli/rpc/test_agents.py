"""Agents through the protocol: drafts, workers, places, and the codes of refusals."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cli.client.client import CallFailed
from cli.client.local import LocalClient
from cli.rpc.service import open_service
from commands.agents.rules import Rules
from tests.stories.crew import PROJECT, TASK, calls, lay_out, report, scripted

WHERE = {"project": PROJECT, "task": TASK}
LINE = {"tokens_in": 340, "tokens_out": 12, "cost_usd": 0.23, "context_window": 1000}


class Desk(NamedTuple):
    """A client, and what it is told."""

    client: LocalClient
    directory: Path
    told: list[tuple[str, dict[str, Any]]]

    async def drafted(self, *lines: dict[str, Any], role: str = "analyst") -> str:
        """The name of an agent that answers with these lines."""
        model = scripted(self.directory, *lines)
        answer = await self.client.call("draft", role=role, model=model, **WHERE)
        name: str = answer["sessionId"]
        return name

    async def code(self, method: str, **params: Any) -> tuple[int, str]:
        """The code with which a call is refused, and the class of the refusal."""
        with pytest.raises(CallFailed) as failed:
            await self.client.call(method, **params)
        assert failed.value.sentence
        return failed.value.code, failed.value.error


@asynccontextmanager
async def desk(directory: Path, name: str = "tui") -> AsyncIterator[Desk]:
    """A client of a service on a store with a project, a task and roles."""
    if not (directory / "log.db").exists():
        lay_out(directory)
    async with open_service(directory, {}, rules=Rules(look=0.05)) as service:
        client = LocalClient(service, name)
        told: list[tuple[str, dict[str, Any]]] = []

        async def listen() -> None:
            told.extend([notification async for notification in client.notifications()])

        listening = asyncio.create_task(listen())
        try:
            yield Desk(client, directory, told)
        finally:
            await client.close()
            await listening


def happens(directory: Path, story: Callable[[Desk], Awaitable[None]]) -> None:
    """Let a story happen."""

    async def happen() -> None:
        async with desk(directory) as one:
            await story(one)

    asyncio.run(happen())


def test_a_draft_session_over_the_protocol(tmp_path: Path) -> None:
    """Draft, prompt, status, undraft: shapes as the documentation has them."""

    async def story(one: Desk) -> None:
        call = one.client.call
        assert await call("get_draft_status") == {"active": False, "session": None}
        name = await one.drafted({"text": "Two bulges.", **LINE}, {"text": "Yes.", **LINE})
        assert name == "analyst-1"
        said = await call("submit_prompt", content="Why two?", wait=True)
        assert {k: said[k] for k in ("sessionId", "taskSlug", "way", "outcome", "answer")} == {
            "sessionId": name,
            "taskSlug": TASK,
            "way": "conversation",
            "outcome": "completed",
            "answer": "Two bulges.",
        }
        status = (await call("get_draft_status"))["session"]
        assert (status["turnCount"], status["contextPct"]) == (1, 34.0)
        assert (status["lastInputTokens"], status["contextWindow"]) == (340, 1000)
        await call("submit_prompt", content="Sure?", wait=True)
        ended = await call("undraft")
        assert {k: ended[k] for k in ("sessionId", "taskSlug", "turns", "cost")} == {
            "sessionId": name,
            "taskSlug": TASK,
            "turns": 2,
            "cost": 0.46,
        }
        assert ended["durationMs"] >= 0
        shown = await call("agent_transcript", agentId=name)
        assert [turn["answer"] for turn in shown["turns"]] == ["Two bulges.", "Yes."]
        whole = await call("get_agent", agentId=name)
        assert whole["report"]["ended"] == "undrafted"
        assert whole["permissions"] == ["agent-draft", "projects-list", "projects-create"]

    happens(tmp_path, story)


def test_what_a_client_is_told(tmp_path: Path) -> None:
    """Pieces, the answer and the figures go to the client whose draft it is; the pool to all."""

    async def happen() -> None:
        async with desk(tmp_path) as one:
            await one.drafted({"text": "Two bulges.", **LINE})
            await one.client.call("submit_prompt", content="Why two?", wait=True)
            await one.client.call("undraft")
        messages = [told for method, told in one.told if method == "channel_message"]
        pieces = "".join(told["content"] for told in messages if told["type"] == "chunk")
        assert pieces == "Two bulges."
        statuses = [told for method, told in one.told if method == "draft_status"]
        assert statuses[-1]["turnCount"] == 1
        assert statuses[-1]["costUsd"] == 0.23
        assert any(method == "pool_status" for method, _ in one.told)

    asyncio.run(happen())


def test_each_refusal_has_its_code(tmp_path: Path) -> None:
    """As the documentation lists them; nothing is changed by any of them."""

    async def story(one: Desk) -> None:
        call, code = one.client.call, one.code
        await call("create_project", name="heading", isVirtual=True)
        place = {"role": "reader", **WHERE}
        assert await code("draft", **{**place, "role": "pirate"}) == (-32002, "NoSuchRole")
        assert await code("draft", **{**place, "role": "../roles/reader"}) == (-32002, "NoSuchRole")
        assert await code("draft", **{**place, "project": "moon"}) == (-32006, "NoSuchProject")
        assert await code("draft", **{**place, "task": "moon"}) == (-32000, "NoSuchTask")
        assert await code("draft", **{**place, "task": "../../x"}) == (-32000, "NoSuchTask")
        virtual = {**place, "project": "heading"}
        assert await code("draft", **virtual) == (-32602, "ProjectIsVirtual")
        assert await code("draft", **place, model="nonsense") == (-32602, "BadSetting")
        assert await code("undraft") == (-32005, "NoActiveDraft")
        assert await code("reset_context") == (-32005, "NoActiveDraft")
        assert (await code("submit_prompt", content="Hello?"))[0] == -32602
        assert await code("submit_prompt", content="x", role="pirate") == (-32002, "NoSuchRole")
        await one.drafted()
        assert await code("draft", **place) == (-32004, "DraftIsActive")
        assert (await code("submit_prompt", content=" "))[0] == -32602
        assert await code("kill_agent", agentId="nobody-1") == (-32001, "NoSuchAgent")
        assert await code("await_agent", agentId="\0") == (-32001, "NoSuchAgent")
        assert await code("list_tasks", project="moon") == (-32006, "NoSuchProject")
        named = {"project": PROJECT, "name": "x"}
        assert (await code("create_task", **{**named, "project": "heading"}))[0] == -32602
        await call("close_task", project=PROJECT, slug=TASK)
        assert await code("submit_prompt", content="And?") == (-32000, "TaskIsClosed")
        assert await code("close_task", project=PROJECT, slug="none") == (-32000, "NoSuchTask")
        await call("undraft")
        assert await code("draft", **place) == (-32000, "TaskIsClosed")

    happens(tmp_path, story)


def _gone(model: str) -> None:
    Path(model.removeprefix("script:")).unlink()


def test_a_prompt_without_a_draft_goes_to_a_worker(tmp_path: Path) -> None:
    """With a role; the task is made of its words where none is named."""

    async def story(one: Desk) -> None:
        model = scripted(one.directory, report("success", "Counted: 42.", changes=["counted"]))
        (one.directory / "roles" / "counter.md").write_text(
            f"---\nname: counter\ndescription: counts\nmodel: {model!r}\n---\nCount.\n"
        )
        prompt = "Count the tides of Fundy in May"
        done = await one.client.call("submit_prompt", content=prompt, role="counter", wait=True)
        assert (done["way"], done["outcome"], done["answer"]) == ("work", "success", "Counted: 42.")
        tasks = (await one.client.call("list_tasks", project=PROJECT))["tasks"]
        assert [task["slug"] for task in tasks] == [TASK, done["taskSlug"]]
        wish = {"content": prompt, "role": "counter", "wait": True, "commandId": "0f" * 16}
        twice = [await one.client.call("submit_prompt", **wish) for _ in range(2)]
        assert twice[0] == twice[1]
        assert len((await one.client.call("list_agents", all=True))["agents"]) == 2
        _gone(model)
        refused = await one.code("submit_prompt", content="More tides", role="counter")
        assert refused[1] == "BackendUnavailable"
        tasks = (await one.client.call("list_tasks", project=PROJECT))["tasks"]
        assert len(tasks) == 3  # none was made for the one that nobody could begin
        context = await one.client.call("get_task_context", project=PROJECT, slug=done["taskSlug"])
        [worker] = context["context"]["agents"]
        assert (worker["agentId"], worker["status"]) == ("counter-1", "success")

    happens(tmp_path, story)


def test_a_worker_over_the_protocol(tmp_path: Path) -> None:
    """Sent out, awaited, and another one ended while it is at work."""

    async def story(one: Desk) -> None:
        call = one.client.call
        quick = scripted(one.directory, report("partial", "Half.", issues=["rest"]))
        slow = scripted(one.directory, {"text": "never", "delay": 600})
        work = {"role": "reader", "project": PROJECT, "taskSlug": TASK, "prompt": "Do it."}
        first = await call("dispatch_worker", **work, model=quick)
        done = await call("await_agent", agentId=first["agentId"])
        assert (done["status"], done["summary"], done["issues"]) == ("partial", "Half.", ["rest"])
        second = await call("dispatch_worker", **work, model=slow, limits={"seconds": 500})
        [row] = (await call("list_agents"))["agents"]
        assert (row["agentId"], row["way"]) == (second["agentId"], "work")
        killed = await call("kill_agent", agentId=second["agentId"])
        assert (killed["ended"], killed["reason"], killed["status"]) == (
            "killed",
            "asked",
            "failed",
        )
        assert (await call("list_agents"))["agents"] == []
        everybody = (await call("list_agents", all=True))["agents"]
        assert [row["agentId"] for row in everybody] == ["reader-2", "reader-1"]

    happens(tmp_path, story)


def test_an_agent_reads_the_store_it_works_for(tmp_path: Path) -> None:
    """Its tools are those of MCP; what it may not do it is not given."""

    async def story(one: Desk) -> None:
        name = await one.drafted(
            calls("list_sessions"),
            calls("create_project", name="x"),
            {"text": "No sessions."},
            role="reader",
        )
        await one.client.call("submit_prompt", content="Look.", wait=True)
        [turn] = (await one.client.call("agent_transcript", agentId=name))["turns"]
        assert [(tool["name"], tool["failed"]) for tool in turn["tools"]] == [
            ("list_sessions", False),
            ("create_project", True),
        ]

    happens(tmp_path, story)


def test_a_turn_is_stopped_over_the_protocol(tmp_path: Path) -> None:
    """The conversation goes on with what waits; only a turn that goes on can be stopped."""

    async def happen() -> None:
        async with desk(tmp_path) as one:
            call, code = one.client.call, one.code
            assert await code("stop_turn") == (-32005, "NoActiveDraft")
            assert await code("stop_turn", sessionId="nobody-1") == (-32001, "NoSuchAgent")
            name = await one.drafted(*[{"text": "never", "delay": 600}] * 2)
            assert await code("stop_turn") == (-32010, "NothingChanges")
            first, _ = [(await call("submit_prompt", content=text))["prompt"] for text in "12"]
            while not (await call("get_draft_status"))["session"]["working"]:
                continue
            assert await code("stop_turn", turn=7) == (-32010, "NothingChanges")
            assert await call("stop_turn", turn=1) == {
                "sessionId": name,
                "turn": 1,
                "prompt": first,
                "outcome": "stopped",
                "waiting": 1,
            }
            assert await code("stop_turn", sessionId=name, turn=1) == (-32010, "NothingChanges")
            assert (await call("get_draft_status"))["active"]
        told = [told for method, told in one.told if method == "channel_message"]
        error = next(message for message in told if message["type"] == "error")
        assert (error["content"], error["metadata"]["reason"]) == ("It was stopped.", "stopped")

    asyncio.run(happen())


def test_a_draft_is_there_again_after_a_restart(tmp_path: Path) -> None:
    """For the client of the same name, with everything that was said."""

    async def happen() -> None:
        async with desk(tmp_path) as one:
            name = await one.drafted({"text": "First."}, {"text": "Second."})
            await one.client.call("submit_prompt", content="1?", wait=True)
        async with desk(tmp_path, "another") as other:
            assert not (await other.client.call("get_draft_status"))["active"]
        async with desk(tmp_path) as again:
            status = await again.client.call("get_draft_status")
            assert status["session"]["sessionId"] == name
            said = await again.client.call("submit_prompt", content="2?", wait=True)
            assert said["answer"] == "Second."

    asyncio.run(happen())
