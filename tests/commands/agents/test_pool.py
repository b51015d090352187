"""Who is there, whichever process has drafted or ended somebody."""

import asyncio
from pathlib import Path

import pytest

from commands.agents.rules import Rules
from domain.agent_errors import DraftIsActive, NoSuchAgent
from tests.stories.crew import crew

RULES = Rules(look=0.05, drafts_per_client=2)


def test_the_newest_draft_is_the_newest_of_all_processes(tmp_path: Path) -> None:
    """What a client says goes to the agent it drafted last, over whichever server that was."""

    async def told() -> None:
        async with crew(tmp_path, rules=RULES) as one, crew(tmp_path, rules=RULES) as two:
            first = await one.drafted()
            assert one.harness.draft_of("test") == first
            second = await two.drafted()
            await two.drafted(client="other")
            assert one.harness.draft_of("test") == second
            with pytest.raises(DraftIsActive):
                await one.drafted()
            await two.harness.undraft(second.id)
            assert one.harness.draft_of("test") == first
            await one.harness.undraft(first.id)
            assert two.harness.draft_of("test") is None

    asyncio.run(told())


def test_nobody_waits_for_somebody_who_never_was(tmp_path: Path) -> None:
    """A name that no agent has is refused at once, and nothing is kept of it."""

    async def told() -> None:
        async with crew(tmp_path) as one:
            drafted = await one.drafted()
            for wait in (one.harness.ended("nobody"), one.harness.answered("nobody", 2)):
                with pytest.raises(NoSuchAgent, match=drafted.id):
                    await wait
            assert "nobody" not in one.harness._ledger.news

    asyncio.run(told())
