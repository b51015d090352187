"""What a mind is shown of a session, why, what it is not shown, and what a cache can use again."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commands.artifacts.efforts import OpenEffort, ResolveEffort, RouteExchange
from commands.artifacts.upkeep import KeepUp
from commands.dialogue import PruneExchanges, SendMessage
from tests.cli.conftest import Mind, _asked
from tests.stories.cast import Stage

LATER = "2027-05-02T10:30"


@pytest.fixture
def mind(within: Mind) -> Mind:
    """Commands within this process: there are many here."""
    return within


@pytest.fixture
def plain(within: Mind, tmp_path: Path) -> Mind:
    """A dialogue in which nobody looks for artifacts."""
    return _asked(within, tmp_path, "--set", "embedding_model=off", "--set", "detector=off")


class Worked(Stage):
    """A long dialogue: one effort was resolved and has left, one goes on, a message awaits."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.begins(model="local", detector="off", evict_after=5)
        self.first = self.works("fix the login timeout", 3)
        self.does(ResolveEffort(effort=self.first, resolution="the pool had 10 connections"))
        self.second = self.works("move to the new cluster", 13)
        self.does(KeepUp(user_time=LATER), SendMessage(text="and the \x1b[1mpods?"))

    def works(self, goal: str, count: int) -> int:
        """An effort begins and is spoken of for so many exchanges; its version."""
        effort = 0
        for number in range(count):
            self.answers(f"{goal}, question {number}", f"{goal}: the answer number {number}")
            exchange = self.state.dialogue.history[-1].id
            if not effort:
                self.does(OpenEffort(goal=goal, exchange=exchange))
                effort = self.state.version
            else:
                self.does(RouteExchange(exchange=exchange, effort=effort))
        return effort


@pytest.fixture
def worked(tmp_path: Path) -> Worked:
    """Such a dialogue, in the store ``s``."""
    return Worked(tmp_path / "s")


@pytest.fixture
def explained(within: Mind, tmp_path: Path) -> Callable[..., Any]:
    """What `mind context --explain --json` says of the store ``s``."""

    def run(*words: str) -> Any:
        return within("context", "--explain", "--json", "-S", str(tmp_path / "s"), *words).data

    return run


def rows(text: str) -> dict[str, list[str]]:
    """The lines of a table by their first cell, split where two blanks are."""
    found = [line.split("  ") for line in text.splitlines()]
    return {cells[0].strip(): [c.strip() for c in cells[1:] if c.strip()] for cells in found}


def test_how_much_of_each_block_is_used(plain: Mind) -> None:
    """Block by block, now and as of any moment, in characters and tokens."""
    plain("run", "-b", "2")
    plain("signal", "-p", "reviewing", "back at\tmy \x1b[1mdesk")
    shown = plain("context")
    table = rows(shown.out)
    assert (shown.code, shown.err) == (0, "")
    assert table["message"][:2] == ["exc_1_000", "20"]
    assert table["memory"][:2] == ["0 of 0 artifacts", "0"]
    assert table["drafts"][:2] == ["2 of 2", "2 of 16"]
    assert table["thoughts"][:3] == ["2 of 2", "2 of 10", "54 of 3000"]
    assert "reviewing, back at my ␛[1mdesk" in shown.out
    assert "estimated from bytes" in shown.out
    data = plain("context", "--json").data
    assert table["prompt"] == [str(data["chars"]), f"{data['tokens']} of 4000"]
    prompt = plain("prompt", "--next").out
    assert (data["chars"], data["awaiting"]) == (len(prompt), "exc_1_000")
    assert (data["exact"], data["estimate"]) == (False, data["tokens"])
    assert data["drafts"]["shown"] == data["drafts"]["of"] == 2
    then = plain("context", "--at", "iter:1", "--json").data
    assert (then["drafts"]["of"], then["signals"]) == (1, [])
    assert plain("at", "iter:1", "context", "--json").data["drafts"] == then["drafts"]


def test_an_idle_session_says_so(plain: Mind) -> None:
    """And shows what would surround the next message."""
    plain("run")
    plain("accept")
    shown = plain("context")
    assert shown.code == 0
    assert "The session is idle" in shown.err
    assert rows(shown.out)["history"][0] == "1 of 1 exchange"
    plain("prune", "exc_1_000")
    pruned = plain("context").out
    assert rows(pruned)["history"][0] == "0 of 1 exchange"
    assert "not shown     1 exchange (why: mind context --explain)" in pruned
    data = plain("context", "--json").data
    assert (data["awaiting"], data["message"]["shown"]) == (None, 0)
    assert data["left_out"] == [{"what": "exc_1_000", "why": "it was pruned", "stands": None}]


def test_every_part_is_explained(mind: Mind, worked: Worked, tmp_path: Path) -> None:
    """The artifact, each side of each exchange, the message; and what is not there, and why."""
    mind("config", "--set", "model=openrouter:a/b", "-S", str(tmp_path / "s"))
    shown = mind("context", "--explain", "-S", str(tmp_path / "s"))
    assert shown.code == 0
    lines = [" ".join(line.split()) for line in shown.out.splitlines()]

    def one(start: str, *words: str) -> bool:
        (line,) = [line for line in lines if line.startswith(start)]
        return all(word in line for word in words)

    why = "the effort that is worked on"
    assert one(f"memory effort {worked.second} ", why, "move to the new cluster")
    assert one("history exc_16_000, mind ", "one of the last 10 exchanges")
    assert one("history exc_4_000, user ", f"effort {worked.second} is open")
    assert one("message exc_17_000 ", "it awaits an answer", "␛[1mpods?")
    assert one("and ", "tokens around them", "of 4000 in all, estimated")
    stands = f"effort {worked.first} stands for it, and has left the context"
    assert one("exc_1_000 … exc_3_000 (3)", stands)
    assert one(f"effort {worked.first} evicted at turn", "fix the login timeout")


def test_an_explanation_for_programs(worked: Worked, explained: Callable[..., Any]) -> None:
    """All parts add up to the prompt; what stands for an exchange is named by its id."""
    data = explained()
    assert sum(part["tokens"] for part in data["parts"]) + data["around"] == data["tokens"]
    assert [one["what"] for one in data["gone"]] == [f"effort {worked.first}"]
    assert {left["stands"] for left in data["left_out"]} == {worked.first, None}
    assert data["compacted"] == []


def test_an_explanation_of_the_past(
    mind: Mind, worked: Worked, explained: Callable[..., Any], tmp_path: Path
) -> None:
    """As of then: what has left by now was shown; both ways to ask give the same."""
    (evicted,) = [r.version for r in worked.history() if r.event.kind == "artifacts.evicted"]
    then = str(evicted - 1)
    data = explained("--at", then)
    store = str(tmp_path / "s")
    other = mind("at", then, "context", "--explain", "--json", "-S", store).data
    assert {**data, "chars": 0} == {**other, "chars": 0}
    assert data["version"] == evicted - 1
    whys = {left["what"]: left["why"] for left in data["left_out"]}
    assert whys["exc_1_000"] == f"effort {worked.first} stands for it"
    parts = {part["what"]: part["why"] for part in data["parts"]}
    assert parts[f"effort {worked.first}"] == "concluded, spoken of 13 turns ago"
    assert data["gone"] == []


def test_the_compact_dialect_is_explained_too(mind: Mind, tmp_path: Path) -> None:
    """What the view holds and this dialect leaves out is named with its reason."""
    stage = Stage(tmp_path / "s").begins(model="local", detector="off")
    for number in range(4):
        stage.answers(f"question {number}", f"this is the answer number {number}")
    stage.does(SendMessage(text="and now?"))
    shown = mind("context", "--explain", "-S", str(tmp_path / "s")).out
    assert "the compact dialect shows the newest 2 exchanges" in shown
    assert mind("context", "--json", "-S", str(tmp_path / "s")).data["dialect"] == "compact"


def test_only_so_much_is_listed(mind: Mind, tmp_path: Path) -> None:
    """The rest is counted, and how to see all of it is said."""
    stage = Stage(tmp_path / "s").begins(model="local", detector="off", history_display_count=2)
    for number in range(3):
        stage.answers(f"question {number}", f"this is the answer number {number}")
    stage.does(PruneExchanges(exchanges=("exc_1_000",)))
    few = mind("context", "--explain", "-n", "1", "-S", str(tmp_path / "s")).out
    assert "1 more" in few
    assert "--limit 0" in few
    everything = mind("context", "--explain", "-n", "0", "-S", str(tmp_path / "s")).out
    assert "--limit 0" not in everything


def test_what_a_cache_can_use_again(plain: Mind) -> None:
    """For each prompt whether its artifacts were the same, how much else was, and what changed."""
    assert "There is no prompt yet" in plain("context", "--cache").err
    plain("run", "-b", "2")
    alone = plain("context", "--cache", "-n", "0")
    assert alone.code == 0
    assert "The artifacts stood there unchanged in 1 of 1 prompts (100.0 %)." in alone.out
    data = plain("context", "--cache", "--json").data
    first, second = data["prompts"]
    assert (first["hit"], first["same_chars"]) == (None, 0)
    texts = [plain("at", f"iter:{n}", "prompt").out for n in (1, 2)]
    assert texts[0][: second["same_chars"]] == texts[1][: second["same_chars"]]
    assert texts[0][second["same_chars"]] != texts[1][second["same_chars"]]
    assert second["chars"] == len(texts[1])
    assert data["same_tokens"] > data["tokens"] / 2


def test_why_the_artifacts_changed(mind: Mind, tmp_path: Path) -> None:
    """By event, with its version; as of a past moment, only what was before it."""
    stage = Stage(tmp_path / "s").begins("why?", detector="off")
    stage.runs("draft: The first of the answers.", iterations=1)
    stage.does(OpenEffort(goal="explain the tides"))
    effort = stage.state.version
    stage.runs("thoughts: [one]", "thoughts: [two]", iterations=2)
    stage.does(ResolveEffort(effort=effort, resolution="the moon"))
    stage.runs("thoughts: [three]", iterations=1)
    data = mind("context", "--cache", "--json", "-S", str(tmp_path / "s")).data
    assert [one["hit"] for one in data["prompts"]] == [None, False, True, False]
    whats = [[change["why"] for change in one["changes"]] for one in data["prompts"]]
    assert whats == [[], ["effort.opened"], [], ["effort.resolved"]]
    assert data["prompts"][1]["changes"] == [
        {"what": f"effort {effort}", "how": "came", "why": "effort.opened", "version": effort}
    ]
    assert (data["hits"], data["compared"], data["hit_percent"]) == (1, 3, 33.3)
    shown = mind("context", "--cache", "-n", "2", "-S", str(tmp_path / "s")).out
    (resolved,) = [r.version for r in stage.history() if r.event.kind == "effort.resolved"]
    assert f"effort {effort} changed (effort.resolved, event {resolved})" in shown
    assert "unchanged in 1 of 2 prompts (50.0 %)" in shown
    then = mind("context", "--cache", "--at", "iter:2", "--json", "-S", str(tmp_path / "s")).data
    assert then["prompts"] == data["prompts"][:2]


def test_one_answer_at_a_time(plain: Mind) -> None:
    """Two questions at once are refused, with what to do."""
    refused = plain("context", "--explain", "--cache")
    assert (refused.code, refused.out) == (2, "")
    assert "Choose one of --explain and --cache." in refused.err
