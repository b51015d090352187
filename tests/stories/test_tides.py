"""A whole dialogue with a hosted mind, recorded, and played again to the same transcript.

``tides.jsonl`` is what the provider answered, ``tides.transcript`` what a released version made
of it. Both stay as they are: a change that tells the story differently has to say so here.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from commands.dialogue import PruneExchanges, SendMessage
from commands.drafts import AcceptDraft, MarkSeen
from commands.forks import fork_session
from commands.minds.choose import make_mind
from commands.minds.mind import Mind
from commands.presence import SetSignal
from commands.sessions import ChangeConfig, LabelMoment
from commands.thinking import InjectThought
from domain.actors import Actor
from domain.config import Config
from domain.events import MindInvoked
from domain.ids import SessionId
from domain.protocol.dialects import prompt_text
from domain.protocol.observe import observe
from domain.recorded import Recorded
from domain.sampling import Sample
from projections.history import History
from tests.fakes.provider import Answer, Behaviour, Provider, refusal
from tests.stories.cast import Stage

RECORDING = Path(__file__).with_name("tides.jsonl")
TRANSCRIPT = Path(__file__).with_name("tides.transcript")
HOSTED = "openrouter:anthropic/claude-haiku-4.5"

TOLD = ("iteration", "based_on", "outcome", "tokens_in", "tokens_out", "sampled")
UNTOLD = {"config", "holder", "mind"}

Play = Callable[[str, Mapping[str, str]], Stage]


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Play]:
    """Play the user's part against a mind, each time in a new store."""
    stages: list[Stage] = []

    def perform(model: str, env: Mapping[str, str]) -> Stage:
        stage = Stage(tmp_path / str(len(stages)))
        stages.append(stage)
        mind = make_mind(model, env=env)
        user(stage.begins("Why are there two tides a day?", model=model), mind)
        return stage

    yield perform
    for stage in stages:
        stage.log.close()


def user(stage: Stage, mind: Mind) -> None:
    """What the user does, whatever the mind says."""
    hour = datetime(2026, 5, 2, 10, 30, tzinfo=UTC)
    stage.does(SetSignal(presence="engaged", status="at the desk", time=hour))
    stage.runs(mind=mind)
    stage.does(SetSignal(presence="reviewing", status="on the train", time=hour))
    stage.runs(mind=mind, mode="background", iterations=3)
    stage.does(MarkSeen(), InjectThought(text="A child will read this.", by="user:ann"))
    stage.runs(mind=mind)
    stage.does(AcceptDraft(index=2), LabelMoment(label="first-answer", version=5))
    stage.does(SendMessage(text="And what are spring tides?"))
    stage.does(ChangeConfig(key="draft_display_count", value="2"))
    stage.runs(mind=mind)
    stage.does(AcceptDraft(), PruneExchanges(keep=1))
    middle = next(r.version for r in stage.history() if r.event.kind == "thought.added")
    fork_session(stage.log, stage.session, middle, SessionId("tides/b"), stage.world)
    stage.does(SendMessage(text="Thank you!"))
    stage.runs(mind=mind)


def transcript(stage: Stage) -> str:
    """The story as text: all that happened, whoever the mind is and however long it took."""
    lines = [f"{r.version:3} {who(r.actor)} {r.event.kind}: {told(r)}" for r in stage.history()]
    for turn in History(stage.log, stage.session).all():
        lines += ["", f"user> {turn.question}", f"self> {turn.answer}"]
    return "\n".join(lines) + "\n"


def who(actor: Actor) -> str:
    """Who did it; the mind's name is not part of the story."""
    return "mind" if actor.who == "mind" else str(actor)


def told(recorded: Recorded) -> str:
    """What happened, but for names of minds and machines, seconds, and settings of the day."""
    fields = recorded.event.wire()
    if isinstance(recorded.event, MindInvoked):
        fields = {name: fields.get(name) for name in TOLD}
    kept = {name: value for name, value in fields.items() if name not in UNTOLD}
    return json.dumps(kept, ensure_ascii=False)


def prompts(stage: Stage) -> list[bytes]:
    """The hashes of all that the mind was shown."""
    return [e.prompt_hash for e in stage.events(MindInvoked)]


def script(directory: Path, lines: Iterable[Mapping[str, Any]]) -> str:
    """A recording as the name of a mind."""
    file = directory / "recorded.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return f"script:{file}"


def recorded_from(stage: Stage) -> list[dict[str, Any]]:
    """A recording of what a log holds: replay needs nothing else."""
    return [
        {"fail": "503"}
        if e.outcome == "failed"
        else {
            "text": e.output,
            "tokens_in": e.tokens_in,
            "tokens_out": e.tokens_out,
            "cost_usd": e.cost_usd,
        }
        for e in stage.events(MindInvoked)
    ]


def lines_of(recording: Path) -> list[dict[str, Any]]:
    """What was recorded."""
    return [json.loads(line) for line in recording.read_text("utf-8").splitlines()]


def behaviours() -> list[Behaviour]:
    """The provider as it was on that day."""
    return [
        refusal(int(line["fail"]))
        if "fail" in line
        else Answer(line["text"], line["tokens_in"], line["tokens_out"], line["cost_usd"])
        for line in lines_of(RECORDING)
    ]


@pytest.fixture
def hosted(play: Play, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """The story with a provider on loopback."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Provider() as provider:
        provider.behaves(*behaviours())
        key = {"OPENROUTER_API_KEY": "sk-none", "OPENROUTER_BASE_URL": f"{provider.url}/api/v1"}
        return play(HOSTED, key)


def test_a_recording_plays_to_its_transcript(play: Play) -> None:
    """Word for word, in any version that ever reads it."""
    stage = play(f"script:{RECORDING}", {})
    assert transcript(stage) == TRANSCRIPT.read_text("utf-8")


def test_a_hosted_run_is_played_again(hosted: Stage, play: Play, tmp_path: Path) -> None:
    """From its own log alone: the same transcript, and every prompt the same byte for byte."""
    assert transcript(hosted) == TRANSCRIPT.read_text("utf-8")
    again = play(script(tmp_path, recorded_from(hosted)), {})
    assert transcript(again) == transcript(hosted)
    assert prompts(again) == prompts(hosted)
    assert again.state.work.cost_usd == hosted.state.work.cost_usd > 0


def test_every_prompt_can_be_rendered_again(hosted: Stage) -> None:
    """From the state at ``based_on``, the sample and the time, as the log has them."""
    for invocation in hosted.events(MindInvoked):
        state = hosted.log.state(hosted.session, invocation.based_on)
        known = {t.version: t for t in state.pool.active}
        drawn = Sample(tuple(known[v] for v in invocation.sampled))
        view = observe(state, drawn, invocation.user_time)
        prompt = prompt_text(view, invocation.dialect)
        assert sha256(prompt.encode()).digest() == invocation.prompt_hash


@pytest.mark.parametrize("number", list(range(1, 10)))
def test_a_tampered_recording_is_found_out(play: Play, tmp_path: Path, number: int) -> None:
    """One reply says something else: the transcript differs, and every prompt that shows it."""
    lines = lines_of(RECORDING)
    truth = play(f"script:{RECORDING}", {})
    lines[number - 1] = {"text": "draft: The tides are the breath of a whale.", "tokens_in": 1}
    lie = play(script(tmp_path, lines), {})
    assert transcript(lie) != TRANSCRIPT.read_text("utf-8")
    assert prompts(lie)[:number] == prompts(truth)[:number]
    if number not in {5, 9}:  # the mind never saw these two again
        assert prompts(lie)[number] != prompts(truth)[number]


def test_the_story_holds_what_matters(play: Play) -> None:
    """Else it would prove little: a failure, an unreadable reply, signals, two exchanges."""
    stage = play(f"script:{RECORDING}", {})
    outcomes = [e.outcome for e in stage.events(MindInvoked)]
    assert set(outcomes) == {"ok", "failed", "unparseable", "skipped"}
    assert len(stage.state.dialogue.history) == 2
    assert stage.log.sessions() == ["tides", "tides/b"]
    assert [f for verdict in stage.log.verify() for f in verdict.findings] == []
    assert stage.state.config != Config()
