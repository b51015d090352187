"""Drafts, turns and their ends, on a real log."""

import asyncio
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from commands.agents.rules import Rules
from commands.agents.tools import Tool
from commands.projects import close_task, create_project
from domain.agent_errors import (
    AgentHasEnded,
    DraftIsActive,
    NoSuchAgent,
    NoSuchProject,
    NoSuchRole,
    NoSuchTask,
    ProjectIsVirtual,
    QueueIsFull,
    TaskIsClosed,
)
from domain.errors import BadText, Refused
from domain.events import TurnCompleted, TurnFailed, TurnStarted
from domain.ids import CommandId
from tests.stories.crew import ANN, PROJECT, TASK, Crew, calls, crew

SLOW = {"text": "It would have taken long.", "delay": 600}


def story(directory: Path, told: Any, **more: Any) -> None:
    """Let an asynchronous story happen."""

    async def happen() -> None:
        async with crew(directory, **more) as one:
            await told(one)

    asyncio.run(happen())


def test_a_conversation_from_draft_to_undraft(tmp_path: Path) -> None:
    """Turns are answered, their figures add up, and the end sums them up."""

    async def told(one: Crew) -> None:
        line = {"tokens_in": 100, "tokens_out": 10, "cost_usd": 0.25, "context_window": 1000}
        agent = await one.drafted({"text": "Two a day.", **line}, {"text": "Both sides.", **line})
        first = await one.asked(agent.id, "How many tides?")
        second = await one.asked(agent.id, "Why two?")
        assert isinstance(first, TurnCompleted)
        assert (first.text, second.text) == ("Two a day.", "Both sides.")
        ended = await one.harness.undraft(agent.id)
        assert ended.ended is not None
        assert (ended.completed, ended.spent.cost_usd, ended.context_pct) == (2, 0.5, 10.0)
        assert one.kinds(agent.id) == [
            "agent.drafted",
            *["prompt.submitted", "turn.started", "turn.completed"] * 2,
            "agent.undrafted",
        ]
        with pytest.raises(AgentHasEnded, match="has ended"):
            await one.harness.submit(agent.id, "And now?")

    story(tmp_path, told)


def test_the_answer_streams_and_is_told_whole(tmp_path: Path) -> None:
    """Pieces as they come, then the answer, then the figures."""

    async def told(one: Crew) -> None:
        agent = await one.drafted({"text": "Two tides a day."})
        await one.asked(agent.id)
        kinds = [notice.kind for notice in one.told if notice.agent == agent.id]
        pieces = "".join(n.text for n in one.told if n.kind == "chunk")
        assert pieces == "Two tides a day."
        assert kinds.index("prompt") < kinds.index("turn") < kinds.index("chunk")
        assert kinds.index("chunk") < kinds.index("answer") < len(kinds) - 1
        assert kinds[-1] == "status"
        assert {notice.client for notice in one.told if notice.agent} == {"test"}

    story(tmp_path, told)


def test_one_draft_at_a_time_for_each_client(tmp_path: Path) -> None:
    """Another client has one of its own; after the end of one the next may begin."""

    async def told(one: Crew) -> None:
        first = await one.drafted()
        with pytest.raises(DraftIsActive, match="'analyst-1' is drafted already by 'test'"):
            await one.drafted()
        other = await one.drafted(client="other")
        assert (first.id, other.id) == ("analyst-1", "analyst-2")
        assert one.harness.draft_of("other") == other
        await one.harness.undraft(first.id)
        assert one.harness.draft_of("test") is None
        again = await one.drafted()
        assert again.id == "analyst-3"

    story(tmp_path, told)


def test_of_many_drafts_at_once_one_is_made(tmp_path: Path) -> None:
    """However they race."""

    async def told(one: Crew) -> None:
        made = await asyncio.gather(*(one.drafted() for _ in range(8)), return_exceptions=True)
        assert sum(isinstance(one, DraftIsActive) for one in made) == 7
        assert len(one.harness.active()) == 1

    story(tmp_path, told)


def test_nobody_is_drafted_where_nobody_can_be(tmp_path: Path) -> None:
    """Unknown role, project or task, a heading, a closed task, a role that is not the project's."""

    async def told(one: Crew) -> None:
        create_project(one.log, ANN, "heading", virtual=True)
        for error, more in (
            (NoSuchRole, {"role": "pirate"}),
            (NoSuchRole, {"role": "../../etc/passwd"}),
            (NoSuchProject, {"project": "moons"}),
            (NoSuchTask, {"task": "nothing"}),
            (ProjectIsVirtual, {"project": "heading"}),
        ):
            with pytest.raises(error):
                await one.drafted(**more)
        close_task(one.log, ANN, PROJECT, TASK, "done")
        with pytest.raises(TaskIsClosed):
            await one.drafted()
        assert one.log.streams("agent") == []

    story(tmp_path, told)


def test_turns_are_strictly_one_at_a_time(tmp_path: Path) -> None:
    """Prompts that come together wait, visibly, and are answered in their order."""

    async def told(one: Crew) -> None:
        agent = await one.drafted(*({"text": f"answer {n}", "delay": 0.02} for n in range(5)))
        prompts = [await one.harness.submit(agent.id, f"question {n}") for n in range(5)]
        ends = await asyncio.gather(*(one.harness.answered(agent.id, p) for p in prompts))
        assert [end.text for end in ends] == [f"answer {n}" for n in range(5)]
        going = 0
        for kind in one.kinds(agent.id):
            going += (kind == "turn.started") - (kind == "turn.completed")
            assert 0 <= going <= 1
        waiting = [notice.data["waiting"] for notice in one.told if notice.kind == "prompt"]
        assert max(waiting) >= 3

    story(tmp_path, told)


def test_a_prompt_that_waits_can_be_taken_back(tmp_path: Path) -> None:
    """One whose turn has begun can't."""

    async def told(one: Crew) -> None:
        agent = await one.drafted(SLOW)
        first = await one.harness.submit(agent.id, "first")
        second = await one.harness.submit(agent.id, "second")
        await one.until(lambda: one.harness.agent(agent.id).turn is not None)
        await one.harness.withdraw(agent.id, second)
        assert (await one.harness.answered(agent.id, second)).kind == "prompt.withdrawn"
        with pytest.raises(Refused, match="does not wait"):
            await one.harness.withdraw(agent.id, first)

    story(tmp_path, told)


def test_the_same_wish_is_said_once(tmp_path: Path) -> None:
    """A client that repeats a prompt under its id gets the same prompt."""

    async def told(one: Crew) -> None:
        agent = await one.drafted({"text": "Once."})
        wish = CommandId(bytes(15) + b"\x07")
        first = await one.harness.submit(agent.id, "Hello?", command_id=wish)
        await one.harness.answered(agent.id, first)
        assert await one.harness.submit(agent.id, "Hello?", command_id=wish) == first
        assert one.kinds(agent.id).count("prompt.submitted") == 1

    story(tmp_path, told)


def test_what_is_no_prompt_is_refused(tmp_path: Path) -> None:
    """Empty, for nobody, or too many."""

    async def told(one: Crew) -> None:
        agent = await one.drafted(SLOW)
        with pytest.raises(BadText):
            await one.harness.submit(agent.id, "  ")
        with pytest.raises(NoSuchAgent, match="'nobody-1'"):
            await one.harness.submit("nobody-1", "Hello?")
        for number in range(101):
            await one.harness.submit(agent.id, f"{number}")
            if not number:
                await one.until(lambda: one.harness.agent(agent.id).turn is not None)
        with pytest.raises(QueueIsFull, match="100 prompts wait"):
            await one.harness.submit(agent.id, "one more")

    story(tmp_path, told)


def test_a_failed_turn_does_not_poison_the_next(tmp_path: Path) -> None:
    """It is recorded with what had arrived, and the conversation goes on."""

    async def told(one: Crew) -> None:
        agent = await one.drafted({"fail": "half", "text": "It is the moon"}, {"text": "Better."})
        first = await one.asked(agent.id)
        assert isinstance(first, TurnFailed)
        assert (first.reason, "It is".startswith(first.partial[:5])) == ("failed", True)
        second = await one.asked(agent.id)
        assert isinstance(second, TurnCompleted)
        errors = [notice for notice in one.told if notice.kind == "error"]
        assert [error.data["reason"] for error in errors] == ["failed"]

    story(tmp_path, told)


def test_an_undraft_in_the_middle_of_a_turn_ends_it(tmp_path: Path) -> None:
    """Within a second, recorded as interrupted, and the client may draft again."""

    async def told(one: Crew) -> None:
        agent = await one.drafted(SLOW)
        prompt = await one.harness.submit(agent.id, "Well?")
        await one.until(lambda: one.harness.agent(agent.id).turn is not None)
        began = time.monotonic()
        await one.harness.undraft(agent.id)
        assert time.monotonic() - began < 5  # 600 where it did not end
        end = await one.harness.answered(agent.id, prompt)
        assert isinstance(end, TurnFailed)
        assert end.reason == "interrupted"
        next_one = await one.drafted({"text": "Here."})
        assert (await one.asked(next_one.id)).text == "Here."

    story(tmp_path, told)


def test_what_waits_when_a_draft_ends_is_never_begun(tmp_path: Path) -> None:
    """The turn that went on is interrupted; the next one does not flare up behind it."""

    async def told(one: Crew) -> None:
        agent = await one.drafted(SLOW, SLOW, SLOW)
        prompts = [await one.harness.submit(agent.id, f"{number}") for number in range(3)]
        await one.until(lambda: one.harness.agent(agent.id).turn is not None)
        await one.harness.undraft(agent.id)
        kinds = one.kinds(agent.id)
        assert kinds.count("turn.started") == kinds.count("turn.failed") == 1
        assert kinds[-1] == "agent.undrafted"
        with pytest.raises(AgentHasEnded):
            await one.harness.answered(agent.id, prompts[2])

    story(tmp_path, told)


def test_a_session_that_the_backend_has_lost_closes_the_draft(tmp_path: Path) -> None:
    """The user is told, the log keeps everything, and one can draft anew."""

    async def told(one: Crew) -> None:
        agent = await one.drafted({"text": "First."}, {"fail": "session gone"})
        await one.asked(agent.id)
        prompt = await one.harness.submit(agent.id, "Again?")
        ended = await one.harness.ended(agent.id)
        assert ended.ended is not None
        assert ended.ended.reason == "session gone"
        end = await one.harness.answered(agent.id, prompt)
        assert isinstance(end, TurnFailed)
        assert end.reason == "session gone"
        await one.until(lambda: any("draft again" in notice.text for notice in one.told))
        assert one.kinds(agent.id)[-1] == "agent.undrafted"
        assert await one.drafted({"text": "Anew."})

    story(tmp_path, told)


def test_a_budget_ends_a_conversation_in_a_sentence(tmp_path: Path) -> None:
    """The turn that reached it is whole; the next is refused before it costs anything."""

    async def told(one: Crew) -> None:
        agent = await one.drafted({"text": "Dear.", "cost_usd": 0.02}, role="frugal")
        assert isinstance(await one.asked(agent.id), TurnCompleted)
        with pytest.raises(Refused, match=r"Its budget of \$0.015 is used up \(\$0.0200\)"):
            await one.harness.submit(agent.id, "More?")

    story(tmp_path, told)


def test_a_tool_that_the_role_may_not_use_is_refused(tmp_path: Path) -> None:
    """It is not among its tools; called all the same, the model is told why not."""
    ran: list[Any] = []

    async def never(arguments: dict[str, Any]) -> str:
        ran.append(arguments)
        return "done"

    forbidden = Tool("erase", "", {"type": "object", "properties": {}}, never, "projects-create")

    async def told(one: Crew) -> None:
        lines = (calls("draft_agent", role="reader", prompt="x"), calls("erase"), {"text": "No."})
        agent = await one.drafted(*lines, role="reader")
        assert isinstance(await one.asked(agent.id), TurnCompleted)
        first, second = (r.event for r in one.history(agent.id) if r.event.kind == "tool.called")
        assert "There is no tool 'draft_agent'" in str(first)
        assert "Role 'reader' may not use erase" in str(second)
        assert ran == []
        assert len(one.log.streams("agent")) == 1

    story(tmp_path, told, tools=[forbidden])


def test_whatever_a_tool_does_the_turn_goes_on(tmp_path: Path) -> None:
    """Bad arguments and errors of a tool are told to the model, and recorded."""

    async def breaks(_: dict[str, Any]) -> str:
        raise ZeroDivisionError("by zero")

    tool = Tool("divide", "", {"type": "object", "properties": {"by": {"type": "number"}}}, breaks)

    async def told(one: Crew) -> None:
        lines = (calls("divide", by="x"), calls("divide", by=0), {"text": "It does not work."})
        agent = await one.drafted(*lines)
        end = await one.asked(agent.id)
        assert end.text == "It does not work."
        used = [r.event for r in one.history(agent.id) if r.event.kind == "tool.called"]
        assert all(getattr(event, "failed", False) for event in used)
        assert "ZeroDivisionError: by zero" in str(used[1])

    story(tmp_path, told, tools=[tool])


def test_silence_within_a_turn_ends_it(tmp_path: Path) -> None:
    """Nothing arrives for longer than the rules allow."""

    async def told(one: Crew) -> None:
        agent = await one.drafted(SLOW)
        end = await one.asked(agent.id)
        assert isinstance(end, TurnFailed)
        assert (end.reason, end.detail) == ("idle", "Nothing arrived for 0.1 seconds.")

    rules = Rules(look=0.05)
    story(
        tmp_path,
        told,
        rules=rules._replace(
            conversation=rules.conversation.model_copy(update={"idle_seconds": 0.1})
        ),
    )


def test_a_reset_begins_the_conversation_anew(tmp_path: Path) -> None:
    """The model is shown nothing of what was before, and the log keeps it."""

    async def told(one: Crew) -> None:
        agent = await one.drafted({"text": "One.", "tokens_in": 9}, {"text": "Two."})
        await one.asked(agent.id)
        reset = await one.harness.reset(agent.id)
        assert reset.shown_after == reset.version
        assert reset.last_tokens_in == 0
        assert (await one.asked(agent.id)).text == "Two."

    story(tmp_path, told)


def test_turns_of_two_harnesses_never_overlap(tmp_path: Path) -> None:
    """Both may be told things; each prompt is answered once."""

    async def told(one: Crew) -> None:
        agent = await one.drafted(*({"text": f"{n}", "delay": 0.01} for n in range(6)))
        async with crew(tmp_path) as two:
            pairs = [
                ((one, two)[n % 2], await (one, two)[n % 2].harness.submit(agent.id, f"{n}"))
                for n in range(6)
            ]
            ends = await asyncio.gather(*(c.harness.answered(agent.id, p) for c, p in pairs))
        assert {end.kind for end in ends} == {"turn.completed"}
        turns = [r.event for r in one.history(agent.id) if isinstance(r.event, TurnStarted)]
        assert [turn.turn for turn in turns] == list(range(1, 7))
        assert len({turn.prompt for turn in turns}) == 6

    story(tmp_path, told)


def test_a_harness_that_is_closed_says_so_of_its_turns(tmp_path: Path) -> None:
    """They are interrupted, and what waits goes on with the next harness."""

    async def told() -> None:
        async with crew(tmp_path) as one:
            agent = await one.drafted(SLOW, {"text": "Later."})
            first = await one.harness.submit(agent.id, "first")
            await one.until(lambda: one.harness.agent(agent.id).turn is not None)
            second = await one.harness.submit(agent.id, "second")
        async with crew(tmp_path) as two:
            end = await two.harness.answered(agent.id, first)
            assert isinstance(end, TurnFailed)
            assert end.reason == "interrupted"
            recovered = await two.harness.recover()
            assert (recovered.lost, recovered.resumed) == ((), (agent.id,))
            assert isinstance(
                await two.harness.answered(agent.id, second), TurnCompleted | TurnFailed
            )

    asyncio.run(told())


def test_one_more_turn_writes_three_rows_and_touches_no_other(tmp_path: Path) -> None:
    """However many turns there were: nothing is rewritten, nothing grows with the history."""

    def rows(directory: Path) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(directory / "log.db")) as connection:
            return connection.execute("SELECT * FROM stored_events ORDER BY rowid").fetchall()

    async def told(one: Crew) -> None:
        agent = await one.drafted(*({"text": "The same."} for _ in range(40)))
        sizes = []
        for number in range(40):
            before = rows(tmp_path)
            await one.asked(agent.id, f"question {number:02d}")
            after = rows(tmp_path)
            assert after[: len(before)] == before
            assert len(after) == len(before) + 3
            sizes.append(sum(len(row[-1]) for row in after[len(before) :]))
        assert max(sizes) - min(sizes) < 16  # numbers get longer, and nothing else does

    story(tmp_path, told)
