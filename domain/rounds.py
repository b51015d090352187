"""Many who ask one thing after the other, and are answered together.

Each is a generator that yields a question and is sent the answer. All are asked for their next
question before any is answered, so that hundreds of them put as many questions to a store as the
one that asks most, which is what counts where each is a round trip.
"""

from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

from domain.recorded import Look, Recorded

Q = TypeVar("Q")
A = TypeVar("A")
T = TypeVar("T")

Asking = Generator[Q, A, T]
"""Questions, one after the other; and what came of them."""

Looking = Generator[Look, Recorded | None, T]
"""The same of looks, as :meth:`domain.log.Log.newest_of` answers them."""


def together(
    asking: Sequence[Asking[Q, A, T]], answered: Callable[[Sequence[Q]], Sequence[A]]
) -> list[T]:
    """What comes of each; nothing is asked twice.

    Args:
        asking: who ask; questions are compared as keys of a dict are.
        answered: answers questions, of which no two are the same, in their order.

    Raises:
        Whatever one of them raises.
    """
    answers: dict[Q, A] = {}
    told: dict[int, T] = {}
    waiting: dict[int, Q] = {}

    def go_on(number: int, answer: A | None) -> None:
        """Up to the next question that nobody has had yet."""
        one = asking[number]
        try:
            # a generator that begins is sent nothing
            question = one.send(answer)  # type: ignore[arg-type]
            while question in answers:
                question = one.send(answers[question])
        except StopIteration as end:
            told[number] = end.value
            waiting.pop(number, None)
        else:
            waiting[number] = question

    for number in range(len(asking)):
        go_on(number, None)
    while waiting:
        new = list(dict.fromkeys(waiting.values()))
        answers.update(zip(new, answered(new), strict=True))
        for number, question in list(waiting.items()):
            go_on(number, answers[question])
    return [told[number] for number in range(len(asking))]
