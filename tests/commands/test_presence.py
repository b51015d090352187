"""What the user says about their attention."""

from datetime import datetime, timedelta

import pytest

from commands.presence import STATUS_LENGTH, SetSignal
from domain.errors import BadText
from tests.domain.happened import invoked, present
from tests.spec import given

SATURDAY = datetime(2026, 5, 2, 10, 30)  # noqa: DTZ001 — what the user's own clock shows


def test_presence_and_status_are_set() -> None:
    """With the weekday and time of the user's own clock."""
    given().when(SetSignal(presence="reviewing", status="on the train", time=SATURDAY)).then(
        present("reviewing", "on the train")
    )


@pytest.mark.parametrize(
    ("days", "name"), list(enumerate(("Sat", "Sun", "Mon", "Tue", "Wed", "Thu", "Fri")))
)
def test_weekdays_have_english_names(days: int, name: str) -> None:
    """Whatever the locale of the machine."""
    state = (
        given()
        .when(SetSignal(time=SATURDAY + timedelta(days=days)))
        .then(present("absent").model_copy(update={"time": f"{name} 10:30"}))
    )
    assert state.attention.signals[0].time == f"{name} 10:30"


def test_what_is_not_given_stays() -> None:
    """A status alone leaves the presence, a presence alone the status."""
    before = given(present("reviewing", "on the train"))
    before.when(SetSignal(status="at home", time=SATURDAY)).then(present("reviewing", "at home"))
    before.when(SetSignal(presence="engaged", time=SATURDAY)).then(
        present("engaged", "on the train")
    )
    before.when(SetSignal(presence="absent", status="", time=SATURDAY)).then(present("absent"))


def test_nobody_is_there_at_first() -> None:
    """Until the user says otherwise they are absent."""
    session = given().session
    assert (session.attention.presence, session.attention.status) == ("absent", "")


def test_a_signal_belongs_to_the_iteration_that_sees_it_first() -> None:
    """A later one of the same iteration replaces it there; three are kept, newest first."""
    state = (
        given(
            present("engaged", "a", 1),
            invoked(1),
            present("engaged", "b", 2),
            invoked(2),
            present("engaged", "c", 3),
            present("engaged", "d", 3),
            invoked(3),
        )
        .when(SetSignal(status="e", time=SATURDAY))
        .then(present("engaged", "e", 4))
    )
    assert [s.status for s in state.attention.signals] == ["e", "d", "b"]


def test_a_status_is_one_line() -> None:
    """Blank space of any kind becomes one space."""
    given().when(SetSignal(status="  on\n the\ttrain ", time=SATURDAY)).then(
        present("absent", "on the train")
    )


def test_a_long_status_is_refused() -> None:
    """The limit is said."""
    fits = "x" * STATUS_LENGTH
    given().when(SetSignal(status=fits, time=SATURDAY)).then(present("absent", fits))
    given().when(SetSignal(status=fits + "x", time=SATURDAY)).refused(BadText, "at most 200")


@pytest.mark.parametrize("status", ["a\0b", "half a pair: \ud83d"])
def test_a_binary_status_is_refused(status: str) -> None:
    """It will be shown to the mind as a message is, so the same rules hold."""
    given().when(SetSignal(status=status, time=SATURDAY)).refused(BadText)
