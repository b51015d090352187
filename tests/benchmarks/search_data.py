"""Labelled questions over messages as people write them: what is looked for, and among what.

What is looked for was written by hand (``search_labels.yaml``), with questions in several wordings.
The thousands around it are made from templates that speak of the same things, so that a word alone
finds too much.
"""

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

WAYS = ("keywords", "forms", "paraphrase", "exact", "name")
"""How a question is worded: with words of the message; with other forms of its words; with none of
those that tell what it is about; with a code, an identifier or a phrase; with a person, a place or
a date."""


class Question(NamedTuple):
    """Something that a user would look for."""

    text: str
    wanted: int
    """Which of the wanted messages answers it."""
    way: str
    """One of :data:`WAYS`."""


def wanted() -> list[str]:
    """The messages that are looked for."""
    return [one["message"] for one in _labels()]


def questions() -> list[Question]:
    """All questions."""
    return [
        Question(text, number, way)
        for number, one in enumerate(_labels())
        for way in WAYS
        for text in one.get(way, ())
    ]


@cache
def _labels() -> list[dict[str, Any]]:
    file = Path(__file__).with_name("search_labels.yaml")
    labels: list[dict[str, Any]] = yaml.safe_load(file.read_text("utf-8"))
    return labels


# the messages around them

_PEOPLE = ("Alma", "Bruno", "Chidi", "Dana", "Emre", "Fatou", "Goran", "Hana", "Iris", "Jonas")
_THINGS = (
    *("login page", "invoice export", "nightly backup", "payment webhook", "search index"),
    *("staging proxy", "report page", "image resizer", "order queue", "data platform"),
    *("connection pool", "feature flag", "test suite", "mobile app", "message broker"),
    *("release notes", "heat pump", "garage roof", "kitchen floor", "bicycle", "rented flat"),
    *("tomato bed", "beehive", "rye bread", "school play", "orchestra", "house loan", "tax form"),
    *("trip to Porto", "visa form", "dentist", "knee", "cat", "novel", "birthday dinner"),
)
_WORRIES = (
    "is slower than last week",
    "fails about once in {n} tries",
    "costs {n} euros more than planned",
    "needs somebody who looks after it",
    "works again since {who} changed the settings",
    "should be finished before the {n}th",
    "was discussed with {who}, and nothing was decided",
    "has {n} open questions left",
    "takes {n} minutes, which is too long",
    "does what it should, as far as {who} can tell",
    "waits for an answer from {who}",
    "came up in the meeting for the {n}th time",
)
_OPENINGS = (
    "Could you help me with this: the {thing} {worry}.",
    "Just so you know, the {thing} {worry}.",
    "{who} says that the {thing} {worry}, and I am not sure what to do first.",
    "I looked at the {thing} again. It {worry}. Let us talk about it tomorrow.",
    "Why is it that the {thing} {worry}? We had the same in spring.",
    "Summary of today: the {thing} {worry}; next is the {other}.",
    "Compare the {thing} with the {other}: one {worry}, the other is fine.",
    "Please write to {who} that the {thing} {worry}.",
)
_TAILS = (
    "",
    " The logs say code {code}.",
    " It is not urgent.",
    " I attach the numbers for week {n}.",
    " Remember that {who} is away until Monday.",
    " My guess is {n} percent.",
)


def others(count: int, seed: int = 7) -> Iterator[str]:
    """So many different messages of the same world, none of which answers a question above."""
    dice, made = random.Random(seed), set[str]()  # noqa: S311 — the same messages in every run
    while len(made) < count:
        fill = {"n": dice.randint(2, 99), "code": dice.randint(1000, 9999)}
        thing, other = dice.sample(_THINGS, 2)
        worry = dice.choice(_WORRIES).format(who=dice.choice(_PEOPLE), **fill)
        text = dice.choice(_OPENINGS).format(
            thing=thing, other=other, worry=worry, who=dice.choice(_PEOPLE)
        )
        text += dice.choice(_TAILS).format(who=dice.choice(_PEOPLE), **fill)
        if text not in made:
            made.add(text)
            yield text
