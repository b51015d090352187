"""Names of moments, as people write them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import BadName, BadRef
from domain.ids import ExchangeId
from domain.refs import (
    AtDraft,
    AtExchange,
    AtHead,
    AtIteration,
    AtLabel,
    AtTime,
    AtVersion,
    Back,
    Moment,
    Ref,
    parse_moment,
    parse_ref,
)

READ: list[tuple[str, Ref]] = [
    ("head", AtHead()),
    ("HEAD", AtHead()),
    ("412", AtVersion(412)),
    ("0", AtVersion(0)),
    ("007", AtVersion(7)),
    ("~", Back(1)),
    ("~2", Back(2)),
    ("~0", Back(0)),
    ("iter:24", AtIteration(24)),
    ("exc_24_001", AtExchange(ExchangeId("exc_24_001"))),
    ("exc_24_001:3", AtExchange(ExchangeId("exc_24_001"), 3)),
    ("exc_1_1000", AtExchange(ExchangeId("exc_1_1000"))),
    ("draft:3", AtDraft(3)),
    ("@lunch", AtLabel("lunch")),
    ("@v1.0_früh-2", AtLabel("v1.0_früh-2")),
    ("2026-05-01T08:30", AtTime(datetime(2026, 5, 1, 8, 30))),  # noqa: DTZ001 — local time
    ("2026-05-01", AtTime(datetime(2026, 5, 1))),  # noqa: DTZ001
    ("2026-05-01 08:30:01.25", AtTime(datetime(2026, 5, 1, 8, 30, 1, 250_000))),  # noqa: DTZ001
    ("2026-05-01T08:30Z", AtTime(datetime(2026, 5, 1, 8, 30, tzinfo=UTC))),
    (
        "2026-05-01T08:30+11:00",
        AtTime(datetime(2026, 5, 1, 8, 30, tzinfo=timezone(timedelta(hours=11)))),
    ),
]

UNREAD = [
    "",
    " ",
    " 412",
    "412 ",
    "-1",
    "+1",
    "1.5",
    "1e3",
    "~~",
    "~-1",
    "~x",
    "iter:",
    "iter:x",
    "iter:-1",
    "iter24",
    "draft:",
    "draft:+1",
    "exc_24",
    "exc_24_1",
    "exc_24_001:",
    "exc__001",
    "exc_24_001:x",
    "@",
    "@two words",
    "@a\n",
    "1" * 16,
    "2026-13-01",
    "2026-05-32",
    "25:00",
    "yesterday",
    "latest",
    "\0",
    "\ud800",
]


@pytest.mark.parametrize(("text", "ref"), READ)
def test_a_ref_that_is_read(text: str, ref: Ref) -> None:
    """With and without a session before it."""
    assert parse_ref(text) == ref
    assert parse_moment(text) == Moment(None, ref)
    assert parse_moment(f"payments/what-if@{text}") == Moment(
        parse_moment("payments/what-if@1").session, ref
    )


@pytest.mark.parametrize("text", UNREAD)
def test_a_ref_that_is_not_read(text: str) -> None:
    """Refused with the forms that there are."""
    with pytest.raises(BadRef, match="names no moment: use a version"):
        parse_ref(text)
    with pytest.raises(BadRef):
        parse_moment(text)


def test_a_label_of_another_session() -> None:
    """Two @: the first one ends the session's name."""
    assert parse_moment("tides@@lunch") == Moment(parse_moment("tides@1").session, AtLabel("lunch"))


def test_a_session_that_can_not_be_is_refused_by_its_name() -> None:
    """The sentence is about the part that is wrong."""
    for text in ("../etc@1", "Payments@head", "a b@~2"):
        with pytest.raises(BadName):
            parse_moment(text)


@given(st.text(max_size=30))
@settings(deadline=None, derandomize=True, max_examples=300)
def test_anything_else_is_refused(text: str) -> None:
    """No text ends in any other error."""
    for read in (parse_ref, parse_moment):
        try:
            read(text)
        except (BadRef, BadName):
            continue


@given(st.datetimes(timezones=st.none() | st.just(UTC)))
@settings(deadline=None, derandomize=True, max_examples=100)
def test_every_iso_time_is_a_ref(time: datetime) -> None:
    """To the microsecond, with an offset or without."""
    assert parse_ref(time.isoformat()) == AtTime(time)
