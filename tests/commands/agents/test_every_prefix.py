"""A process may be killed between any two appends: whatever is left of a story can go on."""

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from commands.eventlog import EventLog
from domain.agents import Agent
from domain.streams import agent_of
from tests.stories.crew import Crew, crew, lay_out

STORY = """
import asyncio, sys
from pathlib import Path
from tests.stories.crew import PROJECT, TASK, calls, crew, report

def sent(role, way="work"):
    return calls("draft_agent", role=role, prompt="Go.", way=way)

async def main():
    async with crew(Path(sys.argv[1])) as one:
        def role(name, *lines):
            text = f"name: {name}\\ndescription: d\\nmodel: {one.script(*lines)!r}"
            text = f"---\\n{text}\\npermissions: [agent-draft]\\n---\\n{name}\\n"
            (one.directory / "roles" / f"{name}.md").write_text(text)

        slow = {"text": "x", "delay": 600}
        role("peer", {"text": "By the moon."}, {"text": "By the sun, too."})
        role("digger", {"text": "Dug."}, report())
        role("slow", slow)
        role("lead", sent("digger"), calls("await_agent", agentId="digger-1"), report())
        role("chief", sent("slow"), slow)
        boss = await one.drafted(
            sent("peer", "conversation"),
            sent("lead"),
            calls("await_agent", agentId="lead-1"),
            {"text": "There."},
            calls("ask_agent", agentId="peer-1", content="And else?"),
            sent("slow"),
            {"text": "Then."},
        )
        first, second, third = [await one.harness.submit(boss.id, f"{n}") for n in range(3)]
        await one.harness.withdraw(boss.id, third)
        await one.harness.answered(boss.id, second)
        chief = await one.harness.dispatch(
            client="test", role="chief", prompt="Go.", project=PROJECT, task=TASK
        )
        await one.until(lambda: any(n.agent == "slow-2" and n.kind == "turn" for n in one.told))
        waiting = calls("await_agent", agentId="slow-3")
        other = await one.drafted(sent("slow"), waiting, {"text": "Now."}, client="other")
        waits = [await one.harness.submit(other.id, f"{n}") for n in range(2)][1]
        await one.until(lambda: (other.id, "await_agent") in [(n.agent, n.text) for n in one.told])
        await one.harness.stop(other.id)
        await one.harness.answered(other.id, waits)
        await one.harness.undraft(other.id)
        await one.harness.undraft(boss.id)
        await one.harness.kill(chief.id)

asyncio.run(main())
"""
"""Turns that wait, a peer that is asked, work that sends out work, a turn that is stopped, and the
ends of all of it."""

Row = tuple[Any, ...]


def _played(directory: Path) -> list[list[Row]]:
    """The rows of the story by transaction; its process, which holds its turns, is gone."""
    lay_out(directory)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", STORY, str(directory)], check=True, env=env, timeout=60)
    with EventLog(directory) as log:
        wishes = [recorded.command for recorded in log.feed()]
    database = sqlite3.connect(directory / "log.db")
    rows = database.execute(
        "SELECT rowid, originator_id, originator_version, topic, state FROM stored_events"
        " ORDER BY rowid"
    ).fetchall()
    database.close()
    pairs = groupby(zip(wishes, rows, strict=True), key=lambda pair: pair[0])
    return [[row for _, row in together] for _, together in pairs]


def _left(rows: Sequence[Row], directory: Path) -> None:
    """A store as it was after these rows."""
    EventLog.create(directory).close()
    database = sqlite3.connect(directory / "log.db")
    with database:
        database.executemany(
            "INSERT INTO stored_events (rowid, originator_id, originator_version, topic, state)"
            " VALUES (?,?,?,?,?)",
            rows,
        )
    database.close()


def _wrong(one: Crew) -> list[str]:
    """What is not as it has to be once everything has come to rest."""
    agents = [one.harness.agent(agent_of(stream)) for stream in one.log.streams("agent")]
    return [f"{agent.id}: {what}" for agent in agents for what in _wrong_with(one, agent, agents)]


def _wrong_with(one: Crew, agent: Agent, agents: Sequence[Agent]) -> list[str]:
    events: list[Any] = [recorded.event for recorded in one.history(agent.id)]

    def told(field: str, *kinds: str) -> list[Any]:
        return [getattr(event, field) for event in events if event.kind in kinds]

    turns = told("turn", "turn.started")
    ends = told("turn", "turn.completed", "turn.failed", "turn.lost")
    children = [child for child in agents if child.drafted.parent == agent.id]
    over = told("worker", "worker.reported", "worker.killed")
    checks = {
        "it is at something for ever": agent.active
        and (agent.turn is not None or bool(agent.queue) or agent.way == "work"),
        "its turns overlap, or have no end": turns != ends,
        "a prompt is answered twice": len(set(told("prompt", "turn.started"))) != len(turns),
        "it does not know whom it sent out": sorted(told("worker", "worker.dispatched"))
        != sorted(child.id for child in children),
        "it does not know who has ended": sorted(who for who in over if who != agent.id)
        != sorted(child.id for child in children if not child.active),
        "it waits for others than are there": sorted(agent.workers)
        != sorted(child.id for child in children if child.active),
        "it has ended, and not those that it sent out": not agent.active
        and any(child.active for child in children),
        "it has ended twice": over.count(agent.id) > 1,
    }
    return [what for what, is_so in checks.items() if is_so]


async def _goes_on(directory: Path) -> list[str]:
    async with crew(directory) as one:
        await one.harness.recover()
        with suppress(TimeoutError):
            await one.until(lambda: not _wrong(one))
        wrong = _wrong(one)
        if not wrong:  # and nothing is left to be done by the next process
            assert (await one.harness.recover()) == ((), ())
        return wrong


@pytest.mark.parametrize(
    "step", [9, pytest.param(1, marks=pytest.mark.slow)], ids=["some moments", "every moment"]
)
def test_a_story_that_breaks_off_anywhere_comes_to_rest(tmp_path: Path, step: int) -> None:
    """Nobody is at something for ever, nothing is answered twice, and all streams agree."""
    played = _played(tmp_path)
    for script in tmp_path.glob("*.jsonl"):  # what took long is fast when it is asked again
        script.write_text(script.read_text().replace('"delay": 600', '"delay": 0'))
    before = len(played) % step
    assert len(played) > 50
    for count in range(max(before, 3), len(played) + 1, step):
        left = tmp_path / f"{count}"
        left.mkdir()
        shutil.copytree(tmp_path / "roles", left / "roles")
        _left([row for together in played[:count] for row in together], left)
        last = played[count - 1][-1]
        assert asyncio.run(_goes_on(left)) == [], f"broken off behind {last[3]} of {last[1]}"
