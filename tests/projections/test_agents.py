"""Who there is, and what was said to them: the roster and the transcript of agents."""

from pathlib import Path

import pytest

from commands.agents.wishes import (
    EndWork,
    Happened,
    Kill,
    LoseTurn,
    Note,
    ResetContext,
    Undraft,
    WithdrawPrompt,
)
from domain.actors import Actor
from domain.agent_errors import NoSuchAgent
from domain.agents import Report
from domain.events import (
    ConversationCompacted,
    LoopNoticed,
    PeerAnswered,
    PeerAsked,
    WorkerKilled,
    WorkerReported,
)
from domain.recorded import Draw
from domain.streams import agent_stream
from projections.agents import TurnRow, roster, transcript
from tests.stories.agents import ANSWER, HERE, QUESTION, Office, harbour


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """A store with a session, a project, a task, and an agent after two turns."""
    return harbour(tmp_path / "store")


def names(office: Office, **wanted: object) -> list[str]:
    """Who is on the roster."""
    return [row.agent for row in roster(office.log, **wanted)]  # type: ignore[arg-type]


def outcomes(rows: list[TurnRow]) -> list[str]:
    """What became of each prompt."""
    return [row.outcome for row in rows]


# the roster


def test_a_row_tells_who_an_agent_is_and_what_it_took(office: Office) -> None:
    """As the state says."""
    (row,) = roster(office.log)
    assert (row.agent, row.role, row.project, row.task) == (
        *("analyst-1", "analyst"),
        *("harbour", "gauges"),
    )
    assert (row.way, row.model, row.client, row.parent) == ("conversation", "local", "cli", None)
    assert (row.turns, row.failed, row.lost, row.waiting) == (1, 1, 0, 0)
    assert (row.cost_usd, row.tokens_in, row.tokens_out) == (0.01, 100, 10)
    assert (row.context_pct, row.last_tokens_in, row.context_window) == (10.0, 100, 1000)
    assert row.at == office.life()[-1].at
    assert row.begun == office.life()[0].at
    assert row.ended is None


def test_a_row_tells_what_an_agent_does_now(office: Office) -> None:
    """Idle, waiting, working, and idle again."""

    def now() -> tuple[str, int]:
        row = roster(office.log)[0]
        return row.state, row.waiting

    assert now() == ("idle", 0)
    office.says("And in June?")
    assert now() == ("waiting", 1)
    office.starts()
    assert now() == ("working", 0)
    office.says("And in July?")
    assert now() == ("working", 1)
    office.does_to("analyst-1", LoseTurn(dead=HERE))
    assert now() == ("waiting", 1)


def test_the_newest_come_first_and_the_ended_on_request(office: Office) -> None:
    """However they ended; a word about a worker is not the end of who sent it."""
    office.drafts("reader-1", way="work", parent="analyst-1")
    office.drafts("reader-2", way="work", parent="analyst-1")
    office.drafts("analyst-2")
    assert names(office) == ["analyst-2", "reader-2", "reader-1", "analyst-1"]
    now = office.world.time
    office.does_to("analyst-2", Undraft(now=now))
    office.does_to("reader-1", EndWork(report=Report("success", "read"), now=now))
    office.does_to("reader-2", Kill(detail="enough", now=now))
    said = WorkerReported(worker="reader-1", status="success", summary="read")
    office.does_to("analyst-1", Note(event=said))
    assert names(office) == ["analyst-1"]
    assert names(office, all_=True) == ["analyst-2", "reader-2", "reader-1", "analyst-1"]
    ends = [row.ended and row.ended.how for row in roster(office.log, all_=True)]
    assert ends == ["undrafted", "killed", "reported", None]
    assert [row.state for row in roster(office.log, all_=True)] == ["ended"] * 3 + ["idle"]


def test_one_that_ended_before_its_worker_is_over(office: Office) -> None:
    """Though the newest end in its stream is another's."""
    office.drafts("reader-1", way="work", parent="analyst-1")
    office.does_to("analyst-1", Undraft(now=office.world.time))
    killed = WorkerKilled(worker="reader-1", reason="parent ended", detail="x")
    office.does_to("analyst-1", Note(event=killed))
    assert names(office) == ["reader-1"]


def test_a_roster_of_a_project_or_a_task(office: Office) -> None:
    """And of nobody where there is none."""
    office.opens("dunes", "grass")
    office.drafts("reader-1", project="dunes", task="grass")
    assert names(office, project="dunes") == ["reader-1"]
    assert names(office, project="harbour", task="gauges") == ["analyst-1"]
    assert names(office, task="grass") == ["reader-1"]
    assert names(office, project="dunes", task="gauges") == []


def test_a_store_without_agents_has_an_empty_roster(tmp_path: Path) -> None:
    """Sessions are none."""
    office = Office(tmp_path / "store")
    office.begins()
    assert roster(office.log) == []
    office.log.close()


# the transcript


def test_a_turn_has_its_prompt_its_tools_and_its_answer(office: Office) -> None:
    """And one that failed says why, with what had arrived."""
    first, second = transcript(office.log, "analyst-1")
    assert (first.prompt, first.turn, first.prompt_text, first.answer) == (2, 1, QUESTION, ANSWER)
    assert (first.outcome, first.reason, first.detail) == ("completed", None, None)
    (tool,) = first.tools
    assert (tool.name, tool.arguments, tool.result) == (
        "read_file",
        '{"month": "May"}',
        "none lags",
    )
    assert (first.tokens_in, first.tokens_out, first.cost_usd, first.latency_ms) == (
        *(100, 10),
        *(0.01, 500),
    )
    assert first.asked_at < (first.begun_at or 0) < (first.ended_at or 0) < second.asked_at
    assert (second.outcome, second.reason) == ("failed", "failed")
    assert (second.detail, second.answer) == ("HTTP 500 of the provider.", "Because")


def test_what_a_model_was_shown_counts_cached_parts(office: Office) -> None:
    """They were shown, too; where nobody can say, nobody does."""
    office.says("And in June?")
    office.hears("Neither.", cache_read=700, cache_creation=20)
    office.says("And in July?")
    office.hears("Neither.", tokens_in=None)
    assert [row.tokens_in for row in transcript(office.log, "analyst-1", count=2)] == [820, None]


def test_every_end_of_a_prompt_is_told(office: Office) -> None:
    """Lost, running, waiting and taken back; and unanswered once nobody is there."""
    office.says("lost")
    office.starts()
    office.does_to("analyst-1", LoseTurn(dead=HERE))
    office.says("goes on", sender="lead-1")
    back = office.says("taken back")
    office.says("waits")
    office.starts()
    office.does_to("analyst-1", WithdrawPrompt(prompt=back))
    rows = transcript(office.log, "analyst-1")
    assert outcomes(rows)[2:] == ["lost", "running", "withdrawn", "waiting"]
    assert [row.turn for row in rows[2:]] == [3, 4, None, None]
    assert [row.sender for row in rows[2:]] == [None, "lead-1", None, None]
    office.does_to("analyst-1", Undraft(now=office.world.time))
    rows = transcript(office.log, "analyst-1")
    assert outcomes(rows)[2:] == ["lost", "failed", "withdrawn", "unanswered"]
    assert rows[3].reason == "interrupted"


def test_a_turn_that_reported_without_an_answer_does_not_go_on(office: Office) -> None:
    """Its worker has ended, so it has."""
    office.drafts("reader-1", way="work")
    office.says("Read.", "reader-1")
    office.starts("reader-1")
    done = EndWork(report=Report("success", "read"), now=office.world.time)
    office.does_to("reader-1", done)
    (row,) = transcript(office.log, "reader-1")
    assert (row.outcome, row.turn) == ("unanswered", 1)
    assert [aside.kind for aside in row.asides] == ["worker.reported"]


def test_what_else_happened_stands_with_its_turn(office: Office) -> None:
    """Workers, peers, circles, the context, the end: in the order in which it came."""
    office.says("Ask the others.")
    turn, _ = office.starts()
    office.drafts("reader-1", way="work", parent="analyst-1")
    office.does_to(
        "analyst-1",
        Note(event=PeerAsked(agent="reader-2", prompt=2, text="And you?")),
        Note(event=PeerAnswered(agent="reader-2", prompt=2, text="No.", failed=True)),
        Note(event=WorkerReported(worker="reader-1", status="success", summary="read")),
        Happened(turn=turn, event=LoopNoticed(turn=turn, call="look {}", times=3)),
        Happened(turn=turn, event=ConversationCompacted(upto=1, pre_tokens=900)),
        LoseTurn(dead=HERE),
        ResetContext(reason="anew"),
        Undraft(now=office.world.time),
    )
    row = transcript(office.log, "analyst-1")[-1]
    assert [(aside.kind, aside.agent) for aside in row.asides] == [
        ("worker.dispatched", "reader-1"),
        ("peer.asked", "reader-2"),
        ("peer.answered", "reader-2"),
        ("worker.reported", "reader-1"),
        ("loop.noticed", None),
        ("conversation.compacted", None),
        ("context.reset", None),
        ("agent.undrafted", None),
    ]
    assert row.asides[2].text == "reader-2, prompt 2 (failed): No."
    assert row.outcome == "lost"
    versions = [aside.version for aside in row.asides]
    assert versions == sorted(versions)


def test_the_newest_turns_are_those_of_the_whole(office: Office) -> None:
    """Whatever waits, whatever goes on: a part is the end of all of it."""
    for n in range(4):
        office.says(f"prompt {n}")
    office.hears("first", tools=("look", "look"))
    office.says("and more")
    office.starts()
    office.says("and yet more")
    whole = transcript(office.log, "analyst-1")
    assert len(whole) == 8
    for count in range(1, 10):
        assert transcript(office.log, "analyst-1", count=count) == whole[-count:]
    assert transcript(office.log, "analyst-1", count=0) == []


def test_a_transcript_as_of_a_moment(office: Office) -> None:
    """What came later is not in it."""
    assert outcomes(transcript(office.log, "analyst-1", upto=8)) == ["completed", "failed"]
    assert outcomes(transcript(office.log, "analyst-1", upto=7)) == ["completed", "running"]
    assert outcomes(transcript(office.log, "analyst-1", upto=6, count=1)) == ["waiting"]
    assert outcomes(transcript(office.log, "analyst-1", upto=4)) == ["running"]
    assert transcript(office.log, "analyst-1", upto=1) == []


def test_few_turns_of_a_long_conversation_cost_little(office: Office) -> None:
    """The log is read back to the prompt that is asked for, and a page at most beyond."""
    for n in range(60):
        office.says(f"prompt {n}")
        office.hears(f"answer {n}")

    class Counting:
        """A log that counts what is read of it."""

        def __init__(self) -> None:
            self.events = 0

        def __getattr__(self, name: str) -> object:
            return getattr(office.log, name)

        def read(self, *args: object, **kwargs: object) -> object:
            for recorded in office.log.read(*args, **kwargs):  # type: ignore[arg-type]
                self.events += 1
                yield recorded

    counting = Counting()
    rows = transcript(counting, "analyst-1", count=3)  # type: ignore[arg-type]
    assert [row.answer for row in rows] == ["answer 57", "answer 58", "answer 59"]
    assert counting.events == 9


def test_what_was_taken_away_is_said_to_be(office: Office) -> None:
    """The rest can be read, here and in the state."""
    draw = Draw((), office.world.now(), Actor("user", "ann"), office.world.command_id())
    office.log.redact({agent_stream("analyst-1").id: [2, 5]}, "It named a patient.", draw)
    first, second = transcript(office.log, "analyst-1")
    assert (first.prompt_text, first.answer) == ("[redacted]", "[redacted]")
    assert (first.outcome, second.prompt_text) == ("completed", "Why does it?")
    assert roster(office.log)[0].turns == 1
    office.says("And now?")
    assert office.hears("Go on.").completed == 2


def test_nobody_has_no_transcript(office: Office) -> None:
    """The sentence names who may have been meant; a session is no agent."""
    with pytest.raises(NoSuchAgent, match="analyst-1"):
        transcript(office.log, "analyst-2")
    with pytest.raises(NoSuchAgent):
        transcript(office.log, "tides")
