"""Conditions on facts: what they mean, and what they can never do."""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import strategies as st

from domain.config import Config
from domain.errors import BadExpression
from projections.evaluate import Like
from projections.facts import FACTS
from projections.predicate import DEEPEST, FUNCTIONS, LONGEST, predicate
from projections.spelling import as_python
from tests.often import often

NOW: dict[str, Any] = {
    **dict.fromkeys(FACTS),
    "draft": "The Moon pulls the near water more",
    "drafts": ("The Moon pulls", "+1", "The Moon pulls the near water more"),
    "draft_count": 3,
    "answer": None,
    "exchanges": 0,
    "cost_usd": 0.25,
    "iteration": 7,
    "running": True,
    "presence": "engaged",
    "status": "it's 100% so_far",
    "thoughts": ("compare with Fundy", "what of the MOON?"),
    "config": Config().model_dump(),
}


def value(text: str, facts: Mapping[str, Any] = NOW) -> Any:
    """What a condition comes to."""
    return predicate(text, FACTS, Config.model_fields).value(facts)


HOLD = [
    "draft_count == 3",
    "draft_count >= 3 and draft_count < 4 and not draft_count != 3",
    "2 < draft_count <= 3 < iteration",
    "'Moon' in draft",
    "'Sun' not in draft",
    "draft == drafts[-1] == drafts[2]",
    "drafts[0] != draft",
    "presence in ('engaged', 'reviewing')",
    "presence in ['engaged']",
    "'+1' in drafts",
    "running",
    "running is True",
    "answer is None",
    "draft is not None",
    "not answer",
    "draft",
    "drafts",
    "len(drafts) == draft_count",
    "len(draft) > 10",
    "len(config) > 5",
    "min(iteration, draft_count) == 3",
    "max(len(d) for d in drafts) == len(draft)",
    "sum(1 for d in drafts if len(d) <= 16) == 2",
    "sum('Moon' in d for d in drafts) == 2",
    "any('moon' in lower(t) for t in thoughts)",
    "all('moon' in lower(t) for t in thoughts) is False",
    "len([t for t in thoughts if 'Fundy' in t]) == 1",
    "any(d == t for d in drafts for t in drafts if d != '+1')",
    "[len(d) for d in drafts if d == '+1'] == [2]",
    "cost_usd * 4 == 1 and cost_usd / 2 == 0.125 and iteration % 4 == 3",
    "iteration + draft_count - 1 == 9",
    "-draft_count == -3 and +draft_count == 3",
    "config.token_limit == 4000",
    "config['token_limit'] == 4000",
    "config.budget_usd is None",
    "draft[0] == 'T'",
    "(answer or draft) == draft",
    "min(drafts) == '+1'",
    "'a' < 'b' <= 'b'",
    "exchanges == False and exchanges + True == 1",
    "draft_count\n>=\n3",
    "  draft_count>=3  ",
    "not (draft_count > 3) and (draft_count > 2 or 1 / 0)",
    # what is not there
    "(answer == 'x') is False",
    "answer != 'x'",
    "not answer > 3 and not answer < 3 and not answer <= 'x'",
    "not 'x' in answer",
    "'x' not in answer",
    "answer not in draft",
    "len(answer) is None and lower(answer) is None",
    "answer + 1 is None and -answer is None and 1 * answer is None",
    "iteration / exchanges is None and iteration % exchanges is None",
    "drafts[3] is None and drafts[-4] is None and answer[0] is None and draft[answer] is None",
    "config['nothing'] is None",
    "max(d for d in drafts if d == 'x') is None and sum(d for d in answer) == 0",
    "max(answer, 2) == 2 and sum((answer, 1)) == 1",
    "not any(answer) and all(answer)",
]

SQL = [
    "draft_count = 3",
    "draft_count <> 4",
    "draft_count = 3 AND exchanges = 0 OR FALSE",
    "NOT draft_count = 4",
    "answer IS NULL",
    "draft IS NOT NULL",
    "answer is null and true",
    "running = TRUE",
    "draft LIKE '%Moon%'",
    "draft like 'The%'",
    "draft LIKE '%more'",
    "draft NOT LIKE '%moon%'",
    "draft ILIKE '%moon%'",
    "NOT draft LIKE '%Sun%'",
    "NOT answer LIKE '%'",
    "answer NOT LIKE '%'",
    "draft LIKE 'The M__n%'",
    "status LIKE '%100% so_far'",
    "presence IN ('engaged')",
    "presence NOT IN ('gag')",
    "presence IN ('engaged', 'absent')",
    "iteration IN (7)",
    "LENGTH(draft) = length(draft) AND LOWER('A') = 'a' AND MAX(1, 2) = 2",
    "ANY(t LIKE '%Fundy' FOR t IN thoughts IF t <> '')",
    'status = "it\'s 100% so_far"',
    "'a = b <> c AND NULL' = 'a = b <> c AND NULL'",
]


@pytest.mark.parametrize("text", HOLD + SQL)
def test_conditions_that_hold(text: str) -> None:
    """In Python's words, and in those of SQL that are as clear."""
    asked = predicate(text, FACTS, Config.model_fields)
    assert asked.holds(NOW)
    assert asked.text == text


@pytest.mark.parametrize("text", HOLD + SQL)
def test_conditions_turned_around(text: str) -> None:
    """What holds does not hold when it is turned around."""
    assert value(f"not ({text})") is False


REFUSED = {
    "": "The condition is empty: write one",
    " \n": "The condition is empty",
    "draft_count >": "ends too early",
    "draft_count 3": "can't be read near",
    "draft_count => 3": "can't be read near",
    "(draft": "is each bracket and each quote of it closed?",
    "'draft": "quote",
    "draft_count ! 3": "The condition|'!'",
    "draft_count > 2, 1": "is a list: write one condition",
    "[draft]": "is a list",
    "draft # all": "'# all' can't be part of a condition",
    # names
    "drfat": "There is no fact 'drfat'; the nearest are draft,",
    "Draft": "There is no fact 'Draft'; the nearest are draft,",
    "draft_cont > 2": "the nearest are draft_count",
    "x": "There is no fact 'x'",
    "len": r"len is a function: write len\(…\)",
    "config.modle": "There is no setting 'modle'; the nearest are config.model",
    "t in thoughts": "There is no fact 't'",
    "any(t for t in thoughts) and t": "There is no fact 't'",
    "any(d for draft in drafts)": "'draft' has a meaning: use another name",
    "any(len(d) for len in drafts)": "'len' has a meaning: use another name",
    "any(a for a, b in drafts)": r"'\(a, b\)' can't stand behind for",
    # doors
    "draft.lower()": "only config.KEY is written with a dot",
    "draft.__class__": "only config.KEY is written with a dot",
    "''.join(drafts)": "only config.KEY is written with a dot",
    "config.model.x": "only config.KEY is written with a dot",
    "config.__class__": "There is no setting '__class__'",
    "config.get('model')": "There is no setting 'get'",
    "config.model()": "There is no function 'config.model'",
    "any(t.__class__ for t in thoughts)": "only config.KEY",
    "__import__('os')": "There is no function '__import__': there are len, min",
    "open('x')": "There is no function 'open'",
    "(lambda: 1)()": "There is no function 'lambda: 1'",
    "len(drafts)(1)": r"There is no function 'len\(drafts\)'",
    "like('%')": "LIKE takes a text in quotes",
    "any(c for c LIKE '%x%')": "There is no function 'like'",
    # forms that it does not have
    "2 ** 9": r"'2 \*\* 9' can't be part of a condition: a condition has facts",
    "draft_count // 2": "can't be part of a condition",
    "draft_count << 2": "can't be part",
    "~draft_count": "can't be part",
    "draft_count | 2": "can't be part",
    "draft @ drafts": "can't be part",
    "1 if draft else 2": "can't be part",
    "lambda: 1": "can't be part",
    "{1: 2}": "can't be part",
    "{1}": "can't be part",
    "{d for d in drafts}": "can't be part",
    "{d: d for d in drafts}": "can't be part",
    "(draft := 1)": "can't be part",
    "drafts[:1]": "can't be part",
    "f'{draft}'": "can't be part",
    "f'draft'": "can't be part",
    "b'x' in draft": "can't be part",
    "1j > 0": "can't be part",
    "...": "can't be part",
    "any((yield) for d in drafts)": "can't be part",
    "any(await d for d in drafts)": "can't be part",
    "any(d async for d in drafts)": "use a name|can't",
    "max(*drafts)": "can't be part",
    "len()": "should have one value",
    "len(draft, drafts)": "should have one value",
    "min()": "should have one value",
    "max(drafts, **config)": "should have one value",
    "draft is 'x'": "write == instead",
    "draft_count is 1": "write == instead",
    "9" * 19: "too large",
    "-1e30 < 1": "too large",
    # of SQL
    "'it''s' = status": "stand side by side",
    "draft LIKE drafts": "LIKE takes a text in quotes",
    "draft LIKE": "LIKE takes a text in quotes",
    "draft LIKE b'%x%'": "LIKE takes a text in quotes",
    "draft LIKE f'{x.y}'": "LIKE takes a text in quotes|can't be part",
    "draft_count BETWEEN 2 AND 3": "write 2 <= draft_count <= 4",
    "COUNT(drafts) > 2": "write draft_count",
    "draft || 'x'": "can't be",
    "draft; drop table events": "can't be read near",
    # size
    "1 + " * DEEPEST + "1": "nested too deeply",
    "not " * DEEPEST + "draft": "nested too deeply",
    "-" * 990 + "1": "The condition",
    "(" * 400 + "1" + ")" * 400: "The condition|bracket",
    "{" + "-" * 900 + "1}": "The condition",
    "draft or " * 200 + "draft": "at most 1,000 are taken",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_condition(text: str) -> None:
    """Refused in a sentence before anything is looked at."""
    with pytest.raises(BadExpression, match=REFUSED[text]) as refusal:
        predicate(text, FACTS, Config.model_fields)
    assert refusal.value.sentence[-1] in ".?"
    assert len(refusal.value.sentence) < 400


TOGETHER = {
    "draft + 'x' == ''": r"\+ takes numbers, not a text",
    "'x' * 3": r"\* takes numbers, not a text",
    "'%s' % draft": "% takes numbers, not a text",
    "drafts + drafts": r"\+ takes numbers, not a list",
    "-draft": "- takes numbers, not a text",
    "draft > 3": "> can't compare a text with a number",
    "3 <= drafts": "<= can't compare a number with a list",
    "config < config": "can't compare a list with a list",
    "3 in draft": "in can't look for a number in a text",
    "draft in 3": "in can't look for a text in a number",
    "3 LIKE '%'": "LIKE takes a text, not a number",
    "draft LIKE '%Moon%' LIKE '%'": "LIKE takes a text, not a list",
    "len(3)": "len goes through a list, not a number",
    "lower(drafts)": "lower takes a text, not a list",
    "any(draft)": "any goes through a list, not a text",
    "any(c for c in draft)": "for goes through a list, not a text",
    "sum(drafts)": "sum takes numbers, all of one kind",
    "max(draft, 3)": "max takes numbers or texts, all of one kind",
    "min(config, 3)": "min takes numbers or texts",
    "draft['x']": "A text has no element 'x'",
    "config[0]": "A list has no element 0",
    "draft_count[0]": "A number has no element 0",
    "999999999999999999" + " * 999999999999999999" * 17: "a number that is too large",
}


@pytest.mark.parametrize("text", TOGETHER)
def test_what_does_not_go_together(text: str) -> None:
    """It shows when the facts are there; the sentence names both kinds."""
    asked = predicate(text, FACTS, Config.model_fields)
    with pytest.raises(BadExpression, match=TOGETHER[text]):
        asked.holds(NOW)


def test_no_condition_takes_for_ever() -> None:
    """Neither many loops in each other nor long texts and lists in many of them."""
    thoughts = tuple(f"{n:04d}" for n in range(1000))
    many = {**NOW, "thoughts": thoughts, "draft": "a" * 200_000, "drafts": thoughts[:6]}
    for text in (
        "sum(1 for a in thoughts for b in thoughts for c in thoughts)",
        "len([[b for b in thoughts] for a in thoughts])",
        "sum(len(lower(draft)) for a in thoughts)",
        "sum(draft == draft for a in thoughts)",
        "sum('b' in draft for a in thoughts)",
        "sum(draft LIKE '%b%' for a in thoughts)",
        "sum('b' in thoughts for a in thoughts for b in drafts)",
        "max(max(thoughts) for a in thoughts for b in drafts)",
    ):
        with pytest.raises(BadExpression, match="takes too long at one moment"):
            value(text, many)
    assert value("sum(1 for a in thoughts for b in drafts)", many) == 6000
    assert value("sum('b' in draft for a in drafts)", many) == 0


def test_only_the_facts_that_are_named_are_looked_up() -> None:
    """And of several only as many as decide."""
    asked: list[str] = []

    class Watched(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:
            asked.append(name)
            return super().__getitem__(name)

    watched = Watched(NOW)
    assert value("draft_count > 2 or drafts", watched) is True
    assert value("exchanges and drafts", watched) == 0
    assert value("exchanges > 2 > draft_count", watched) is False
    assert asked == ["draft_count", "exchanges", "exchanges"]


# patterns of SQL

pieces = st.sampled_from(("a", "b", "%", "_", ".", "\n", "ab", "Ä", "*"))


@often(
    150,
    500,
    st.lists(pieces, max_size=8).map("".join),
    st.lists(pieces, max_size=8).map("".join),
)
def test_a_pattern_fits_what_its_expression_matches(pattern: str, text: str) -> None:
    """``%`` is any text and ``_`` any character, line breaks included; the rest is itself."""
    expression = "".join({"%": ".*", "_": "."}.get(c, re.escape(c)) for c in pattern)
    for flags, like in ((re.NOFLAG, Like(pattern)), (re.IGNORECASE, Like(pattern, True))):
        assert like.fits(text) == bool(re.fullmatch(expression, text, flags | re.DOTALL))


def test_no_pattern_is_slow() -> None:
    """What an expression would try in every way is looked for once."""
    assert not Like("%a" * 100 + "%b").fits("a" * 10_000)
    assert Like("%a" * 100 + "%").fits("a" * 10_000)


# spelling


@often(
    80,
    200,
    st.text(st.characters(exclude_characters="\\'\r\0", exclude_categories=("Cs",))),
)
def test_texts_are_not_touched(text: str) -> None:
    """Whatever stands between quotes."""
    if "\n" not in text and len(text) < 900:
        assert value(f"'{text}'") == text
        assert value(f"'{text}' LIKE '%'") is True


def test_the_words_of_sql_are_told_in_those_of_python() -> None:
    """Word by word, in any letter case."""
    assert as_python("a = 1 And B <> 'x = y' oR c Is Not nuLL") == (
        "( a == 1 and B != 'x = y' or c is not None )"
    )
    assert as_python("a NOT LIKE '%x' AND b IN ('y')") == (
        "( a not in like( '%x' ) and b in ( 'y' , ) )"
    )
    assert as_python("b in ('y')") == "( b in ( 'y' ) )"


# anything at all

numbers = st.integers(-9, 9).map(str) | st.sampled_from(("draft_count", "exchanges", "iteration"))
sums = st.recursive(
    numbers,
    lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner),
    max_leaves=6,
)
truths = st.recursive(
    st.builds("({} {} {})".format, sums, st.sampled_from(("<", "<=", "==", "!=", ">")), sums),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from(("and", "or")), inner)
        | st.builds("(not {})".format, inner)
    ),
    max_leaves=5,
)


@often(100, 300, truths)
def test_python_agrees(text: str) -> None:
    """Where both have a meaning, it is the same."""
    if len(text) <= LONGEST:
        assert value(text) == eval(text, {}, dict(NOW))  # noqa: S307 — built from numbers above


words = st.sampled_from(
    (
        *FACTS,
        *FUNCTIONS,
        *("and", "or", "not", "in", "is", "for", "if", "x", "None", "lambda", "NULL", "LIKE"),
        *("(", ")", "[", "]", ",", ".", "=", "<>", "<", ">=", "+", "-", "*", "/", "%", "**"),
        *("'a'", '"%b_"', "1", "0", "2.5", "'", "{", "}", ":", "\\", "#", "\n", "ü", "\0"),
        *("any(x for x in drafts)", "len(drafts)", "config.model", "1e18", "f'{x}'", "@", ";"),
    )
)


@often(400, 1500, st.lists(words, max_size=12).map(" ".join) | st.text(max_size=40))
def test_anything_is_worked_out_or_refused(text: str) -> None:
    """No text ends in any other error, and none in anything but plain data."""
    with suppress(BadExpression):
        assert isinstance(value(text), str | int | float | tuple | dict | None)
