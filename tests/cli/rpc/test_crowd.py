"""Many clients at once: nothing is lost, nothing is out of order, and memory stays what it was."""

import asyncio
from pathlib import Path

import pytest

from tests.cli.rpc.crowd import crowd, logged


def _check(store: Path, clients: int, prompts: int) -> list[int]:
    talked = asyncio.run(crowd(store, clients, prompts))
    wanted = [f"answer {n}" for n in range(prompts)]
    assert talked.answers == [wanted] * clients
    turns = logged(store)
    assert [[text for _, text in one] for one in turns] == [wanted] * clients
    for one in turns:
        numbers = {said.partition(":")[0] for said, _ in one}
        assert len(numbers) == 1  # nobody was answered what somebody else had asked
        assert [said.rpartition(" ")[2] for said, _ in one] == [str(n) for n in range(prompts)]
    return talked.memory


def test_some_clients_at_once(tmp_path: Path) -> None:
    """Each is answered what it asked, in its order, in the log as on the wire."""
    _check(tmp_path, 6, 10)


@pytest.mark.slow
def test_fifty_clients_and_two_thousand_prompts(tmp_path: Path) -> None:
    """And the server holds no more memory at the end than caches explain."""
    memory = _check(tmp_path, 50, 40)
    assert memory[-1] < 1.2 * memory[1]
