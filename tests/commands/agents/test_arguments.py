"""Arguments of tools: what fits comes through, what does not is refused in one sentence."""

from typing import Any

import pytest

from commands.agents.arguments import BadArguments, checked
from commands.agents.tools import Tool


async def nothing(_: dict[str, Any]) -> str:
    """Never called."""
    return ""


PLACE = {
    "type": "object",
    "properties": {"near": {"type": "boolean"}},
    "required": ["near"],
    "additionalProperties": False,
}
TOOL = Tool(
    "measure",
    "Measures.",
    {
        "type": "object",
        "properties": {
            "what": {"type": "string", "minLength": 1, "maxLength": 5, "pattern": "[a-z ]*"},
            "times": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
            "depth": {"type": "number", "minimum": -1.5},
            "how": {"type": "string", "enum": ["fast", "slow"]},
            "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
            "place": PLACE,
            "note": {"type": ["string", "null"]},
        },
        "required": ["what"],
        "additionalProperties": False,
    },
    nothing,
)
FREE = Tool("free", "Takes anything.", {"type": "object"}, nothing)


@pytest.mark.parametrize(
    ("given", "fits"),
    [
        ({"what": "sea"}, {"what": "sea", "times": 3}),
        ('{"what": "sea", "times": 4.0}', {"what": "sea", "times": 4}),
        (b'{"what": "sea", "depth": -1}', {"what": "sea", "depth": -1, "times": 3}),
        ({"what": "sea", "tags": None, "times": None}, {"what": "sea", "times": 3}),
        ({"what": "sea", "note": None}, {"what": "sea", "note": None, "times": 3}),
        (
            {"what": "sea", "times": 9, "how": "slow", "tags": ["a", "b"], "place": {"near": True}},
            {"what": "sea", "times": 9, "how": "slow", "tags": ["a", "b"], "place": {"near": True}},
        ),
    ],
)
def test_what_fits_comes_through(given: object, fits: dict[str, Any]) -> None:
    """JSON is read, defaults are filled in, null is as good as nothing, 4.0 is a whole number."""
    found = checked(TOOL, given)
    assert found == fits
    assert isinstance(found["times"], int)


@pytest.mark.parametrize("given", [None, "", "  ", {}, "{}"])
def test_no_arguments_are_an_empty_object(given: object) -> None:
    """Models that leave the arguments out mean none."""
    assert checked(FREE, given) == {}


def test_what_the_schema_does_not_close_stays_open() -> None:
    """Only a schema that says so refuses what it does not know."""
    assert checked(FREE, {"any": [1, {"x": None}]}) == {"any": [1, {"x": None}]}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "measure needs what."),
        ({"what": None}, "what of measure is null: it has to be a text."),
        ({"what": 3}, "what of measure is 3: it has to be a text."),
        ({"what": ""}, "what of measure has 0: it has to be at least 1 characters."),
        ({"what": "oceans"}, "what of measure has 6: it has to be at most 5 characters."),
        ({"what": "SEA"}, 'what of measure is "SEA": it has to be a text like [a-z ]*.'),
        ({"what": "a\ud800"}, "what of measure holds half a character."),
        ({"what": "sea", "times": 0}, "times of measure is 0: it has to be from 1 to 9."),
        ({"what": "sea", "times": 2.5}, "times of measure is 2.5: it has to be a whole number."),
        ({"what": "sea", "times": True}, "times of measure is true: it has to be a whole number."),
        ({"what": "sea", "times": "2"}, 'times of measure is "2": it has to be a whole number.'),
        ({"what": "sea", "depth": -2}, "depth of measure is -2: it has to be at least -1.5."),
        ({"what": "sea", "depth": float("inf")}, "it has to be a number."),
        ({"what": "sea", "how": "odd"}, 'how of measure is "odd": it has to be "fast" or "slow".'),
        ({"what": "sea", "tags": []}, "tags of measure has 0: it has to be at least 1 entries."),
        ({"what": "sea", "tags": ["a", 1]}, "tags[1] of measure is 1: it has to be a text."),
        ({"what": "sea", "place": {}}, "measure needs place.near."),
        ({"what": "sea", "place": {"near": 1}}, "it has to be true or false."),
        ({"what": "sea", "place": {"near": True, "x": 1}}, 'measure has no "place.x"'),
        ({"what": "sea", "place": [True]}, "place of measure is [true]: it has to be an object."),
        ({"what": "sea", "note": 1}, "note of measure is 1: it has to be a text or null."),
        ({"what": "sea", "x" * 500: 1}, "it takes what, times, depth, how, tags, place, note."),
        ([], "The arguments of measure have to be a JSON object."),
        ('["sea"]', "The arguments of measure have to be a JSON object."),
        ('{"what": ', "The arguments of measure are no JSON"),
        ('{"what": NaN}', "NaN is no number"),
        ("[" * 100_000, "it is nested too deeply"),
        ('{"times": ' + "9" * 5000 + "}", "The arguments of measure are no JSON"),
        (b"\xff", "The arguments of measure are no JSON"),
    ],
)
def test_what_does_not_fit_is_refused(given: object, says: str) -> None:
    """The sentence says which argument it is, what it was, and what it has to be; it is short."""
    with pytest.raises(BadArguments) as refused:
        checked(TOOL, given)
    assert says in refused.value.sentence
    assert len(refused.value.sentence) < 300
