"""Methods made of functions."""

import asyncio
import threading
from pathlib import Path
from typing import Any, cast

import pytest

from cli.rpc.functions import in_store
from cli.rpc.method import Nothing
from cli.rpc.service import Service
from tests.cli.rpc.serving import Answer, Someone
from tests.cli.rpc.spoken import made, opened


class Counting:
    """A service that counts what is done in its threads."""

    def __init__(self, service: Service) -> None:
        self.service, self.asked = service, 0

    async def aside(self, *work: Any) -> Any:
        """Do something in a thread."""
        self.asked += 1
        return await self.service.aside(*work)


async def as_far_as_it_goes() -> None:
    """Let everything happen that waits for nothing."""
    for _ in range(9):
        await asyncio.sleep(0)


def test_of_calls_one_by_one_the_next_waits_even_for_one_whose_client_is_gone(
    tmp_path: Path,
) -> None:
    """A thread can't be called back: what must not happen twice at once does not."""
    end = threading.Event()

    def slow(_: Any, asked: Nothing) -> Answer:
        end.wait(10)
        return Answer(answer="done")

    async def talk() -> list[Any]:
        async with opened(made(tmp_path)) as (service, _):
            counting = Counting(service)
            method = in_store(cast("Service", counting), slow, one_by_one=True)
            first = asyncio.create_task(cast("Any", method.run(Someone(), Nothing())))
            await as_far_as_it_goes()
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            second = asyncio.create_task(cast("Any", method.run(Someone(), Nothing())))
            await as_far_as_it_goes()
            meanwhile = counting.asked
            end.set()
            return [meanwhile, await second, counting.asked]

    assert asyncio.run(talk()) == [1, Answer(answer="done"), 2]
