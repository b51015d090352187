"""When something is, as people say it on a Tuesday, 10 March 2026, at 14:05."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.detection.dates import find
from tests.detection.score import NOW


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("tomorrow", "2026-03-11"),
        ("tomorrow at 3", "2026-03-11T15:00"),
        ("tomorrow at 9", "2026-03-11T09:00"),
        ("tomorrow evening at 9", "2026-03-11T21:00"),
        ("the day after tomorrow", "2026-03-12"),
        ("tonight at 7", "2026-03-10T19:00"),
        ("on Friday", "2026-03-13"),
        ("on Tuesday", "2026-03-17"),
        ("next Friday", "2026-03-20"),
        ("on 12 May", "2026-05-12"),
        ("on May 12th, 8:15 AM", "2026-05-12T08:15"),
        ("on the 4th of May 2027", "2027-05-04"),
        ("12 February", "2027-02-12"),
        ("on the 20th", "2026-03-20"),
        ("by the 2nd", "2026-04-02"),
        ("2026-04-01 at 23:30", "2026-04-01T23:30"),
        ("Monday, 23 March, 10 a.m.", "2026-03-23T10:00"),
        ("in 20 minutes", "2026-03-10T14:25"),
        ("in half an hour", "2026-03-10T14:35"),
        ("in two weeks", "2026-03-24"),
        ("in a month", "2026-04-10"),
        ("before the end of the month", "2026-03-31"),
        ("on Saturday at noon", "2026-03-14T12:00"),
        ("on the 26th, half past seven", "2026-03-26T07:30"),
        ("quarter to nine tomorrow", "2026-03-11T08:45"),
        ("at 6pm", "2026-03-10T18:00"),
        ("at 1 pm", "2026-03-11T13:00"),
        ("morgen um 15 Uhr", "2026-03-11T15:00"),
        ("übermorgen", "2026-03-12"),
        ("am 30. April", "2026-04-30"),
        ("am 12.05.2026", "2026-05-12"),
        ("nächsten Freitag", "2026-03-20"),
        ("mañana a las 3", "2026-03-11T15:00"),
        ("el viernes", "2026-03-13"),
        ("el 12 de mayo", "2026-05-12"),
    ],
)
def test_a_date_is_read_as_people_mean_it(text: str, when: str) -> None:
    """The next such day; hours from 1 to 6 are in the afternoon."""
    found = find(text, NOW)
    assert found is not None
    assert found.when == when


def test_a_week_that_is_named_lasts_until_its_end() -> None:
    """It begins on Monday."""
    found = find("next week", NOW)
    assert found is not None
    assert (found.when, found.expires) == ("2026-03-16", "2026-03-22")


@pytest.mark.parametrize(
    "text",
    [
        *("yesterday at 3", "two weeks ago", "every Monday", "last Friday", "nothing of the kind"),
        *("31 February", "version 3.11", "at 50%", "Guten Morgen", "you may go", "2026-99-99"),
    ],
)
def test_what_names_no_day_to_come_is_no_date(text: str) -> None:
    """The past, what repeats, days that there are not, and numbers."""
    assert find(text, NOW) is None


def test_what_is_left_says_what_happens() -> None:
    """The words that said when are taken out."""
    found = find("call mom tomorrow at 3", NOW)
    assert found is not None
    assert found.rest == "call mom"


def test_a_clock_that_nobody_can_read_gives_no_date() -> None:
    """The message is looked at all the same."""
    assert find("tomorrow", "soon") is None


def test_the_offset_of_the_users_clock_does_not_matter() -> None:
    """Dates are in the user's local time."""
    found = find("tomorrow", f"{NOW}:00+09:00")
    assert found is not None
    assert found.when == "2026-03-11"


@given(st.text(max_size=80), st.datetimes())
def test_any_text_at_any_time_gives_a_date_or_none(text: str, now: object) -> None:
    """And never an error."""
    find(f"{text} next Friday in 999 months at 99:99 {text}", str(now).replace(" ", "T"))
