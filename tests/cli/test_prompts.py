"""What a mind is shown: the exact text, and what fits into the next one."""

import hashlib
import json
from pathlib import Path

import pytest

from commands.iterate import prepare
from commands.recording import RecordIteration
from domain.events import MindInvoked
from tests.cli.conftest import Mind
from tests.stories.cast import Rehearsed, Stage
from tests.stories.thinker import Cast


def without_time(text: str) -> list[str]:
    """The lines of a prompt but for the one that holds the user's time."""
    return [line for line in text.splitlines() if not line.startswith("  user_time:")]


@pytest.fixture
def mind(within: Mind) -> Mind:
    """Commands within this process: there are many here."""
    return within


def events(mind: Mind, kind: str) -> list[dict[str, object]]:
    """What the log holds of a kind."""
    lines = mind("log", "-n", "0", "--kind", kind, "--json").out.splitlines()
    return [json.loads(line) for line in lines]


def version(mind: Mind, kind: str, place: int = 0) -> str:
    """The version of the n-th event of a kind."""
    return str(events(mind, kind)[place]["version"])


def test_a_prompt_is_the_text_that_was_read(asked: Mind) -> None:
    """Piped, its sha256 is the recorded one; `mind step --debug` showed the same."""
    debug = asked("step", "--debug").out
    asked("step")
    for ref, iteration in (("iter:1", 1), ("draft:1", 1), ("iter:2", 2), ("head", 2)):
        shown = asked("at", ref, "prompt")
        data = asked("at", ref, "prompt", "--json").data
        assert (shown.code, shown.err) == (0, "")
        assert hashlib.sha256(shown.out.encode()).hexdigest() == data["sha256"]
        assert (data["iteration"], data["matches"], data["prompt"]) == (iteration, True, shown.out)
    assert asked("at", "iter:1", "prompt").out in debug
    assert asked("prompt").out == asked("at", "iter:2", "prompt").out


def test_a_branch_has_the_prompts_of_its_parent(asked: Mind) -> None:
    """Also where it left it in the middle of what an iteration brought."""
    asked("run", "-b", "2")
    second = asked("prompt").out
    thought = version(asked, "thought.added", 1)
    asked("fork", "b", "--at", thought)
    assert asked("prompt").out == second
    asked("fork", "b/c", "--at", "2")
    assert asked("prompt").code == 2
    assert asked("at", "b@iter:1", "prompt").out != second


def test_before_the_first_iteration_there_is_none(asked: Mind) -> None:
    """It is said, with how to see what there will be."""
    shown = asked("prompt")
    assert (shown.code, shown.out) == (2, "")
    assert "has no iteration yet" in shown.err
    assert "mind prompt --next" in shown.err
    asked("run")
    assert "has no iteration up to event 2" in asked("at", "2", "prompt").err


def test_the_next_prompt_is_what_the_next_iteration_is_shown(asked: Mind) -> None:
    """With the same draw of thoughts: only the clock goes on in between."""
    for _ in range(3):
        upcoming = asked("prompt", "--next")
        assert upcoming.code == 0
        asked("step")
        assert without_time(upcoming.out) == without_time(asked("prompt").out)
    asked("accept", "1")
    idle = asked("prompt", "--next")
    assert (idle.code, idle.out) == (2, "")
    assert "send a message first" in idle.err
    then = asked("at", "iter:1", "prompt", "--next").out
    assert without_time(then) == without_time(asked("at", "iter:2", "prompt").out)


def test_the_system_prompt_on_request(asked: Mind) -> None:
    """All that the mind was told, headed as `mind step --debug` does it."""
    asked("run")
    shown = asked("prompt", "--system")
    assert shown.code == 0
    assert shown.out.startswith("── system\n")
    assert shown.out.endswith("── prompt\n" + asked("prompt").out)
    told = asked("prompt", "--system", "--json").data["system"]
    assert told["matches"]
    assert told["version"] == "system_v1.4"
    assert told["text"] in shown.out
    assert asked("prompt", "--json").data["system"] is None


def test_the_next_prompt_of_a_mind_that_is_not_here(asked: Mind) -> None:
    """No key and no weights are needed to see what a mind would be shown, in its own dialect."""
    for model, dialect in (("openrouter:a/b", "full"), ("local:tiny", "compact")):
        asked("config", "--set", f"model={model}")
        data = asked("prompt", "--next", "--json").data
        assert (data["dialect"], data["model"], data["version"]) == (dialect, model, None)
        assert asked("context", "--json").data["dialect"] == dialect
    examples = asked("prompt", "--next", "--system", "--json").data["system"]["examples"]
    assert {"prompt", "reply"} == set(examples[0])
    assert "── example" in asked("prompt", "--next", "--system").out
    asked("config", "--set", "model=script:nowhere.txt")
    assert asked("prompt", "--next").code == 2


def test_a_prompt_that_can_not_be_shown_as_it_was(asked: Mind) -> None:
    """What is left is shown, what was redacted is named, and the exit code says broken."""
    asked("run", "-b", "2")
    draft, message = version(asked, "draft.emitted"), version(asked, "message.sent")
    assert asked("redact", draft, "--reason", "private", "--only", "--yes").code == 0
    shown = asked("prompt")
    assert shown.code == 1
    assert "[redacted]" in shown.out
    assert f"not what iteration 2 read: event {draft} (draft.emitted) was redacted" in shown.err
    asked("redact", message, "--reason", "private", "--only", "--yes")
    both = f"events {message} (message.sent) and {draft} (draft.emitted) were redacted since."
    assert both in asked("prompt", "--system").err
    data = asked("prompt", "--json").data
    assert not data["matches"]
    assert [gone["kind"] for gone in data["redacted"]] == ["message.sent", "draft.emitted"]


def test_what_another_version_told_its_mind(mind: Mind, tmp_path: Path) -> None:
    """A system prompt or a rendering that is not of this version is named as such, never shown."""
    stage = Stage(tmp_path / "old").begins()
    now = prepare(stage.state, Rehearsed(), "2026-05-02T10:30:00+00:00")
    for change in ({"system_hash": bytes(32), "protocol": "1.2"}, {"prompt_hash": bytes(32)}):
        invocation = now.invocation.model_copy(update=change)
        stage.does(RecordIteration(invocation=invocation, exchange=now.exchange))
    assert mind("at", "iter:1", "prompt", "-S", "old").code == 0
    shown = mind("at", "iter:1", "prompt", "--system", "-S", "old")
    assert (shown.code, shown.out) == (1, now.request.prompt)
    assert "it was told protocol 1.2 in the full dialect" in shown.err
    data = mind("at", "iter:1", "prompt", "--system", "--json", "-S", "old").data
    assert data["system"] == {"sha256": "00" * 32, "matches": False}
    other = mind("prompt", "-S", "old")
    assert (other.code, other.out) == (1, now.request.prompt)
    assert "its prompt had another sha256 (000000000000…)" in other.err


def test_thoughts_that_will_be_called_back(mind: Mind, tmp_path: Path) -> None:
    """With sampling=recall the look ahead draws from beyond the pool, as the run did."""
    (tmp_path / "mind.txt").write_text("skip: true", encoding="utf-8")
    cast = Cast(tmp_path / "deep")
    model = f"script:{tmp_path}/mind.txt"
    cast.begins(sampling="recall", active_pool_size=6, thought_display_count=10, model=model)
    cast.thinks_a_lot(iterations=12, each=3)
    recalling = [event for event in cast.events(MindInvoked) if event.recalled]
    event = recalling[-1]
    ahead = mind("at", str(event.based_on), "prompt", "--next", "-S", "deep", "--json").data
    assert tuple(ahead["sampled"]) == event.sampled
    then = mind("at", f"iter:{event.iteration}", "prompt", "-S", "deep")
    assert without_time(ahead["prompt"]) == without_time(then.out)
    assert ", recalled: true" in then.out
    counted = mind("at", str(event.based_on), "context", "-S", "deep")
    assert f", {len(event.recalled)} called back" in counted.out
