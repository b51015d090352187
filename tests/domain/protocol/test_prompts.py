"""The system prompts: complete, versioned by their words, and in the form that they teach."""

import json
import re

import pytest
import yaml

from domain.protocol.compact import render_compact
from domain.protocol.output import Output
from domain.protocol.parse import parse
from domain.protocol.prompts import PROTOCOL, Dialect, examples, system_prompt
from domain.protocol.view import DraftSeen, Limit, SignalSeen, ThoughtSeen, TurnSeen, View

RELEASED = {
    "system_v1.4": "6d22e9df72228c4d401a6aec910c2aa9cb16e8bf2bfe98ef44d8ac5902c60613",
    "compact_v1": "4e55acda562afbd3626684085f793b6b40557990a0d40efa64ee83755156845b",
}


def view_of(prompt: str) -> View:
    """The view that a compact prompt was rendered from."""
    seen = yaml.safe_load(prompt)
    limit = Limit(1, 1)
    user = seen.get("user")
    turns = [next(iter(turn.items())) for turn in seen.get("earlier", ())]
    draft = seen.get("latest_draft")
    return View(
        name="",
        iteration=1,
        user_time="",
        thoughts_limit=limit,
        history_limit=limit,
        drafts_limit=limit,
        signals=(SignalSeen(user["presence"], user.get("status", ""), user["time"], 1),)
        if user
        else (),
        thoughts=tuple(ThoughtSeen(text, 1) for text in seen.get("pool", ())),
        history=tuple(
            TurnSeen("user" if who == "user" else "self", text, 1) for who, text in turns
        ),
        awaiting=TurnSeen("user", seen["message"], 1),
        drafts=(DraftSeen(1, draft, 1, user_seen=True),) if draft else (),
    )


@pytest.mark.parametrize("dialect", ["full", "compact"])
def test_a_prompt_that_was_released_never_changes(dialect: Dialect) -> None:
    """Replay shows what a mind was told: other words need another file and another version."""
    prompt = system_prompt(dialect)
    assert prompt.sha256.hex() == RELEASED[prompt.version]
    assert prompt is system_prompt(dialect)


def test_the_full_prompt_names_everything_that_a_mind_meets() -> None:
    """Each block, key and state of the protocol is explained."""
    text = system_prompt("full").text
    assert PROTOCOL in system_prompt("full").version
    words = (
        "meta self iter user_time limits used hard_signals threshold user_signal thinking_pool"
        " dialogue history awaiting drafts orientation index user_seen cluster recalled thoughts"
        " memory effort fact event summary open resolved part_of"
        " draft skip confidence working absent reviewing engaged status time presence"
    )
    missing = [word for word in words.split() if f"`{word}" not in text]
    assert not missing
    assert "`+1`" in text


def test_the_reply_in_the_full_prompt_is_understood() -> None:
    """The example that the prompt gives needs no repair."""
    text = system_prompt("full").text
    block = re.search(r"\n((?:    .*\n)+)", text)
    assert block
    found = parse(re.sub("(?m)^    ", "", block[1]))
    assert isinstance(found, Output)
    assert (len(found.thoughts), found.confidence, found.repairs) == (2, 0.8, ())
    assert found.draft


def test_the_full_dialect_has_no_examples() -> None:
    """A large model is told the rules instead."""
    assert examples("full") == ()


@pytest.mark.parametrize("turn", examples("compact"))
def test_an_example_looks_exactly_like_the_real_thing(turn: tuple[str, str]) -> None:
    """Small models imitate: the prompt is what compact.py renders, the reply one line of JSON."""
    prompt, reply = turn
    assert render_compact(view_of(prompt)) == prompt
    assert "\n" not in reply
    assert set(json.loads(reply)) == {"thoughts", "draft"}
    found = parse(reply)
    assert isinstance(found, Output)
    assert found.repairs == ()
    assert 1 <= len(found.thoughts) <= 3
    assert found.draft
    assert "…" not in reply


def test_the_examples_show_a_first_and_a_later_draft() -> None:
    """Without a later one small models imitate the key of the draft that they see."""
    later = ["latest_draft" in prompt for prompt, _ in examples("compact")]
    assert True in later
    assert False in later


def test_the_compact_prompt_is_short() -> None:
    """System prompt and examples are read before every first reply: at most 900 tokens or so."""
    told = system_prompt("compact").text + "".join(map("".join, examples("compact")))
    assert len(told) < 3200
