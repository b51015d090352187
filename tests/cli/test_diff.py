"""Two moments side by side, on the command line."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft
from commands.forks import fork_session
from commands.notes import AddNote
from commands.presence import SetSignal
from commands.redaction import redact_events
from commands.sessions import ChangeConfig, start_session
from commands.thinking import InjectThought
from domain.events import DraftEmitted
from domain.ids import SessionId
from tests.cli.conftest import Mind, Ran
from tests.stories.cast import SATURDAY, Stage

A = "The Moon pulls the near water more than the Earth."
B = "The Moon pulls the near water more than the Earth, and the Earth more than the far water."
MAIN, WHAT_IF, DEEPER = SessionId("main"), SessionId("what-if"), SessionId("what-if/deeper")


class Store(NamedTuple):
    """A store on disk, and the command that looks into it."""

    stage: Stage
    mind: Mind
    where: Path
    forks: dict[SessionId, int]
    """Where branches left their parents."""

    def diff(self, *words: str) -> Ran:
        """What `mind diff` says."""
        return self.run("diff", *words)

    def run(self, *words: str) -> Ran:
        """What `mind` says."""
        return self.mind(*words, MIND_STORE=str(self.where))

    def at(self, session: SessionId) -> str:
        """The head of a session, as it is named."""
        return f"{session}@{self.stage.log.head(session).version}"

    def fork(self, parent: SessionId, child: SessionId, reason: str | None = None) -> None:
        """Branch off at the head."""
        log = self.stage.log
        self.forks[child] = log.head(parent).version
        fork_session(log, parent, self.forks[child], child, self.stage.world, reason=reason)


@pytest.fixture
def mind(within: Mind) -> Mind:
    """Commands within this process: there are many here."""
    return within


@pytest.fixture
def store(tmp_path: Path, mind: Mind) -> Iterator[Store]:
    """A message with two drafts that await a choice."""
    stage = Stage(tmp_path / "store", "main").begins("why two tides a day?", embedding_model="off")
    stage.runs(f"draft: {A}", f"draft: {B}", mode="background", iterations=2)
    yield Store(stage, mind, tmp_path / "store", {})
    stage.log.close()


@pytest.fixture
def parted(store: Store) -> Store:
    """`main` has accepted the second draft, `what-if` the first; both ask on.

    `what-if/deeper` leaves `what-if` before there is an answer.
    """
    stage = store.stage
    store.fork(MAIN, WHAT_IF, "less is more")
    stage.does(AcceptDraft(), SendMessage(text="and spring tides?"))
    stage.session = WHAT_IF
    stage.does(
        AcceptDraft(index=1),
        SetSignal(presence="engaged", status="reading", time=SATURDAY),
        ChangeConfig(key="temperature", value="0.7"),
        SendMessage(text="and spring tides?"),
        InjectThought(text="two moons?", by="user:ann"),
        AddNote(text="shorter"),
    )
    store.fork(WHAT_IF, DEEPER)
    stage.runs("draft: '+1'")
    stage.session = MAIN
    return store


def lines(ran: Ran) -> list[str]:
    """What was printed, without the space around it and in single spaces."""
    assert ran.code == 0, ran.err
    return [" ".join(line.split()) for line in ran.out.splitlines()]


def test_what_each_side_did(parted: Store) -> None:
    """Where they part, counts side by side, then what was done, `<` on the one side and `>`."""
    shown = lines(parted.diff("main", "what-if"))
    one, other = parted.at(MAIN), parted.at(WHAT_IF)
    at = parted.forks[WHAT_IF]
    assert shown[0].startswith(f"{one} and {other} part behind event {at} of main (run.stopped, ")
    for line in (
        f"< {one} > {other}",
        "messages 1 1",
        "drafts 0 1 (1 signal)",
        "accepted 1 1",
        "thoughts 0 1 (1 injected)",
        "iterations 0 1",
        "exc_1_000 why two tides a day?",
        "answer #2 | answer #1: -8 +0 words, 10 the same",
        "exc_3_000 and spring tides?",
        "open, no draft | open, no draft",
        f"before < {one} > {other}",
        "temperature off off 0.7",
        f"> {at + 1} forked: from main@{at}: less is more",
        f"> {at + 3} engaged, “reading” (Sat 10:30)",
        f"> {at + 6} (injected) two moons?",
        f"> {at + 7} shorter",
    ):
        assert line in shown
    assert not any(line.startswith("models") for line in shown)


def test_the_words_that_changed(parted: Store) -> None:
    """With --text, answers are shown word by word; without, only how many words differ."""
    gone = "[-, and the Earth more than the far water-]"
    assert gone in parted.diff("main", "what-if", "--text").out
    assert gone not in parted.diff("main", "what-if").out
    came = gone.replace("[-", "{+").replace("-]", "+}")
    assert came in parted.diff("what-if", "main", "--text").out


def test_one_moment_is_compared_with_now(parted: Store) -> None:
    """A ref is of the current session, whose newest event is the other side."""
    head = parted.stage.state.version
    for ref in ("~2", str(head - 2), f"main@{head - 2}"):
        assert lines(parted.diff(ref))[0] == f"main@{head} goes on from main@{head - 2}."
    other = parted.at(WHAT_IF)
    assert lines(parted.diff("iter:1", "-s", "what-if"))[0].startswith(f"{other} goes on from ")


def test_now_can_be_in_the_past(parted: Store) -> None:
    """`mind at` moves it."""
    shown = lines(parted.run("at", f"what-if@{parted.forks[DEEPER]}", "diff", "main"))
    assert shown[0].startswith(f"{parted.at(MAIN)} and what-if@{parted.forks[DEEPER]} part behind")


def test_forks_of_forks(parted: Store) -> None:
    """They part where the younger one began; with the grandparent, where the older one did."""
    head, at = parted.at(DEEPER), parted.forks[DEEPER]
    first = lines(parted.diff("what-if", "what-if/deeper"))[0]
    assert first.startswith(f"{parted.at(WHAT_IF)} and {head} part behind event {at} of what-if (")
    first = lines(parted.diff("what-if/deeper", "main"))[0]
    assert f"part behind event {parted.forks[WHAT_IF]} of main" in first


def test_the_same_moment_under_two_names(parted: Store) -> None:
    """Nothing is printed, and it is said why."""
    ran = parted.diff("what-if@5", "main@5")
    assert (ran.code, ran.out) == (0, "")
    assert "the same moment: what-if@5" in ran.err
    assert parted.diff("main", "head", "--json").data["exchanges"] == []


def test_sessions_with_nothing_in_common(parted: Store) -> None:
    """That is said, and all of both is compared, settings as they are."""
    other, model = SessionId("other"), "script:else"
    settings = {"model": model, "token_limit": 99, "embedding_model": "off"}
    stage = parted.stage
    start_session(stage.log, other, stage.world, title="Others", message="x?", settings=settings)
    stage.session = other
    stage.runs(f"draft: {A}")
    shown = lines(parted.diff("what-if", "other"))
    assert shown[0].endswith(
        f"{parted.at(other)} have no common ancestor: all of both is compared."
    )
    assert "token_limit 4000 99" in shown
    assert f"> 1 started: Others, {model}" in shown
    assert "< x?" not in shown
    assert parted.diff("what-if", "other", "--json").data["ancestor"] is None


def test_a_name_that_is_also_a_moment_is_ambiguous(store: Store) -> None:
    """Refused with both spellings, and each of these works."""
    for name in ("5", "head", "2026-05-01"):
        store.fork(MAIN, SessionId(name))
        refused = store.diff("main", name)
        assert refused.code == 2
        assert f"{name}@head or main@{name}" in refused.err
        assert lines(store.diff(f"{name}@head"))[0].startswith(f"{store.at(SessionId(name))} goes")
    assert store.diff("main@5").code == 0


def test_what_is_neither_a_session_nor_a_moment(parted: Store) -> None:
    """Refused with what is near."""
    for words, near in (
        (["waht-if"], "what-if"),
        (["nowhere@3"], "main"),
        (["main", "iter24"], "iter:24"),
        (["main@99"], str(parted.stage.state.version)),
        (["a b"], "names no moment"),
    ):
        refused = parted.diff(*words)
        assert (refused.code, refused.out) == (2, ""), words
        assert near in refused.err
        assert "Traceback" not in refused.err


def test_all_of_it_as_json(parted: Store) -> None:
    """For programs nothing is cut; --text adds the pieces."""
    data = parted.diff("main", "what-if", "--json").data
    assert data["ancestor"] == {"session": "main", "version": parted.forks[WHAT_IF]}
    one, other = data["one"], data["other"]
    assert (f"{one['session']}@{one['version']}", one["events"]) == (parted.at(MAIN), 2)
    assert other["kinds"]["draft.emitted"] == 1
    assert (other["work"]["outcomes"], other["work"]["iterations"]) == ({"ok": 1}, 1)
    assert [t["text"] for t in other["thoughts"]] == ["two moons?"]
    assert other["listed"]["presence"][0]["data"]["status"] == "reading"
    assert data["settings"] == [{"key": "temperature", "ancestor": None, "one": None, "other": 0.7}]
    first, second = data["exchanges"]
    assert (first["by"], first["verdict"], second["by"]) == ("exchange", "different", "question")
    assert first["words"] == {"removed": 8, "added": 0, "same": 10}
    assert (first["one"]["draft"]["text"], first["other"]["draft"]["text"]) == (B, A)
    assert "answer" not in first
    pieces = parted.diff("main", "what-if", "--text", "--json").data["exchanges"][0]["answer"]
    assert "".join(p["text"] for p in pieces if p["change"] != "added") == B


def test_long_lists_and_long_texts_are_cut(store: Store) -> None:
    """The newest lines of a list, a few words around a change; how many are left out is said."""
    store.fork(MAIN, WHAT_IF)
    for number in range(9):
        store.stage.does(InjectThought(text=f"thought {number}", by="user:ann"))
    for session, middle in ((MAIN, "tide"), (WHAT_IF, "ebb")):
        words = [f"w{n}" for n in range(300)]
        words[150] = middle
        store.stage.session = session
        store.stage.runs(f"draft: {' '.join(words)}")
    told = store.diff("main", "what-if", "--text").out
    assert "< … 3 before these" in told
    assert "thought 2" not in told
    assert "thought 3" in told
    assert "        […138 words…] w138 w139" in told
    assert "w149 [-tide-]{+ebb+} w151" in told
    assert "w162 […137 words…]\n" in told


def test_texts_can_not_command_the_terminal(store: Store) -> None:
    """Escape sequences are shown, never sent: in messages, thoughts, notes, and word by word."""
    bad = "\x1b]0;owned\x07\x1b[31mred\x9b0m\u202egnp"
    store.fork(MAIN, WHAT_IF)
    for session in (MAIN, WHAT_IF):
        store.stage.session = session
        store.stage.does(
            AcceptDraft(),
            SendMessage(text=f"{bad} {session}?"),
            AddNote(text=bad),
            InjectThought(text=bad, by="user:ann"),
            SetSignal(presence="absent", status=bad, time=SATURDAY),
        )
        draft = f"draft: {bad} {session}".encode("unicode_escape").decode()
        store.stage.runs(f'draft: "{draft}"')
    for words in ([], ["--text"], ["--json", "--text"]):
        shown = store.diff("main", "what-if", *words)
        assert shown.code == 0, shown.err
        assert "owned" in shown.out
        assert not {"\x1b", "\x07", "\x9b"} & set(shown.out)
        assert "\u202e" not in shown.out or "--json" in words


def test_what_was_redacted_shows_as_such(parted: Store) -> None:
    """An answer that is gone is neither the same as another one nor different from it."""
    log = parted.stage.log
    drafts = [r for r in log.read(MAIN) if isinstance(r.event, DraftEmitted)]
    redact_events(log, drafts, "private", parted.stage.world)
    shown = lines(parted.diff("main", "what-if", "--text"))
    assert "answer #2 | answer #1: redacted" in shown
    assert any("private" in line for line in shown)
    assert parted.diff("main", "what-if", "--json").data["exchanges"][0]["words"] is None
