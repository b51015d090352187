"""Recorded minds: the file answers, by iteration, the same every time."""

import json
from pathlib import Path

import pytest

from commands.minds.choose import make_mind
from commands.minds.mind import MindFailed, MindUnavailable, Request
from commands.minds.script import ScriptMind
from domain.errors import BadSetting


def script(tmp_path: Path, *lines: object, name: str = "s.jsonl") -> ScriptMind:
    """A script of these objects, as a mind."""
    file = tmp_path / name
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    mind = make_mind(f"script:{file}", env={})
    assert isinstance(mind, ScriptMind)
    return mind


def test_the_iteration_chooses_the_reply(tmp_path: Path, request_: Request) -> None:
    """A new process goes on at the right place, since nothing but the iteration counts."""
    mind = script(tmp_path, {"text": "one"}, {"text": "two"})
    answers = [mind.reply(request_._replace(iteration=at)).text for at in (2, 1, 2)]
    assert answers == ["two", "one", "two"]


def test_what_is_recorded_is_told(tmp_path: Path, request_: Request) -> None:
    """Tokens, cost and model come from the line; what it leaves out is unknown."""
    line = {"text": "a b", "tokens_in": 5, "tokens_out": 2, "cost_usd": 0.01, "model": "m"}
    mind = script(tmp_path, line, {"text": "c"})
    heard: list[str] = []
    first = mind.reply(request_, heard.append)
    second = mind.reply(request_._replace(iteration=2))
    assert (first.tokens_in, first.tokens_out, first.cost_usd, first.model) == (5, 2, 0.01, "m")
    assert heard == ["a ", "b"]
    assert (second.tokens_in, second.cost_usd, second.model) == (None, None, "script")


@pytest.mark.parametrize("iteration", [0, 3, -1])
def test_past_the_end_is_said(tmp_path: Path, request_: Request, iteration: int) -> None:
    """A script that is too short says how long it is."""
    mind = script(tmp_path, {"text": "one"}, {"text": "two"})
    with pytest.raises(MindUnavailable, match="holds 2 replies"):
        mind.reply(request_._replace(iteration=iteration))


@pytest.mark.parametrize(
    ("fail", "retryable", "partial"),
    [
        ("timeout", True, ""),
        ("connection", True, ""),
        ("garbage", True, ""),
        ("half", True, "01234"),
        ("429", True, ""),
        ("503", True, ""),
        ("401", False, ""),
    ],
)
def test_failures_are_those_of_real_minds(
    tmp_path: Path, request_: Request, fail: str, retryable: bool, partial: str
) -> None:
    """A recorded failure fails once, then the text of its line answers."""
    mind = script(tmp_path, {"text": "0123456789", "fail": fail, "retry_after": 4})
    with pytest.raises(MindFailed) as failed:
        mind.reply(request_)
    assert (failed.value.retryable, failed.value.partial) == (retryable, partial)
    assert failed.value.retry_after == (4 if fail.isdecimal() else None)
    assert mind.reply(request_).text == "0123456789"


def test_a_failure_without_a_text_stays(tmp_path: Path, request_: Request) -> None:
    """A line that only fails never answers; `times` says how often one with a text fails."""
    mind = script(tmp_path, {"fail": "503"}, {"text": "at last", "fail": "503", "times": 2})
    for _ in range(4):
        with pytest.raises(MindFailed):
            mind.reply(request_)
    second = request_._replace(iteration=2)
    for _ in range(2):
        with pytest.raises(MindFailed):
            mind.reply(second)
    assert mind.reply(second).text == "at last"


def test_a_delay_is_slept_and_may_be_too_long(tmp_path: Path, request_: Request) -> None:
    """A line may take its time; more than the attempt has is a timeout."""
    slept: list[float] = []
    read = script(tmp_path, {"text": "slow", "delay": 3}, {"text": "slower", "delay": 30})
    mind = ScriptMind("s", read.lines, sleep=slept.append)
    assert mind.reply(request_).latency_ms == 3000
    with pytest.raises(MindFailed, match="within 10 s"):
        mind.reply(request_._replace(iteration=2))
    assert slept == [3, 10.0]


def test_replies_may_be_written_by_hand(tmp_path: Path, request_: Request) -> None:
    """A text file holds the replies as they are, between lines of three dashes."""
    file = tmp_path / "demo.txt"
    file.write_text("---\nthoughts: [one]\n---\ndraft: |\n  a --- b\n---\n", "utf-8")
    mind = make_mind(f"script:{file}", env={})
    assert mind.reply(request_).text == "thoughts: [one]\n"
    assert mind.reply(request_._replace(iteration=2)).text == "draft: |\n  a --- b\n"
    with pytest.raises(MindUnavailable):
        mind.reply(request_._replace(iteration=3))


@pytest.mark.parametrize("name", ["s.jsonl", "s.txt"])
def test_the_first_line_may_name_the_dialect(tmp_path: Path, name: str, request_: Request) -> None:
    """Full is the rule, and compact can be asked for."""
    assert script(tmp_path, {"text": "x"}, name=name).dialect == "full"
    mind = script(tmp_path, {"dialect": "compact"}, {"text": "x"}, name=name)
    assert mind.dialect == "compact"
    assert "x" in mind.reply(request_).text


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("no json", "not JSON"),
        ("[1]", "an object"),
        ('{"txt": "x"}', "'txt'"),
        ('{"text": 7}', "texts"),
        ('{"text": "x", "delay": "long"}', "number"),
        ('{"text": "x", "cost_usd": -1}', "number"),
        ('{"fail": "418x"}', "HTTP status"),
        ('{"fail": "200"}', "HTTP status"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, content: str, why: str) -> None:
    """A malformed script is refused with the number of its line."""
    file = tmp_path / "bad.jsonl"
    file.write_text(f'{{"text": "fine"}}\n{content}\n', "utf-8")
    with pytest.raises(BadSetting, match="Line 2") as refused:
        make_mind(f"script:{file}", env={})
    assert why in refused.value.sentence


def test_a_script_that_is_not_there_is_said(tmp_path: Path) -> None:
    """A missing, a binary and an unreadable file are one sentence each."""
    binary = tmp_path / "binary.jsonl"
    binary.write_bytes(b"\xff\xfe\x00")
    for file in (tmp_path / "none.jsonl", tmp_path, binary):
        with pytest.raises(MindUnavailable, match="can't be read"):
            make_mind(f"script:{file}", env={})
