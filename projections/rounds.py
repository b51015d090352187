"""Many who ask the log one thing after the other, and are answered together.

Each is a generator that yields a :class:`domain.recorded.Look` and is sent what it finds. All are
asked for their next look before any is answered, so that hundreds of them put as many questions
to the log as the one that asks most, which is what counts where each is a round trip.
"""

from collections.abc import Generator, Sequence
from typing import TypeVar

from domain.log import Log
from domain.recorded import Look, Recorded

T = TypeVar("T")

Asking = Generator[Look, Recorded | None, T]
"""Looks, one after the other; and what came of them."""


def together(log: Log, asking: Sequence[Asking[T]]) -> list[T]:
    """What comes of each; nothing is looked up twice.

    Raises:
        Whatever one of them raises.
    """
    answers: dict[Look, Recorded | None] = {}
    told: dict[int, T] = {}
    waiting: dict[int, Look | None] = dict.fromkeys(range(len(asking)))
    while waiting:
        for number, look in list(waiting.items()):
            try:
                waiting[number] = _next(asking[number], look, answers)
            except StopIteration as end:
                told[number] = end.value
                del waiting[number]
        new = list(dict.fromkeys(look for look in waiting.values() if look is not None))
        new = [look for look in new if look not in answers]
        answers.update(zip(new, log.newest_of(new), strict=True))
    return [told[number] for number in range(len(asking))]


def _next(asking: Asking[T], look: Look | None, answers: dict[Look, Recorded | None]) -> Look:
    """The next look that nobody has had yet."""
    look = asking.send(answers[look] if look is not None else None)
    while look in answers:
        look = asking.send(answers[look])
    return look
