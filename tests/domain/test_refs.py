"""Names of moments, as people write them."""

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import BadName, BadRef
from domain.ids import ExchangeId
from domain.refs import (
    AtArtifact,
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
    ("head~3", Back(3)),
    ("HEAD~2", Back(2)),
    ("head~", Back(1)),
    ("iter:24", AtIteration(24)),
    ("exc_24_001", AtExchange(ExchangeId("exc_24_001"))),
    ("exc_24_001:3", AtExchange(ExchangeId("exc_24_001"), 3)),
    ("exc_1_1000", AtExchange(ExchangeId("exc_1_1000"))),
    ("exc_24", AtExchange(ExchangeId("exc_24"))),
    ("exc_24:3", AtExchange(ExchangeId("exc_24"), 3)),
    ("draft:3", AtDraft(3)),
    ("effort:412", AtArtifact("effort", 412)),
    ("fact:7", AtArtifact("fact", 7)),
    ("summary:7", AtArtifact("summary", 7)),
    ("artifact:412", AtArtifact("artifact", 412)),
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
    "+1",
    "1.5",
    "1e3",
    "~~",
    "~x",
    "@",
    "@ ",
    "1" * 16,
    "main",
    "legend",
    "yesterday-ish",
    "v",
    "\0",
    "\ud800",
]

TIME = "an ISO time (2026-05-01T08:30)"
NEARLY = [
    (" 412", "412"),
    ("412 ", "412"),
    ("v412", "412"),
    ("event 412", "412"),
    ("-1", "~1"),
    ("~-1", "~1"),
    ("~ 2", "~2"),
    ("head^", "~1"),
    ("HEAD^^", "~2"),
    ("head-3", "~3"),
    ("HEAD ~ 3", "~3"),
    ("haed", "head"),
    ("latest", "head"),
    ("now", "head"),
    ("iter24", "iter:24"),
    ("iter 24", "iter:24"),
    ("Iter:24", "iter:24"),
    ("ITER-24", "iter:24"),
    ("iteration 24", "iter:24"),
    ("itre:24", "iter:24"),
    ("iter:", "iter: with a number (iter:3)"),
    ("iter:x", "iter: with a number (iter:3)"),
    ("iter:-1", "iter: with a number (iter:3)"),
    ("draft 3", "draft:3"),
    ("Draft:3", "draft:3"),
    ("drafts#3", "draft:3"),
    ("darft:3", "draft:3"),
    ("#3", "draft:3"),
    ("draft:", "draft: with a number (draft:3)"),
    ("draft:+1", "draft: with a number (draft:3)"),
    ("exc_24_1", "exc_24_001"),
    ("EXC_24_001", "exc_24_001"),
    ("exc-24-1000", "exc_24_1000"),
    ("exc 24", "exc_24"),
    ("exchange 24", "exc_24"),
    ("exc_24_1:2", "exc_24_001:2"),
    ("exc_24_001:", "exc_24_001"),
    ("exc_24_001:x", "exc_24_001"),
    ("exc__001", "exc_ with the numbers of an exchange (exc_24_000)"),
    ("exc_24_1_2", "exc_ with the numbers of an exchange (exc_24_000)"),
    ("@two words", "@two-words"),
    ("@a\n", "@a"),
    ("2026-13-01", TIME),
    ("2026-05-32", TIME),
    ("25:00", TIME),
    ("1/5/2026", TIME),
    ("yesterday", TIME),
]


SCRAPS = (
    *("iter", "draft", "exc", "head", "event", "HEAD", "now", "dratf", "24", "1", "003", "٣"),
    *("_", ":", " ", "-", "~", "^", "#", "@", "x", "\t"),
)
"""What refs, and what is nearly one, are made of."""


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


@pytest.mark.parametrize(("text", "meant"), NEARLY)
def test_a_ref_that_was_nearly_written(text: str, meant: str) -> None:
    """Refused, and the form that comes nearest is named; it is never taken for granted."""
    sentence = f"{text!r} names no moment: did you mean {meant}?"
    for written in (text, f"tides@{text}"):
        with pytest.raises(BadRef) as refusal:
            parse_moment(written)
        assert refusal.value.sentence == sentence


def test_a_label_of_another_session() -> None:
    """Two @: the first one ends the session's name."""
    assert parse_moment("tides@@lunch") == Moment(parse_moment("tides@1").session, AtLabel("lunch"))


def test_a_session_that_can_not_be_is_refused_by_its_name() -> None:
    """The sentence is about the part that is wrong."""
    for text in ("../etc@1", "Payments@head", "a b@~2"):
        with pytest.raises(BadName):
            parse_moment(text)


@given(st.text(max_size=30))
@settings(deadline=None, max_examples=300)
def test_anything_else_is_refused(text: str) -> None:
    """No text ends in any other error."""
    for read in (parse_ref, parse_moment):
        try:
            read(text)
        except (BadRef, BadName):
            continue


@given(st.lists(st.sampled_from(SCRAPS), max_size=6).map("".join))
@settings(deadline=None, max_examples=500)
def test_what_is_proposed_can_be_read(text: str) -> None:
    """Whoever follows a proposal is not refused again."""
    try:
        parse_ref(text)
    except BadRef as refusal:
        meant = re.search(r"did you mean (\S+)\?$", refusal.sentence)
        if meant:
            parse_ref(meant[1])


@given(st.datetimes(timezones=st.none() | st.just(UTC)))
@settings(deadline=None, max_examples=100)
def test_every_iso_time_is_a_ref(time: datetime) -> None:
    """To the microsecond, with an offset or without."""
    assert parse_ref(time.isoformat()) == AtTime(time)
