"""What was said to agents is found like anything else, and only where agents are asked about."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from commands.agents.wishes import EndWork, Note
from commands.redaction import redact_events
from domain.agents import Report
from domain.events import WorkerReported
from domain.ids import SessionId
from projections.search.ask import search
from projections.search.hit import Branch, Everywhere, Hit, Scope
from projections.start import offer
from tests.stories.agents import ANSWER, QUESTION, Office, harbour

AGENT = SessionId("agent:analyst-1")


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    """A store with a session, a project, a task, and an agent after two turns."""
    office = harbour(tmp_path / "store")
    yield office
    office.log.close()


def found(office: Office, text: str, scope: Scope = Everywhere()) -> list[Hit]:
    """What a search by words finds."""
    return search(office.log, office.directory, text, scope=scope)


def test_prompts_and_answers_of_agents_are_found(office: Office) -> None:
    """Under the name of their stream, at the version that said it."""
    prompt, answer = sorted(found(office, "gauge weir"), key=lambda hit: hit.version)
    assert (prompt.kind, prompt.session, prompt.version, prompt.text) == (
        *("message", AGENT),
        *(2, QUESTION),
    )
    assert (answer.kind, answer.ref, answer.text) == ("answer", "agent:analyst-1@5", ANSWER)
    assert answer.artifact is None


def test_what_comes_later_is_found_later(office: Office) -> None:
    """The index catches up with agents as with sessions."""
    assert found(office, "spring") == []
    office.says("And at spring tide?")
    assert [hit.version for hit in found(office, "spring")] == [9]


def test_a_report_is_found_once(office: Office) -> None:
    """In the stream of the worker; the word about it elsewhere repeats it."""
    office.drafts("reader-1", way="work", parent="analyst-1")
    office.does_to(
        "reader-1",
        EndWork(report=Report("success", "Two anemometers agree."), now=office.world.time),
    )
    said = WorkerReported(worker="reader-1", status="success", summary="Two anemometers agree.")
    office.does_to("analyst-1", Note(event=said))
    (hit,) = found(office, "anemometers")
    assert (hit.kind, hit.session) == ("answer", "agent:reader-1")


def test_one_session_or_one_agent(office: Office) -> None:
    """A session has nothing of what agents said, and an agent nothing of a session."""
    assert {hit.session for hit in found(office, "tides lags")} == {"tides", AGENT}
    assert {hit.session for hit in found(office, "lags tides", Branch(office.session))} == {"tides"}
    assert {hit.session for hit in found(office, "lags tides", Branch(AGENT))} == {AGENT}
    assert found(office, "weir", Branch(AGENT, 4)) == []


def test_a_search_may_leave_agents_out(office: Office) -> None:
    """As where a session is looked for that can go on."""
    sessions = Everywhere(agents=False)
    assert {hit.session for hit in found(office, "lags tides", sessions)} == {"tides"}
    before = Everywhere(before=office.world.time, agents=False)
    assert {hit.session for hit in found(office, "lags tides", before)} == {"tides"}
    (chat,) = offer(office.log, found(office, "lags tides", sessions)).chats
    assert chat.session == "tides"


def test_what_was_taken_away_is_not_found(office: Office) -> None:
    """Neither in the log nor in the index."""
    assert found(office, "weir")
    redact_events(office.log, office.log.pick(AGENT, [5]), "It named a patient.", office.world)
    assert found(office, "weir") == []
    assert [hit.version for hit in found(office, "gauge")] == [2]
