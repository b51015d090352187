"""The names that people type: sessions, actors, texts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.actors import Actor
from domain.errors import BadName, BadText
from domain.ids import exchange_id, session_id
from domain.texts import LONGEST, checked_text


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "payments",
        "payments/what-if",
        "2026-05-01",
        "a.b_c-d",
        "a/b/c/d",
        "x" * 80,
        "0",
        "v1.2",
    ],
)
def test_a_good_session_name(name: str) -> None:
    """It is kept to the letter."""
    assert session_id(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "x" * 81,
        "Payments",
        "two words",
        "..",
        ".",
        "../etc/passwd",
        "a/../b",
        "a..b",
        "/etc",
        "a/",
        "a//b",
        "./a",
        "a/.",
        "a/.hidden",
        "-rf",
        "a-",
        "_a",
        "a\\b",
        "c:",
        "a@b",
        "a:b",
        "~",
        "a\n",
        "a\0b",
        "ä",
        "ａ",
        "аdmin",  # a Cyrillic а
        "é",
        "٣",
        "\ud83d",
        "a\u202eb",
        "a*",
        "a'b",
        'a"b',
        "%2e%2e",
    ],
)
def test_a_bad_session_name(name: str) -> None:
    """No way out of a directory, nothing that looks like another name, nothing a ref could be."""
    with pytest.raises(BadName) as refusal:
        session_id(name)
    assert "at most 80 characters" in refusal.value.sentence


@given(st.text(max_size=90))
@settings(deadline=None, max_examples=300)
def test_a_session_name_is_plain_ascii_or_refused(name: str) -> None:
    """Whatever is taken can stand in a path, a URL and a ref."""
    try:
        taken = session_id(name)
    except BadName:
        return
    assert taken == name
    assert taken.isascii()
    assert ".." not in taken
    assert not set(taken) - set("abcdefghijklmnopqrstuvwxyz0123456789._-/")


def test_exchange_ids_are_sorted_by_hand_and_by_eye() -> None:
    """The iteration that saw the message first, and a counter of three digits."""
    assert exchange_id(24, 1) == "exc_24_001"
    assert exchange_id(1, 1000) == "exc_1_1000"


@pytest.mark.parametrize("text", ["user:ann", "mind:script:a:b", "system:logosphere", "agent:x"])
def test_an_actor_reads_back(text: str) -> None:
    """Only the first colon divides."""
    assert str(Actor.parse(text)) == text


@pytest.mark.parametrize("text", ["", "ann", "user:", "user", "god:zeus", ":ann", "User:ann"])
def test_an_actor_that_nobody_is(text: str) -> None:
    """Four kinds of actors, each with a name."""
    with pytest.raises(ValueError, match="names no actor"):
        Actor.parse(text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The status is empty"),
        ("\u2028 \t", "The status is empty"),
        ("x" * (LONGEST + 1), "The status has 200,001 characters, at most 200,000 are taken"),
        ("\0", "holds NUL characters"),
        ("a\ud800", "is not valid UTF-8"),
        ("\udfffb", "is not valid UTF-8"),
    ],
)
def test_a_text_that_is_none(text: str, sentence: str) -> None:
    """Each reason has its sentence, which names what was being sent."""
    with pytest.raises(BadText, match=sentence):
        checked_text(text, "status")


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=50))
@settings(deadline=None, max_examples=200)
def test_any_other_text_is_taken(text: str) -> None:
    """Without its blank ends, and otherwise as it was written."""
    try:
        assert checked_text(text) == text.strip()
    except BadText:
        assert not text.strip()
