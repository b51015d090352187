"""What a model replied when it looked: understood within limits, or told why it can't be used."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.detection.reading import LONGEST, MOST_FOUND, Read, Unusable, read, schema
from domain.artifacts import Shelf
from domain.detection.findings import Findings, Learned, Noted, Opened, Resolved

FULL = {
    "effort": 5,
    "mentions": [8],
    "opened": None,
    "resolved": [{"effort": 5, "resolution": "The proxy cut them off.", "outcome": "done"}],
    "reopened": [],
    "learned": [{"statement": "Uploads may have 50 MB.", "since": "2026-03-02", "supersedes": 8}],
    "noted": [{"what": "demo", "when": "2026-03-06", "expires": None}],
    "words": "Fixed!",
}
"""A reply that holds of everything something."""

MEANT = Findings(
    effort=5,
    mentions=(8,),
    resolved=(Resolved(effort=5, resolution="The proxy cut them off."),),
    learned=(Learned(statement="Uploads may have 50 MB.", since="2026-03-02", supersedes=8),),
    noted=(Noted(what="demo", when="2026-03-06"),),
    words="Fixed!",
)


def found(reply: dict[str, Any], shelf: Shelf) -> Read:
    """A reply that can be read."""
    understood = read(json.dumps(reply), shelf)
    assert isinstance(understood, Read)
    return understood


@pytest.mark.parametrize(
    "wrapped",
    ["{}", "```json\n{}\n```", "Here it is:\n{}\nAnything else?", "<think>{{hm}}</think>{}"],
)
def test_findings_are_read_whatever_is_around_them(wrapped: str, shelf: Shelf) -> None:
    """Fences, talk and thoughts aloud around the object do not matter."""
    assert read(wrapped.format(json.dumps(FULL)), shelf) == Read(MEANT)


def test_null_for_none_is_no_mistake(shelf: Shelf) -> None:
    """A key that is null or missing is a key with nothing in it."""
    assert found({"effort": 3, "resolved": None}, shelf) == Read(Findings(effort=3))


@pytest.mark.parametrize(
    ("reply", "meant", "left_out"),
    [
        ({"effort": 99}, Findings(), 1),
        ({"effort": 0}, Findings(), 1),
        ({"effort": 7}, Findings(), 1),
        ({"effort": 7, "reopened": [7]}, Findings(effort=7, reopened=(7,)), 0),
        ({"reopened": [5, 8, 7, 7]}, Findings(reopened=(7,)), 2),
        ({"mentions": [3, 9, 9, 77]}, Findings(mentions=(3, 9)), 1),
        ({"resolved": [{"effort": 7, "resolution": "x"}]}, Findings(), 1),
        ({"resolved": [{"effort": 0, "resolution": "x"}]}, Findings(), 1),
        (
            {"opened": {"goal": "g", "parent": 8}, "resolved": [{"effort": 0, "resolution": "x"}]},
            Findings(opened=Opened(goal="g"), resolved=(Resolved(effort=0, resolution="x"),)),
            1,
        ),
        (
            {"learned": [{"statement": "s", "supersedes": 5}]},
            Findings(learned=(Learned(statement="s"),)),
            1,
        ),
    ],
)
def test_ids_that_are_not_there_are_left_out(
    reply: dict[str, Any], meant: Findings, left_out: int, shelf: Shelf
) -> None:
    """An id is taken for what lies on the shelf in that state; the rest of the reply stays."""
    understood = found(reply, shelf)
    assert understood.findings == meant
    assert len(understood.dropped) == left_out


def test_an_effort_is_resolved_once(shelf: Shelf) -> None:
    """Of two endings of one effort the first counts."""
    twice = [{"effort": 5, "resolution": text} for text in ("first", "second")]
    assert found({"resolved": twice}, shelf).findings.resolved == (
        Resolved(effort=5, resolution="first"),
    )


def test_of_too_many_findings_some_are_kept(shelf: Shelf) -> None:
    """A model that rambles on does not fill the shelf, and what is left out is said."""
    many = found({"learned": [{"statement": f"fact {n}"} for n in range(50)]}, shelf)
    assert len(many.findings.learned) == MOST_FOUND
    assert len(many.dropped) == 1


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "no JSON object"),
        ("I found nothing.", "no JSON object"),
        ('{"effort": 5', "no JSON"),
        ("[1, 2]", "no JSON object"),
        ('{"effort": "the login bug"}', "effort: Input should be a valid integer"),
        ('{"resolved": [{"effort": 5}]}', "resolved.0.resolution: Field required"),
        ('{"noted": [{"what": "x", "when": "tomorrow"}]}', "noted.0.when"),
        ('{"opened": {"goal": ""}}', "opened.goal"),
        ('{"mood": "good"}', "mood"),
        ('{"words": "a\\ud800b"}', "words"),
        ('{"words": "a\\u0000b"}', "NUL"),
        ('{"words": "' + "x" * LONGEST + '"}', "more than 20,000 characters"),
        ('{"effort": ' + "[" * 9_000 + "]" * 9_000 + "}", "too deep"),
        ('{"a": ' * 3_000, "too deep"),
        ('{"effort": ' + "9" * 6_000 + "}", "no JSON"),
        ('{"' + '\\"' * 9_000, "no JSON"),
    ],
)
def test_what_can_not_be_used_says_why(reply: str, why: str, shelf: Shelf) -> None:
    """The reason is short and in words that a model can mend its reply by."""
    understood = read(reply, shelf)
    assert isinstance(understood, Unusable)
    assert why in understood.why
    assert len(understood.why) < 1_000


@given(st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_no_reply_is_too_strange(reply: str) -> None:
    """Nothing that a model can say is raised."""
    assert isinstance(read('{"words": ' + reply, Shelf()), Read | Unusable)


@given(st.integers(-(2**70), 2**70))
def test_no_id_comes_from_nowhere(id_: int) -> None:
    """With nothing on record, no id gets through."""
    reply = {"effort": id_, "mentions": [id_], "reopened": [id_]}
    understood = read(json.dumps(reply), Shelf())
    assert isinstance(understood, Read)
    assert understood.findings == Findings()


def test_the_schema_asks_for_every_key_and_no_other() -> None:
    """It stands on its own, as engines and providers want it, and names all that findings have."""
    held = schema()
    text = json.dumps(held)
    assert "$ref" not in text
    assert '"default"' not in text
    assert r"\\d" not in text
    assert held["required"] == list(Findings.model_fields) == list(held["properties"])

    def closed(node: Any) -> bool:
        if isinstance(node, list):
            return all(map(closed, node))
        if not isinstance(node, dict):
            return True
        whole = node.get("type") != "object" or (
            node["additionalProperties"] is False and node["required"] == list(node["properties"])
        )
        return whole and all(map(closed, node.values()))

    assert closed(held)
