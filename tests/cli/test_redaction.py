"""`mind redact`: what it asks before, what it takes, and what all other verbs show afterwards."""

from pathlib import Path

import pytest

from commands.artifacts.efforts import OpenEffort
from commands.artifacts.facts import LearnFact
from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft
from commands.eventlog import EventLog
from commands.eventlog.redaction import redact
from commands.forks import fork_session
from commands.redaction import redact_events
from commands.sessions import LabelMoment
from commands.thinking import InjectThought
from domain.ids import SessionId
from domain.recorded import Draw, Recorded
from tests.cli.conftest import Mind
from tests.stories.cast import Stage

MAIN = SessionId("main")
WORD = "Bay Street 7 in Moncton"
REASON = ("--reason", "She asked us to.")


@pytest.fixture
def mind(within: Mind) -> Mind:
    """Within this process: these tests ask many commands."""
    return within


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """An accepted exchange and an open one, in which an address was given away, and a branch."""
    stage = Stage(tmp_path / "thinking", "main").begins("why two tides a day?")
    stage.runs(f"thoughts: [the moon]\ndraft: Because of {WORD}, I think.")
    stage.runs("draft: Because the moon pulls on both sides.")
    stage.does(AcceptDraft(index=2), SendMessage(text="and what is the sun's part in it?"))
    stage.does(InjectThought(text=f"she lives in {WORD}", by="user:ann"))
    stage.does(LabelMoment(label="here", version=4))
    stage.does(OpenEffort(goal="explain the moon"), LearnFact(statement="the sun is farther"))
    stage.runs("draft: It does the same from farther away.")
    fork_session(stage.log, MAIN, stage.state.version, SessionId("b"), stage.world)
    return stage


def redacted(stage: Stage) -> list[str]:
    """Which events are, by kind and version."""
    return [f"{r.event.kind}@{r.version}" for r in stage.log.feed() if r.redacted]


def at(stage: Stage, kind: str, which: int = 0) -> int:
    """The version of the n-th event of a kind."""
    return [r for r in stage.history() if r.event.kind == kind][which].version


def test_a_draft_is_taken_away(installed: Mind, mind: Mind, stage: Stage, tmp_path: Path) -> None:
    """With the reply it came from; what is listed is data for people, and goes to stderr."""
    store = str(tmp_path / "thinking")
    done = installed("redact", "exc_1:1", *REASON, "--yes", "--only", MIND_STORE=store)
    assert (done.code, done.out) == (0, "")
    draft = at(stage, "draft.emitted")
    assert f"main@{draft}  draft.emitted  #1: Because of Bay Street 7" in done.err
    assert "Took away the content of 2 events." in done.err
    assert redacted(stage) == [f"mind.invoked@{draft - 2}", f"draft.emitted@{draft}"]
    again = mind("redact", "exc_1:1", *REASON, "--yes", MIND_STORE=store)
    assert again.code == 2
    assert again.err.splitlines()[-1] == (
        f"mind: Event {draft} of session 'main' (draft.emitted) is redacted already."
    )
    assert len(redacted(stage)) == 2


def test_the_same_text_elsewhere(mind: Mind, stage: Stage, tmp_path: Path) -> None:
    """It is named, and nothing happens until somebody says what is to become of it."""
    store = str(tmp_path / "thinking")
    stage.session = SessionId("b")
    stage.does(InjectThought(text=WORD, by="user:ann"))
    head = stage.state.version
    refused = mind("redact", "head", *REASON, "--yes", MIND_STORE=store, MIND_SESSION="b")
    assert refused.code == 2
    assert "stands in 3 other events (main@" in refused.err
    assert "--everywhere" in refused.err
    assert "--only" in refused.err
    assert redacted(stage) == []
    words = ("redact", str(head), *REASON, "--yes", "--everywhere", "--json", "-s", "b")
    done = mind(*words, MIND_STORE=store)
    assert done.code == 0, done.err
    assert done.data["gone"] is True
    assert len(done.data["redacted"]) == 4
    assert done.data["redacted"][0] == f"b@{head}"
    content = b"".join(f.read_bytes() for f in Path(store).iterdir())
    assert WORD.encode() not in content
    assert mind("verify", MIND_STORE=store).code == 0


def test_a_whole_exchange(mind: Mind, stage: Stage, tmp_path: Path) -> None:
    """By its short name as well; a second time there is nothing left."""
    store = str(tmp_path / "thinking")
    done = mind("redact", "exc_1", *REASON, "-y", "--everywhere", MIND_STORE=store)
    assert done.code == 0, done.err
    kinds = [name.partition("@")[0] for name in redacted(stage)]
    assert kinds == ["message.sent", *["mind.invoked", "draft.emitted"] * 2]
    again = mind("redact", "exc_1", *REASON, "-y", MIND_STORE=store)
    assert again.code == 2
    assert "All of exc_1 is redacted already" in again.err
    unknown = mind("redact", "exc_7", *REASON, "-y", MIND_STORE=store)
    assert unknown.code == 2
    assert "Traceback" not in unknown.err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("exc_1:1", "--only", *REASON), "say --yes where nobody can be asked"),
        (("exc_1:1", "--only", "--yes", "--reason", " "), "reason"),
        (("exc_1_000", "--yes", *REASON, "--session", "nowhere"), "nowhere"),
        (("1", "--only", "--yes", *REASON, "--store", "nowhere"), "nowhere"),
        (("draft:9", "--yes", *REASON), "draft:9"),
        (("@nothing", "--yes", *REASON), "nothing"),
    ],
)
def test_what_is_refused(
    mind: Mind, stage: Stage, tmp_path: Path, words: tuple[str, ...], why: str
) -> None:
    """In one sentence, with nothing changed."""
    before = list(stage.log.feed())
    done = mind("redact", *words, MIND_STORE=str(tmp_path / "thinking"))
    assert done.code == 2
    assert why in done.err
    assert "Traceback" not in done.err
    assert list(stage.log.feed()) == before


def test_the_past_and_what_says_nothing(mind: Mind, stage: Stage, tmp_path: Path) -> None:
    """`mind at` takes nothing away, nor does anything from an event without words."""
    store, before = str(tmp_path / "thinking"), list(stage.log.feed())
    past = mind("at", "5", "redact", "3", *REASON, "--yes", MIND_STORE=store)
    assert past.code == 2
    assert "The past can only be read" in past.err
    accepted = str(at(stage, "draft.accepted"))
    bare = mind("redact", accepted, *REASON, "--yes", MIND_STORE=store)
    assert bare.code == 2
    assert "holds nothing that people or minds said" in bare.err
    assert list(stage.log.feed()) == before


VERBS = (
    ("log", "-n", "0"),
    ("log", "-n", "0", "--json"),
    ("history", "--full"),
    ("history", "--json"),
    ("history", "exc_1"),
    ("drafts", "--full"),
    ("drafts", "--json", "--exchange", "exc_1_000"),
    ("drafts", "--exchange", "exc_1_000", "--full"),
    ("thoughts", "--full"),
    ("thoughts", "-n", "0", "--json"),
    ("status",),
    ("status", "--json"),
    ("context",),
    ("sessions",),
    ("sessions", "--json"),
    ("sessions", "--graph"),
    ("effort", "list"),
    ("fact", "list", "--json"),
    ("artifact", "list", "--all"),
    ("artifact", "graph"),
    ("artifact", "graph", "--html"),
    ("dashboard",),
    ("dashboard", "--json"),
    ("cluster", "status"),
    ("cluster", "status", "--json"),
    ("signal",),
    ("note",),
    ("audit",),
    ("audit", "--json"),
    ("verify",),
    ("head",),
    ("config",),
    ("at", "iter:1", "drafts", "--full"),
    ("at", "iter:2", "status"),
    ("at", "exc_1_000", "history", "--full"),
    ("at", "iter:1", "thoughts", "--full"),
    ("at", "5", "cluster", "status"),
    ("at", "iter:3", "prompt"),
    ("drafts", "diff", "1", "2", "--exchange", "exc_1_000"),
    ("diff", "3", "head"),
    ("why", "draft:1"),
    ("why", "exc_1:1"),
    ("why", "3"),
)


@pytest.mark.parametrize("session", ["main", "b"])
def test_every_other_verb(mind: Mind, stage: Stage, session: str) -> None:
    """Shows that something was redacted, or says in a sentence why not; never a word of it."""
    everything = [r for r in stage.log.feed() if _said(r)]
    redact_events(stage.log, everything, "private", stage.world)
    store = str(stage.log.place.home)
    versions = range(1, stage.state.version + 1)
    shows = [("show", str(version), "--json") for version in versions]
    whys = [("why", str(version)) for version in versions]
    marked = 0
    for words in (*VERBS, *shows, *whys):
        done = mind(*words, MIND_STORE=store, MIND_SESSION=session)
        assert done.code == 0 or done.err.startswith("mind: "), (words, done)
        shown = done.out + done.err
        marked += "redacted" in shown
        for word in ("Bay Street", "moon", "the sun", "farther"):
            assert word not in shown, words
    assert marked > len(shows) // 2


def _said(recorded: Recorded) -> bool:
    return recorded.event.redacted() != recorded.event


def test_what_another_program_still_reads(mind: Mind, stage: Stage, tmp_path: Path) -> None:
    """`mind doctor` clears away what a redaction had to leave."""
    store = tmp_path / "thinking"
    thought = [r for r in stage.history() if r.event.kind == "thought.added"][-1]
    log, world = stage.log, stage.world
    draw = Draw((), world.now(), world.actor, world.command_id())
    redact(log._recorder, log._mapper, log._lineage, {MAIN: [thought.version]}, "x", draw)
    text = b"she lives in Bay Street"
    assert text in (store / "log.db-wal").read_bytes()
    done = mind("doctor", MIND_STORE=str(store))
    assert "redacted" not in done.out
    assert text not in b"".join(f.read_bytes() for f in store.iterdir())
    with EventLog(store) as other:
        assert not [f for verdict in other.verify() for f in verdict.findings]
