"""Workers: sent out, bounded, ended, and heard; on a real log."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from commands.agents.rules import Rules
from commands.agents.tools import Tool
from commands.agents.wishes import Kill
from commands.eventlog import EventLog
from commands.handle import handle
from commands.projects import create_project, create_task
from domain.agent_errors import AgentHasEnded, TooManyAgents
from domain.agents import Agent
from domain.errors import Refused
from domain.events import TurnCompleted, TurnFailed, TurnLost, WorkerReported
from domain.limits import Limits
from domain.streams import agent_stream
from tests.commands.agents.test_harness import SLOW, story
from tests.stories.crew import ANN, Crew, calls, crew, lay_out, report

COSTLY = {**calls("look"), "cost_usd": 0.01, "tokens_in": 50, "tokens_out": 50}


async def _look(_: dict[str, Any]) -> str:
    return "Nothing new."


LOOK = Tool("look", "", {"type": "object", "properties": {"at": {"type": "integer"}}}, _look)


def different(number: int, **more: Any) -> dict[str, Any]:
    """A line that looks somewhere else each time: no circle."""
    return {**calls("look", at=number), **more}


def test_a_worker_ends_with_a_structured_report(tmp_path: Path) -> None:
    """As its end, with what it took; nobody speaks to it any more."""

    async def told(one: Crew) -> None:
        agent = await one.at_work(
            different(1, cost_usd=0.5),
            report("partial", "Half of it.", changes=["a"], issues=["b"], questions=["c?"]),
        )
        ended = await one.harness.ended(agent.id)
        assert ended.report == ("partial", "Half of it.", ("a",), ("b",), ("c?",))
        event = one.history(agent.id)[-1].event
        assert isinstance(event, WorkerReported)
        assert (event.turns, event.cost_usd) == (2, 0.5)
        with pytest.raises(AgentHasEnded):
            await one.harness.submit(agent.id, "More?")
        assert [n.data["status"] for n in one.told if n.kind == "result"] == ["partial"]

    story(tmp_path, told, tools=[LOOK])


def test_a_report_that_is_none_is_refused_to_the_model(tmp_path: Path) -> None:
    """It may try again."""

    async def told(one: Crew) -> None:
        agent = await one.at_work(report("splendid"), report("success", ""), report())
        ended = await one.harness.ended(agent.id)
        assert ended.report is not None
        assert ended.report.status == "success"
        assert one.kinds(agent.id).count("tool.called") == 3

    story(tmp_path, told)


def test_a_worker_that_forgets_its_report_is_reminded_once(tmp_path: Path) -> None:
    """Then its work counts as failed, with what it said as the summary."""

    async def told(one: Crew) -> None:
        reminded = await one.at_work({"text": "Done."}, report())
        never = await one.at_work({"text": "Done."}, {"text": "I said: done."})
        first, second = [await one.harness.ended(a.id) for a in (reminded, never)]
        assert first.report is not None
        assert first.report.status == "success"
        assert second.report is not None
        assert (second.report.status, second.report.summary) == ("failed", "I said: done.")

    story(tmp_path, told)


@pytest.mark.parametrize(
    ("limits", "reason", "lines"),
    [
        (Limits(budget_usd=0.025), "budget", [COSTLY] * 3),
        (Limits(tokens=250), "budget", [COSTLY] * 3),
        (Limits(turns=2), "budget", [COSTLY] * 3),
        (Limits(seconds=0.1), "time", [SLOW]),
        (Limits(idle_seconds=0.1), "idle", [SLOW]),
    ],
    ids=["dollars", "tokens", "calls", "wall time", "inactivity"],
)
def test_every_bound_ends_a_worker(
    tmp_path: Path, limits: Limits, reason: str, lines: list[dict[str, Any]]
) -> None:
    """Enforced, not only told; what was used up until then is counted."""

    async def told(one: Crew) -> None:
        # one more look each time, so that no circle is noticed before
        looks = [
            {**line, **different(n)} if line is COSTLY else line for n, line in enumerate(lines)
        ]
        agent = await one.at_work(*looks, {"text": "beyond"}, limits=limits)
        ended = await one.harness.ended(agent.id)
        assert ended.ended is not None
        assert (ended.ended.how, ended.ended.reason) == ("killed", reason)
        calls_made = sum(kind == "tool.called" for kind in one.kinds(agent.id))
        assert calls_made <= 3
        assert ended.spent.cost_usd <= 0.03 + 1e-9
        if reason == "budget":
            assert ended.spent.cost_usd > 0

    story(tmp_path, told, tools=[LOOK])


def test_a_worker_in_circles_is_warned_and_then_ended(tmp_path: Path) -> None:
    """At the third and at the fifth same call; the order of arguments makes no difference."""

    async def told(one: Crew) -> None:
        agent = await one.at_work(*[calls("look", at=1)] * 9)
        ended = await one.harness.ended(agent.id)
        assert ended.ended is not None
        assert ended.ended.reason == "loop"
        kinds = one.kinds(agent.id)
        assert kinds.count("loop.noticed") == 1
        assert kinds.count("tool.called") == 5
        third = [r.event for r in one.history(agent.id) if r.event.kind == "tool.called"][2]
        assert "Nothing new." in str(third)
        assert any("goes in circles" in notice.text for notice in one.told)

    story(tmp_path, told, tools=[LOOK])


def test_kill_really_ends_it(tmp_path: Path) -> None:
    """At once, whatever it waits for; its place is free again."""

    async def told(one: Crew) -> None:
        agent = await one.at_work(SLOW)
        await one.until(lambda: one.harness.agent(agent.id).turn is not None)
        with pytest.raises(TooManyAgents, match="1 workers are at work"):
            await one.at_work(report())
        began = time.monotonic()
        killed = await one.harness.kill(agent.id)
        assert time.monotonic() - began < 5  # 600 where it did not end
        assert killed.ended is not None
        assert (killed.ended.how, killed.ended.reason) == ("killed", "asked")
        assert one.kinds(agent.id)[-2:] == ["turn.failed", "worker.killed"]
        again = await one.at_work(report())
        assert (await one.harness.ended(again.id)).report is not None

    story(tmp_path, told, rules=Rules(look=0.05, workers_at_once=1))


def test_a_kill_from_another_process_is_heard(tmp_path: Path) -> None:
    """What is written into the log ends the turn here."""

    async def told(one: Crew) -> None:
        agent = await one.at_work(SLOW)
        await one.until(lambda: one.harness.agent(agent.id).turn is not None)
        with EventLog(tmp_path) as other:
            wish = Kill(detail="By hand.", now=ANN.now())
            handle(other, agent_stream(agent.id), wish, ANN)
        async with asyncio.timeout(20):
            ended = await one.harness.ended(agent.id)
            assert ended.ended is not None
            # its place is free, and nothing is left that would stream on
            await one.harness.close()
        assert one.kinds(agent.id).count("turn.failed") == 1

    story(tmp_path, told)


def test_workers_run_side_by_side(tmp_path: Path) -> None:
    """Four that each wait for the others' sake: one after the other would never end."""
    together = asyncio.Barrier(4)

    async def meet(_: dict[str, Any]) -> str:
        await together.wait()
        return "All are here."

    tool = Tool("meet", "", {"type": "object", "properties": {}}, meet)

    async def told(one: Crew) -> None:
        async with asyncio.timeout(20):
            agents = [await one.at_work(calls("meet"), report()) for _ in range(4)]
            ends = [await one.harness.ended(agent.id) for agent in agents]
        assert {end.report.status for end in ends if end.report} == {"success"}

    story(tmp_path, told, tools=[tool])


def test_an_agent_sends_out_a_worker_and_hears_its_report(tmp_path: Path) -> None:
    """In both streams: the sender's says whom it sent and what came back."""

    async def told(one: Crew) -> None:
        worker_lines = one.script(report("success", "42 tides.", changes=["counted"]))
        (one.directory / "roles" / "counter.md").write_text(
            f"---\nname: counter\ndescription: counts\nmodel: {worker_lines!r}\n---\nCount.\n"
        )
        boss = await one.drafted(
            calls("draft_agent", role="counter", prompt="Count the tides."),
            calls("await_agent", agentId="counter-1"),
            {"text": "There are 42."},
        )
        end = await one.asked(boss.id)
        assert isinstance(end, TurnCompleted)
        assert end.text == "There are 42."
        await one.until(lambda: not one.harness.agent(boss.id).workers)
        kinds = one.kinds(boss.id)
        assert kinds.index("worker.dispatched") < kinds.index("worker.reported")
        assert one.kinds("counter-1")[-1] == "worker.reported"
        used = [r.event for r in one.history(boss.id) if r.event.kind == "tool.called"]
        assert '"summary": "42 tides."' in str(used[1]).replace("\\", "")
        worker = one.harness.agent("counter-1")
        assert worker.drafted.parent == boss.id
        assert one.harness.agent(boss.id).workers == ()
        assert str(one.history("counter-1")[0].actor) == f"agent:{boss.id}"

    story(tmp_path, told)


def test_whoever_it_sent_out_ends_with_it(tmp_path: Path) -> None:
    """Nobody works for somebody who is gone."""

    async def told(one: Crew) -> None:
        slow = one.script(SLOW)
        (one.directory / "roles" / "slow.md").write_text(
            f"---\nname: slow\ndescription: slow\nmodel: {slow!r}\n---\nSlowly.\n"
        )
        boss = await one.drafted(calls("draft_agent", role="slow", prompt="x"), {"text": "Sent."})
        await one.asked(boss.id)
        assert one.harness.agent(boss.id).workers == ("slow-1",)
        await one.harness.undraft(boss.id)
        ended = one.harness.agent("slow-1").ended
        assert ended is not None
        assert ended.reason == "parent ended"
        assert one.harness.active() == []

    story(tmp_path, told)


def test_an_agent_talks_with_one_that_it_drafted(tmp_path: Path) -> None:
    """Question and answer stand in both streams; nobody else may ask it."""

    async def told(one: Crew) -> None:
        peer = one.script({"text": "By the moon."}, {"text": "By the sun, too."})
        (one.directory / "roles" / "peer.md").write_text(
            f"---\nname: peer\ndescription: knows\nmodel: {peer!r}\n---\nAnswer.\n"
        )
        boss = await one.drafted(
            calls("draft_agent", role="peer", prompt="By what?", way="conversation"),
            calls("ask_agent", agentId="peer-1", content="And else?"),
            {"text": "Moon and sun."},
        )
        other = await one.drafted(
            calls("ask_agent", agentId="peer-1", content="Me?"), {"text": "No."}, client="other"
        )
        assert (await one.asked(boss.id)).text == "Moon and sun."
        await one.asked(other.id)
        own = [r.event for r in one.history(boss.id) if r.event.kind.startswith("peer.")]
        assert [event.kind for event in own] == ["peer.asked", "peer.answered"] * 2
        assert "By the sun, too." in str(own[3])
        theirs = one.kinds("peer-1")
        assert theirs.count("turn.completed") == 2
        refused = [r.event for r in one.history(other.id) if r.event.kind == "tool.called"]
        assert "There is no agent 'peer-1'" in str(refused[0])
        await one.harness.undraft(boss.id)
        assert one.harness.agent("peer-1").ended is not None

    story(tmp_path, told)


def test_nobody_gets_through_others_what_its_own_role_may_not(tmp_path: Path) -> None:
    """Neither a permission, nor another project."""

    async def told(one: Crew) -> None:
        (one.directory / "roles" / "sender.md").write_text(
            "---\nname: sender\ndescription: sends\npermissions: [agent-draft]\n---\nSend.\n"
        )
        create_project(one.log, ANN, "secrets")
        create_task(one.log, ANN, "secrets", "Keep them", slug="keep")
        boss = await one.drafted(
            calls("draft_agent", role="analyst", prompt="Make a project."),
            calls("draft_agent", role="reader", prompt="x", project="secrets", taskSlug="keep"),
            calls("list_tasks", project="secrets"),
            {"text": "No."},
            role="sender",
        )
        await one.asked(boss.id)
        said = [str(r.event) for r in one.history(boss.id) if r.event.kind == "tool.called"]
        assert "Role 'sender' may not use role 'analyst'" in said[0]
        assert "Role 'sender' may not use project 'secrets'" in said[1]
        assert "Role 'sender' may not use project 'secrets'" in said[2]
        assert [agent.id for agent in one.harness.active()] == [boss.id]

    story(tmp_path, told)


def test_a_budget_bounds_those_that_are_sent_out_as_well(tmp_path: Path) -> None:
    """Their cost is the sender's cost, and they get no more than what is left."""

    async def told(one: Crew) -> None:
        dear = one.script({**calls("list_agents"), "cost_usd": 0.04}, report())
        (one.directory / "roles" / "dear.md").write_text(
            f"---\nname: dear\ndescription: dear\nmodel: {dear!r}\n---\nSpend.\n"
        )
        (one.directory / "roles" / "boss.md").write_text(
            "---\nname: boss\ndescription: sends\npermissions: [agent-draft]\n"
            "limits: {budget_usd: 0.05}\n---\nSend.\n"
        )
        send = [
            line
            for number in range(1, 9)
            for line in (
                calls("draft_agent", role="dear", prompt="Spend."),
                calls("await_agent", agentId=f"dear-{number}"),
            )
        ]
        boss = await one.drafted(*send, {"text": "All spent."}, role="boss")
        end = await one.asked(boss.id)
        assert isinstance(end, TurnFailed)
        assert end.reason == "budget"
        await one.until(lambda: not one.harness.agent(boss.id).workers)
        now = one.harness.agent(boss.id)
        assert now.delegated_usd == pytest.approx(0.08)
        assert now.cost_usd >= 0.05
        assert one.harness.agent("dear-2").limits.budget_usd == pytest.approx(0.01)
        assert len(one.log.streams("agent")) == 3

    story(tmp_path, told)


def test_agents_do_not_draft_agents_for_ever(tmp_path: Path) -> None:
    """There is a greatest depth."""

    async def told(one: Crew) -> None:
        above: Agent = await one.drafted()
        for _ in range(2):
            above = await one.at_work(SLOW, role="analyst", parent=above.id)
        with pytest.raises(Refused, match="At most 3 agents may stand above one another"):
            await one.at_work(SLOW, parent=above.id)

    story(tmp_path, told)


CHILD = """
import asyncio, sys
from pathlib import Path
from tests.stories.crew import crew

async def main():
    async with crew(Path(sys.argv[1])) as one:
        agent = await one.drafted({"text": "One."}, {"text": "x", "delay": 600}, {"text": "Three."})
        await one.asked(agent.id, "first")
        worker = await one.at_work({"text": "x", "delay": 600})
        await one.harness.submit(agent.id, "second")
        await one.until(lambda: one.harness.agent(agent.id).turn is not None)
        await one.until(lambda: one.harness.agent(worker.id).turn is not None)
        await one.harness.submit(agent.id, "third")
        print(agent.id, worker.id, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


def test_a_kill_in_the_middle_of_everything_loses_a_turn_and_nothing_else(tmp_path: Path) -> None:
    """The draft is still active, the lost turn is said to be lost, and what waited goes on."""
    lay_out(tmp_path)
    command = [sys.executable, "-c", CHILD, str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as child:
        assert child.stdout is not None
        name, worker = child.stdout.readline().split()
        child.send_signal(signal.SIGKILL)
        child.wait()
    # the call that was lost is made again: the model has recovered as well
    (tmp_path / "0.jsonl").write_text('{"text": "One."}\n{"text": "Three."}\n')

    async def told(one: Crew) -> None:
        before = one.harness.agent(name)
        assert before.turn is not None
        recovered = await one.harness.recover()
        assert set(recovered.lost) == {(name, 2), (worker, 1)}
        assert recovered.resumed == (name,)
        draft = one.harness.draft_of("test")
        assert draft is not None
        assert (draft.id, draft.active) == (name, True)
        lost = [r.event for r in one.history(name) if isinstance(r.event, TurnLost)]
        assert [event.turn for event in lost] == [2]
        assert any("was lost when its process ended" in notice.text for notice in one.told)
        third = before.queue[0].id
        assert isinstance(await one.harness.answered(name, third), TurnCompleted)
        ended = one.harness.agent(worker).ended
        assert ended is not None
        assert (ended.how, ended.reason) == ("killed", "lost")

    story(tmp_path, told)
    # and nothing is lost twice
    asyncio.run(_recovers_nothing(tmp_path))


async def _recovers_nothing(directory: Path) -> None:
    async with crew(directory) as one:
        assert (await one.harness.recover()) == ((), ())
