"""A model that looks for artifacts, over real HTTP: held to a form, asked once more, given up."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import pytest

from commands.detection.attend import attend
from commands.detection.looked import Looked
from commands.detection.model import ModelDetector, ask
from commands.detection.prompt import system, told
from commands.detection.reading import schema
from commands.minds.choose import make_mind
from commands.minds.mind import Listener, Mind, Reply, Request
from domain.artifacts import Shelf
from domain.detection.findings import Findings, Learned, Opened, Passage, Resolved
from domain.events import DetectorInvoked
from domain.events.thinking import unpacked
from domain.protocol.prompts import Dialect
from tests.commands.minds.test_hosted import mind_of
from tests.fakes import provider as fake
from tests.fakes.provider import GARBAGE, Answer, Behaviour, Provider
from tests.stories.cast import Stage

DONE = Findings(effort=5, resolved=(Resolved(effort=5, resolution="It was the proxy."),))
GOOD = DONE.model_dump_json()
BY_RULES = Findings(learned=(Learned(statement="The rules looked."),))


def by_rules(_passage: Passage, _shelf: Shelf) -> Findings:
    """What the rules of these tests always find."""
    return BY_RULES


@pytest.fixture
def mind(env: Mapping[str, str]) -> Mind:
    """A hosted mind at the provider on loopback."""
    return make_mind("openrouter:openai/gpt-5-mini", env=env)


@pytest.fixture
def detector(mind: Mind) -> ModelDetector:
    """It, as a detector."""
    return ModelDetector(mind.name, lambda: mind, by_rules, timeout=5.0)


def test_findings_come_with_what_they_took(
    provider: Provider, detector: ModelDetector, passage: Passage, shelf: Shelf
) -> None:
    """A good reply is found by the model, with everything that the log wants to know."""
    provider.behaves(Answer(GOOD, cost=0.002))
    looked = detector.look(passage, shelf)
    exact = f"{system().text}\0{told(passage, shelf)}".encode()
    assert (looked.findings, looked.found_by, looked.error) == (DONE, "model", None)
    assert (looked.model, looked.attempts) == ("openrouter:openai/gpt-5-mini", 1)
    assert (looked.tokens_in, looked.tokens_out, looked.cost_usd) == (120, 40, 0.002)
    assert looked.raw is not None
    assert unpacked(looked.raw) == GOOD
    assert looked.prompt_hash == sha256(exact).digest()
    assert looked.latency_ms > 0


def test_the_model_is_told_and_held(
    provider: Provider, mind: Mind, passage: Passage, shelf: Shelf
) -> None:
    """It gets the prompt of its version, the passage, and a schema to keep to."""
    provider.behaves(Answer(GOOD))
    ask(mind, passage, shelf)
    [asked] = provider.requests
    assert [turn["content"] for turn in asked.body["messages"]] == [
        system().text,
        told(passage, shelf),
    ]
    held = asked.body["response_format"]["json_schema"]["schema"]
    assert list(held["properties"]) == list(schema()["properties"])


@pytest.mark.parametrize("way", ["openai", "openrouter", "url", "ollama", "anthropic"])
def test_every_kind_of_provider_takes_the_schema(
    way: str, provider: Provider, env: Mapping[str, str], passage: Passage, shelf: Shelf
) -> None:
    """No client library stumbles over the form that findings have."""
    provider.behaves(Answer(GOOD))
    answered = ask(mind_of(way, provider, env), passage, shelf)
    assert (answered.findings, answered.attempts) == (DONE, 1)
    assert "supersedes" in json.dumps(provider.requests[0].body)


@pytest.mark.parametrize("bad", ["no idea", '{"effort": "five"}', ""])
def test_a_bad_reply_is_asked_for_once_more(
    bad: str, provider: Provider, detector: ModelDetector, passage: Passage, shelf: Shelf
) -> None:
    """The model sees its reply and what is wrong with it; both are kept and both are paid for."""
    provider.behaves(Answer(bad, cost=0.001), Answer(GOOD, cost=0.002))
    looked = detector.look(passage, shelf)
    assert (looked.findings, looked.found_by, looked.error) == (DONE, "model", None)
    assert (looked.attempts, looked.tokens_in, looked.cost_usd) == (2, 240, 0.003)
    assert looked.raw is not None
    assert unpacked(looked.raw) == f"{bad}\n---\n{GOOD}"
    _, again = provider.requests
    roles = [turn["role"] for turn in again.body["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert "This can't be used" in again.body["messages"][-1]["content"]


def test_a_reply_that_was_cut_off_is_asked_to_be_brief(
    provider: Provider, mind: Mind, passage: Passage, shelf: Shelf
) -> None:
    """Half an object is no object; the model is told why it was only half."""
    provider.behaves(Answer(GOOD[:40], finish="length"), Answer(GOOD))
    assert ask(mind, passage, shelf).findings == DONE
    assert "cut off" in provider.requests[1].body["messages"][-1]["content"]


def test_two_bad_replies_are_given_up(
    provider: Provider, detector: ModelDetector, passage: Passage, shelf: Shelf
) -> None:
    """Then the rules look, and the log has the replies and why they could not be used."""
    provider.behaves(Answer("no idea"), Answer('{"resolved": 5}'))
    looked = detector.look(passage, shelf)
    assert (looked.findings, looked.found_by, looked.attempts) == (BY_RULES, "rules", 2)
    assert looked.error is not None
    assert "replied twice" in looked.error
    assert "resolved" in looked.error
    assert looked.raw is not None
    assert "no idea" in unpacked(looked.raw)
    assert len(provider.requests) == 2


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (fake.refusal(500), "is in trouble"),
        (fake.refusal(401), "did not accept the key"),
        (GARBAGE, "no reply"),
        (fake.EMPTY, "no reply"),
        (fake.NO_CHOICES, "no reply"),
    ],
)
def test_a_failing_model_is_no_failure(
    behaviour: Behaviour,
    said: str,
    provider: Provider,
    detector: ModelDetector,
    passage: Passage,
    shelf: Shelf,
) -> None:
    """Whatever goes wrong, the rules look, nothing is raised, and the sentence is kept."""
    provider.behaves(behaviour)
    looked = detector.look(passage, shelf)
    assert (looked.findings, looked.found_by) == (BY_RULES, "rules")
    assert looked.error is not None
    assert said in looked.error
    assert looked.cost_usd is None
    assert len(provider.requests) == 1


def test_a_model_that_says_nothing_in_time_is_given_up(
    provider: Provider, mind: Mind, passage: Passage, shelf: Shelf
) -> None:
    """A look takes no longer than its timeout."""
    provider.behaves(fake.silence)
    looked = ModelDetector(mind.name, lambda: mind, by_rules, timeout=0.3).look(passage, shelf)
    assert looked.found_by == "rules"
    assert looked.error is not None
    assert "did not answer within 0.3 s" in looked.error


def test_a_server_that_knows_no_schemas_is_asked_without(
    provider: Provider, detector: ModelDetector, passage: Passage, shelf: Shelf
) -> None:
    """Where the request is refused as it is, the words of the prompt have to do."""
    provider.behaves(fake.refusal(400, "response_format is not supported"), Answer(GOOD))
    looked = detector.look(passage, shelf)
    assert (looked.findings, looked.found_by, looked.error) == (DONE, "model", None)
    assert looked.attempts == 2
    held, free = provider.requests
    assert "response_format" in held.body
    assert "response_format" not in free.body


def test_ids_that_were_made_up_are_noted(
    provider: Provider, detector: ModelDetector, passage: Passage, shelf: Shelf
) -> None:
    """What is left out of a reply is said where the log keeps it; the rest was found."""
    provider.behaves(Answer('{"effort": 5, "mentions": [8, 4711]}'))
    looked = detector.look(passage, shelf)
    assert (looked.findings, looked.found_by) == (Findings(effort=5, mentions=(8,)), "model")
    assert looked.error == "mentions: there is no 4711 to choose."


def test_a_mind_that_can_not_be_had_costs_nothing(passage: Passage, shelf: Shelf) -> None:
    """Without a key the rules look, and the sentence says what to set."""
    name = "openai:gpt-5-mini"
    looked = ModelDetector(name, lambda: make_mind(name, env={}), by_rules).look(passage, shelf)
    assert (looked.findings, looked.found_by, looked.attempts) == (BY_RULES, "rules", 0)
    assert looked.model == name
    assert looked.error is not None
    assert "set OPENAI_API_KEY" in looked.error


def test_a_look_is_in_the_log_with_what_it_took(
    provider: Provider, detector: ModelDetector, tmp_path: Path
) -> None:
    """Its cost counts against the budget, its reply can be read, and what it found is there."""
    stage = Stage(tmp_path / "store").begins(None)
    stage.answers("We use SQLite from now on.", "Noted, and a good choice.")
    provider.behaves(Answer('{"learned": [{"statement": "We use SQLite."}]}', cost=0.002))
    attend(stage.log, stage.session, detector, stage.world)
    *_, look = [r.event for r in stage.history() if isinstance(r.event, DetectorInvoked)]
    assert (look.found_by, look.model, look.cost_usd) == ("model", detector.name, 0.002)
    assert look.raw is not None
    assert json.loads(unpacked(look.raw))["learned"]
    assert stage.state.shelf.spent == 0.002
    assert [(a.type, a.text) for a in stage.state.shelf.artifacts] == [("fact", "We use SQLite.")]


class Broken:
    """A mind that breaks in a way that nobody thought of."""

    name = "broken"
    dialect: Dialect = "full"

    def reply(self, request: Request, listener: Listener | None = None) -> Reply:
        """Break."""
        raise ZeroDivisionError(request, listener)


def test_not_even_a_bug_in_a_mind_is_raised(passage: Passage, shelf: Shelf) -> None:
    """A look may fail in any way and the dialogue goes on."""
    looked = ModelDetector("broken", Broken, by_rules).look(passage, shelf)
    assert looked.found_by == "rules"
    assert looked.error is not None
    assert "ZeroDivisionError" in looked.error


def test_a_message_without_an_answer_is_only_told_where_it_belongs(
    provider: Provider, mind: Mind, passage: Passage, shelf: Shelf
) -> None:
    """By rules, and at once: what it leaves is looked for when the answer is there."""

    def rules(_: Passage, __: Shelf) -> Findings:
        return Findings(effort=5, mentions=(8,), opened=Opened(goal="too early"), words="uploads")

    detector = ModelDetector(mind.name, lambda: mind, rules)
    looked = detector.look(passage._replace(answer=None), shelf)
    assert looked == Looked(Findings(effort=5, mentions=(8,), words="uploads"), "rules")
    assert provider.requests == []


def test_a_recorded_mind_answers_turn_by_turn(
    tmp_path: Path, passage: Passage, shelf: Shelf
) -> None:
    """Line n is for the user's n-th turn."""
    file = tmp_path / "looks.jsonl"
    effects = [{"effort": 3}, {"effort": 5}]
    file.write_text("\n".join(json.dumps({"text": json.dumps(one)}) for one in effects))
    mind = make_mind(f"script:{file}", env={})
    assert ask(mind, passage, shelf._replace(turn=1)).findings == Findings(effort=3)
    assert ask(mind, passage, shelf._replace(turn=2)).findings == Findings(effort=5)
    beyond = ask(mind, passage, shelf)
    assert beyond.findings is None
    assert beyond.error is not None
    assert "has none for iteration 4" in beyond.error
