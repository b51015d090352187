"""Patience: what is asked again, after how long, and when it is enough."""

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.minds.mind import (
    Listener,
    Mind,
    MindFailed,
    MindUnavailable,
    Reply,
    Request,
)
from commands.minds.retry import Patient
from domain.protocol.prompts import Dialect

QUESTION = Request("s", (), "p", 100, None, 7, 10.0, 1)


class Time:
    """A clock that only moves when somebody sleeps or works."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.pauses: list[float] = []

    def __call__(self) -> float:
        """Now, in seconds."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time pass at once."""
        self.pauses.append(seconds)
        self.now += seconds


class Moody:
    """A mind that fails as it is told, then answers; each attempt takes a second."""

    name = "moody"
    dialect: Dialect = "full"

    def __init__(self, time: Time, moods: Iterable[Exception | Reply]) -> None:
        self.time, self.moods, self.asked = time, list(moods), 0

    def reply(self, request: Request, listener: Listener | None = None) -> Reply:
        """Do what comes next."""
        assert request == QUESTION
        mood = self.moods[self.asked]
        self.asked += 1
        self.time.now += 1
        if isinstance(mood, Exception):
            raise mood
        if listener:
            listener(mood.text)
        return mood


def passing(partial: str = "", retry_after: float | None = None) -> MindFailed:
    """A failure that may pass."""
    return MindFailed("It hiccuped.", retryable=True, partial=partial, retry_after=retry_after)


FINAL = MindFailed("It said no.", retryable=False)
GOOD = Reply("fine", "m", latency_ms=1000)


def patient(
    *moods: Exception | Reply, chance: Callable[[], float] = lambda: 0.5, **how: object
) -> tuple[Patient, Moody, Time]:
    """A patient mind with a clock of its own."""
    time = Time()
    mind = Moody(time, moods)
    wrapped = Patient(mind, clock=time, sleep=time.sleep, chance=chance, **how)  # type: ignore[arg-type]
    return wrapped, mind, time


def test_an_answer_at_once_is_passed_on() -> None:
    """Where nothing fails, nothing is added but the latency that was measured."""
    asked, mind, time = patient(GOOD)
    as_mind: Mind = asked
    heard: list[str] = []
    assert as_mind.reply(QUESTION, heard.append) == GOOD
    assert (as_mind.name, as_mind.dialect) == ("moody", "full")
    assert (heard, mind.asked, time.pauses) == (["fine"], 1, [])


def test_failures_that_may_pass_are_asked_again() -> None:
    """Pauses grow, attempts are counted, and latency is that of all tries and pauses."""
    asked, mind, time = patient(passing(), passing(), GOOD)
    reply = asked.reply(QUESTION)
    assert time.pauses == [0.5, 1.0]
    assert (reply.attempts, reply.latency_ms, mind.asked) == (3, 4500, 3)


def test_failures_that_stay_are_not_asked_again() -> None:
    """A final failure comes out after one attempt."""
    asked, mind, time = patient(FINAL, GOOD)
    with pytest.raises(MindFailed, match="It said no") as failed:
        asked.reply(QUESTION)
    assert (mind.asked, time.pauses) == (1, [])
    assert (failed.value.attempts, failed.value.latency_ms) == (1, 1000)
    assert not failed.value.retryable


def test_enough_is_enough() -> None:
    """After the last attempt the failure says how often it was tried."""
    asked, mind, _ = patient(*[passing()] * 5, attempts=4)
    with pytest.raises(MindFailed, match="asked 4 times") as failed:
        asked.reply(QUESTION)
    assert (mind.asked, failed.value.attempts) == (4, 4)


def test_the_longest_partial_is_kept() -> None:
    """What any attempt brought is not lost because the last one brought less."""
    asked, _, _ = patient(passing("a"), passing("the longest"), passing("b"))
    with pytest.raises(MindFailed) as failed:
        asked.reply(QUESTION)
    assert failed.value.partial == "the longest"


def test_a_wait_that_was_asked_for_is_kept() -> None:
    """Retry-After is waited for even where the own pause would be shorter."""
    asked, _, time = patient(passing(retry_after=7.0), GOOD)
    asked.reply(QUESTION)
    assert time.pauses == [7.0]


def test_a_wait_has_an_end() -> None:
    """A provider that asks for an hour gets the longest pause."""
    asked, _, time = patient(passing(retry_after=3600.0), GOOD, longest=20.0)
    asked.reply(QUESTION)
    assert time.pauses == [20.0]


def test_the_budget_of_time_ends_it() -> None:
    """No pause begins that would end after the budget."""
    asked, mind, time = patient(passing(), passing(retry_after=9.0), GOOD, budget=10.0)
    with pytest.raises(MindFailed) as failed:
        asked.reply(QUESTION)
    assert (mind.asked, time.pauses) == (2, [0.5])
    assert failed.value.retry_after == 9.0


def test_what_has_to_be_set_up_is_not_waited_for() -> None:
    """A missing key does not appear by waiting."""
    asked, mind, time = patient(MindUnavailable("Set a key."), GOOD)
    with pytest.raises(MindUnavailable):
        asked.reply(QUESTION)
    assert (mind.asked, time.pauses) == (1, [])


def test_ctrl_c_ends_a_pause() -> None:
    """An interrupt during a pause comes out at once, and nothing more is asked."""
    time = Time()
    mind = Moody(time, [passing(), GOOD])

    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Patient(mind, clock=time, sleep=interrupted).reply(QUESTION)
    assert mind.asked == 1


def test_whoever_watches_is_told_of_each_pause() -> None:
    """The failure and the length of the pause are told before it begins."""
    told: list[tuple[str, float]] = []
    asked, _, _ = patient(
        passing(), GOOD, on_retry=lambda failure, pause: told.append((failure.sentence, pause))
    )
    asked.reply(QUESTION)
    assert told == [("It hiccuped.", 0.5)]


@given(
    chances=st.lists(st.floats(0, 1, exclude_max=True), min_size=8, max_size=8),
    base=st.floats(0.01, 10),
    longest=st.floats(0.01, 60),
    budget=st.floats(0, 100),
)
def test_pauses_stay_in_their_bounds(
    chances: list[float], base: float, longest: float, budget: float
) -> None:
    """Whatever chance says, pauses are below the growing bound and all of it in the budget."""
    drawn = iter(chances)
    asked, _, time = patient(
        *[passing()] * 9,
        chance=lambda: next(drawn),
        attempts=9,
        base=base,
        longest=longest,
        budget=budget,
    )
    with pytest.raises(MindFailed):
        asked.reply(QUESTION)
    for index, pause in enumerate(time.pauses):
        assert 0 <= pause <= min(longest, base * 2**index)
    # the last attempt may run beyond it, a pause may not
    assert time.now - 1000.0 - 1.0 <= max(budget, 0)
