"""Whatever breaks off in the middle: nobody is stuck, nothing is half done, nothing is lost."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from commands.agents.backend import Answer, Ask, Backend
from commands.agents.choose import make_backend, make_model
from commands.agents.harness import Harness
from commands.agents.neutral import NeutralBackend
from commands.agents.roles import Roles
from commands.agents.rules import Rules
from commands.agents.tools import RESULT, Outcome, Tool
from commands.eventlog import EventLog
from commands.minds.hosted import MOST_TEXT
from domain.agent_errors import AgentHasEnded
from domain.agents import Agent
from domain.errors import Refused, StoreIsFull
from domain.events import ToolCalled, TurnCompleted, TurnFailed
from domain.ids import CommandId, SessionId
from domain.recorded import Draw
from domain.session import Session
from tests.commands.agents.test_harness import SLOW, story
from tests.stories.crew import ANN, PROJECT, TASK, Crew, calls, crew, lay_out, report, scripted


def test_prompts_that_wait_do_not_overrun_a_budget(tmp_path: Path) -> None:
    """The turn that reaches it is the last that costs anything, however many had been submitted."""

    async def told(one: Crew) -> None:
        agent = await one.drafted(*[{"text": "Dear.", "cost_usd": 0.01}] * 5, role="frugal")
        prompts = await asyncio.gather(*(one.harness.submit(agent.id, f"{n}") for n in range(5)))
        ends = [await one.harness.answered(agent.id, prompt) for prompt in sorted(prompts)]
        assert [end.kind for end in ends] == ["turn.completed"] * 2 + ["turn.failed"] * 3
        assert isinstance(ends[-1], TurnFailed)
        assert (ends[-1].reason, ends[-1].calls) == ("budget", 0)
        assert one.harness.agent(agent.id).spent.cost_usd == 0.02

    story(tmp_path, told)


def test_a_worker_is_neither_spoken_to_nor_undrafted(tmp_path: Path) -> None:
    """It is refused, and its work goes on undisturbed."""

    async def told(one: Crew) -> None:
        agent = await one.at_work(SLOW)
        await one.until(lambda: one.harness.agent(agent.id).turn is not None)
        with pytest.raises(Refused, match="mind agent kill reader-1"):
            await one.harness.undraft(agent.id)
        with pytest.raises(Refused, match="works alone and can't be spoken to"):
            await one.harness.submit(agent.id, "Hurry!")
        assert one.kinds(agent.id) == ["agent.drafted", "prompt.submitted", "turn.started"]

    story(tmp_path, told)


def test_whoever_stops_waiting_leaves_nothing_half_done(tmp_path: Path) -> None:
    """A worker that is sent out begins, one that is ended ends, whoever has heard of it."""

    async def given_up(task: "asyncio.Task[Agent]") -> None:
        await asyncio.sleep(0)  # it has begun
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def told(one: Crew) -> None:
        await given_up(asyncio.create_task(one.at_work(SLOW)))
        await one.until(lambda: any(notice.kind == "turn" for notice in one.told))
        await given_up(asyncio.create_task(one.harness.kill("reader-1")))
        ended = (await asyncio.wait_for(one.harness.ended("reader-1"), 10)).ended
        assert ended is not None
        assert (ended.how, ended.reason) == ("killed", "asked")

    story(tmp_path, told)


def test_nobody_is_drafted_for_somebody_who_is_gone(tmp_path: Path) -> None:
    """An agent that has ended sends out nobody any more."""

    async def told(one: Crew) -> None:
        boss = await one.drafted()
        await one.harness.undraft(boss.id)
        with pytest.raises(AgentHasEnded):
            await one.at_work(SLOW, parent=boss.id)
        assert one.log.streams("agent") == [f"agent:{boss.id}"]

    story(tmp_path, told)


def test_an_agent_talks_with_so_many_and_no_more(tmp_path: Path) -> None:
    """One that goes on drafting is refused until it ends one of them."""

    async def told(one: Crew) -> None:
        boss = await one.drafted()
        first = await one.drafted(parent=boss.id)
        await one.drafted(parent=boss.id)
        with pytest.raises(Refused, match="talks with 2 agents already"):
            await one.drafted(parent=boss.id)
        await one.harness.kill(first.id)
        await one.drafted(parent=boss.id)

    story(tmp_path, told, rules=Rules(look=0.05, conversations_of_an_agent=2))


def test_work_that_breaks_off_by_itself_has_an_end(tmp_path: Path) -> None:
    """Nobody had stopped it, so nobody else would say that it is over."""

    async def breaks_off(_: dict[str, Any]) -> str:
        raise asyncio.CancelledError

    async def told(one: Crew) -> None:
        agent = await one.at_work(calls("vanish"), report())
        ended = (await one.harness.ended(agent.id)).ended
        assert ended is not None
        assert (ended.reason, ended.detail) == ("lost", "Its work broke off.")

    story(tmp_path, told, tools=[Tool("vanish", "", {"type": "object"}, breaks_off)])


@pytest.mark.parametrize("where", ["tools", "backend"])
def test_a_turn_that_can_not_even_begin_has_an_end(tmp_path: Path, where: str) -> None:
    """Whatever goes wrong is told in a sentence, and the next prompt finds nobody stuck."""

    def broken(_: Agent) -> Any:
        raise ZeroDivisionError("by zero")

    async def told(one: Crew) -> None:
        def backend_for(agent: Agent) -> Backend:
            return broken(agent) if where == "backend" else make_backend(agent.drafted.model, {})

        harness = Harness(
            one.log,
            ANN,
            backend_for=backend_for,
            tools_for=broken if where == "tools" else lambda _: (),
            roles=Roles([tmp_path / "roles"]),
            rules=Rules(look=0.05),
        )
        agent = await one.drafted({"text": "Here."})
        for _ in range(2):
            prompt = await harness.submit(agent.id, "Well?")
            end = await asyncio.wait_for(harness.answered(agent.id, prompt), 10)
            assert isinstance(end, TurnFailed)
            assert "ZeroDivisionError: by zero" in end.detail
        await harness.close()

    story(tmp_path, told)


def test_what_a_tool_says_that_is_no_data_is_told_to_the_model(tmp_path: Path) -> None:
    """The call has failed, and the turn goes on."""

    async def strange(_: dict[str, Any]) -> object:
        return {"what": object()}

    async def told(one: Crew) -> None:
        agent = await one.drafted(calls("strange"), {"text": "Strange."})
        assert isinstance(await one.asked(agent.id), TurnCompleted)
        used = one.history(agent.id)[-2].event
        assert "is not JSON serializable" in str(used)

    story(tmp_path, told, tools=[Tool("strange", "", {"type": "object"}, strange)])


def test_a_tool_that_says_too_much_is_cut_short(tmp_path: Path) -> None:
    """The model is shown what the log keeps, and no more."""
    shown: list[str] = []

    async def babbles(_: dict[str, Any]) -> str:
        return "x" * (RESULT + 7)

    class Model(NeutralBackend):
        """Remembers what its tools said."""

        async def turn(self, ask: Ask) -> Answer:
            """Answer, with an ear to the tools."""

            async def use(call: str, name: str, arguments: str) -> Outcome:
                outcome = await ask.use(call, name, arguments)
                shown.append(outcome.text)
                return outcome

            return await super().turn(ask._replace(use=use))

    async def told(one: Crew) -> None:
        harness = Harness(
            one.log,
            ANN,
            backend_for=lambda agent: Model(make_model(agent.drafted.model, {})),
            tools_for=lambda _: [Tool("babble", "", {"type": "object"}, babbles)],
            roles=Roles([tmp_path / "roles"]),
        )
        agent = await one.drafted(calls("babble"), {"text": "Much."})
        await harness.answered(agent.id, await harness.submit(agent.id, "Well?"))
        await harness.close()
        used = [r.event for r in one.history(agent.id) if isinstance(r.event, ToolCalled)]
        assert [event.result for event in used] == shown
        assert shown[0].endswith("x… (7 characters more)")

    story(tmp_path, told)


def test_an_answer_without_an_end_is_broken_off(tmp_path: Path) -> None:
    """Whatever backend it comes from; what had arrived is kept."""

    async def told(one: Crew) -> None:
        half = "x" * (MOST_TEXT // 2)
        agent = await one.drafted({"text": f"{half} {half}"})
        end = await one.asked(agent.id)
        assert isinstance(end, TurnFailed)
        assert (end.reason, end.detail) == (
            "failed",
            "It wrote over 1,000,000 characters without an end.",
        )
        assert half in end.partial
        assert len(end.partial) <= MOST_TEXT

    story(tmp_path, told)


class FullForAWhile(EventLog):
    """Has no room for the first three appends of some kinds."""

    full = 3
    kinds: frozenset[str] = frozenset()

    def append(self, session: SessionId, after: int, draw: Draw, **upon: Any) -> Session:
        """Record, if there is room."""
        if self.full and self.kinds.intersection(caused.event.kind for caused in draw.events):
            self.full -= 1
            raise StoreIsFull(str(self.place))
        return super().append(session, after, draw, **upon)


@pytest.mark.parametrize(
    "kind", ["turn.started", "tool.called", "turn.completed", "worker.reported"]
)
def test_what_was_paid_for_is_not_lost_while_the_disk_is_full(tmp_path: Path, kind: str) -> None:
    """It is recorded when there is room again; meanwhile whoever looks on is told."""
    lay_out(tmp_path)
    told: list[str] = []

    async def happen() -> Agent:
        with FullForAWhile(tmp_path) as log:
            log.kinds = frozenset({kind})
            harness = Harness(
                log,
                ANN,
                backend_for=lambda agent: make_backend(agent.drafted.model, {}),
                roles=Roles([tmp_path / "roles"]),
                rules=Rules(look=0.01),
                tell=lambda notice: told.append(notice.text),
            )
            model = scripted(tmp_path, {**report(), "cost_usd": 0.5})
            agent = await harness.dispatch(
                client="test", role="reader", prompt="x", project=PROJECT, task=TASK, model=model
            )
            ended = await asyncio.wait_for(harness.ended(agent.id), 10)
            await harness.close()
            return ended

    ended = asyncio.run(happen())
    assert ended.report is not None
    assert (ended.report.summary, ended.spent.cost_usd) == ("It is done.", 0.5)
    assert ended.completed == 1
    assert any("free some space" in sentence for sentence in told)


def test_a_prompt_is_said_once_however_much_was_done_for_it(tmp_path: Path) -> None:
    """A client that lost its connection, and repeats the prompt after a long turn, gets its id."""

    async def told(one: Crew) -> None:
        many = {"tool_calls": [{"name": "list_agents"}] * 40}
        agent = await one.drafted(many, {"text": "Many."}, {"text": "Doubled."})
        wish = CommandId(bytes(15) + b"\x07")
        prompt = await one.harness.submit(agent.id, "How many?", command_id=wish)
        await one.harness.answered(agent.id, prompt)
        assert await one.harness.submit(agent.id, "How many?", command_id=wish) == prompt
        assert one.kinds(agent.id).count("turn.started") == 1

    story(tmp_path, told)


def test_two_processes_that_start_together_both_recover(tmp_path: Path) -> None:
    """What one has ended already, the other finds ended."""

    async def told(one: Crew) -> None:
        boss = await one.at_work(SLOW, role="analyst")
        child = await one.at_work(SLOW, parent=boss.id)
        await one.until(lambda: one.harness.agent(child.id).turn is not None)
        async with crew(tmp_path) as two, crew(tmp_path) as three:
            found = await asyncio.gather(two.harness.recover(), three.harness.recover())
        assert [one.lost for one in found] == [(), ()]  # its process lives: nothing is touched
        assert one.kinds(boss.id).count("worker.dispatched") == 1

    story(tmp_path, told)
