"""What waits is bounded, whoever it waits for."""

import asyncio

from cli.rpc.backlog import Backlog


def test_so_many_may_wait_and_no_more() -> None:
    """In number and in bytes; one of any size is taken where nothing else waits."""
    few = Backlog[str](3, 10)
    assert [few.put(text, len(text)) for text in ("long" * 5, "a")] == [True, False]
    few.clear()
    assert (len(few), few.size) == (0, 0)
    assert [few.put(text, 1) for text in "abcd"] == [True, True, True, False]
    few.add("e", 1)
    assert (len(few), few.size) == (4, 4)


def test_there_is_room_again_once_half_of_it_is_taken() -> None:
    """Whoever waits for room goes on then, and all comes in its order."""

    async def happen() -> None:
        few = Backlog[str](4)
        for text in "abcd":
            few.put(text)
        waiting = asyncio.create_task(few.drained())
        assert [await few.take(), few.has_room, waiting.done()] == ["a", False, False]
        assert [await few.take(), few.has_room] == ["b", True]
        await asyncio.wait_for(waiting, 5)
        few.end()
        assert [text async for text in few.all()] == ["c", "d"]

    asyncio.run(happen())


def test_at_its_end_nobody_waits() -> None:
    """Neither for what comes next nor for room."""

    async def happen() -> None:
        few = Backlog[str](1)
        taking = asyncio.create_task(few.take())
        await asyncio.sleep(0)
        few.end()
        assert await asyncio.wait_for(taking, 5) is None
        few.add("a")
        few.add("b")
        few.end()
        await asyncio.wait_for(few.drained(), 5)

    asyncio.run(happen())
