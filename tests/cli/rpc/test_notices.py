"""What happens among agents reaches those whom it concerns."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from cli.client.local import LocalClient
from cli.rpc.notices import Notifications
from cli.rpc.notifications import NOTIFICATIONS
from commands.agents.notices import Notice
from commands.projects import create_project, create_task
from domain.events import TurnCompleted
from tests.cli.conftest import Mind
from tests.cli.rpc.spoken import made, opened

FORMS = {one.name: one.params for one in NOTIFICATIONS}


@pytest.fixture
def store(tmp_path: Path, within: Mind) -> Path:
    """Any store."""
    return made(tmp_path)


async def heard(client: LocalClient) -> list[tuple[str, dict[str, Any]]]:
    """All that it was told so far; each notification has the form that the protocol says."""
    found = []
    while one := await client._inbox.take() if len(client._inbox) else None:
        method, params = one
        assert FORMS[method].model_validate(params, by_alias=True).model_dump(mode="json") == params
        found.append((method, params))
    return found


def test_a_draft_is_told_to_its_client(store: Path, tmp_path: Path) -> None:
    """Text as it streams, then how the draft stands, to its own client; to all, who is at work."""
    script = tmp_path / "agent.jsonl"
    reply = {"text": "two words", "tokens_in": 900, "tokens_out": 12, "cost_usd": 0.01}
    script.write_text(json.dumps(reply) + "\n", encoding="utf-8")

    async def talk() -> Any:
        async with opened(store) as (service, ann):
            ben = LocalClient(service, "ben")
            create_project(service.log, service.world, "payments")
            create_task(service.log, service.world, "payments", "Refunds", slug="refunds")
            agent = await service.harness.draft(
                client="ann",
                role="product-analyst",
                project="payments",
                task="refunds",
                model=f"script:{script}",
            )
            prompt = await service.harness.submit(agent.id, "Which two?")
            turn = await service.harness.answered(agent.id, prompt)
            told = await heard(ann), await heard(ben)
            await ben.close()
            return agent, turn, *told

    agent, turn, ann, ben = asyncio.run(talk())
    assert isinstance(turn, TurnCompleted)
    said = [params for method, params in ann if method == "channel_message"]
    assert {message["sessionId"] for message in said} == {agent.id}
    assert "".join(m["content"] for m in said if m["type"] == "chunk") == "two words"
    assert [m["id"] for m in said] == sorted({m["id"] for m in said})
    statuses = [params for method, params in ann if method == "draft_status"]
    assert statuses[-1]["turnCount"] == 1
    assert statuses[-1]["costUsd"] == pytest.approx(0.01)
    assert (statuses[-1]["role"], statuses[-1]["taskSlug"]) == ("product-analyst", "refunds")
    pools = [params for method, params in ben if method == "pool_status"]
    assert {method for method, _ in ben} <= {"pool_status"}
    assert [one["sessionId"] for one in pools[-1]["agents"]] == [agent.id]


def test_what_was_compacted_is_told(store: Path) -> None:
    """With how long the conversation was, and why."""

    async def talk() -> Any:
        async with opened(store) as (service, ann):
            data = {"preTokens": 900, "trigger": "auto"}
            Notifications(service).tell(Notice("compacted", "analyst-1", "ann", 0, data=data))
            Notifications(service).tell(Notice("status", "analyst-1", "ann", 0))
            return await heard(ann)

    wanted = {"sessionId": "analyst-1", "preTokens": 900, "trigger": "auto"}
    assert asyncio.run(talk()) == [("context_compacted", wanted)]


def test_who_is_at_work_is_told_once_for_many_changes(store: Path) -> None:
    """Those that come while it is looked up, which holds up nobody, are told together."""

    async def talk() -> Any:
        async with opened(store) as (service, ann):
            notifications = Notifications(service)
            for _ in range(5):
                notifications.tell(Notice("pool", "", "", 0))
            assert await heard(ann) == []
            assert notifications._others is not None
            await notifications._others
            once = await heard(ann)
            notifications.tell(Notice("pool", "", "", 0))
            await notifications._others
            return once, await heard(ann)

    wanted = [("pool_status", {"agents": []})]
    assert asyncio.run(talk()) == (wanted, wanted)
