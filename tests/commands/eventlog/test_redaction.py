"""Redaction: the content is gone from every file, and what was proved before stays proved."""

import random
import resource
import subprocess
import sys
import threading
import zlib
from hashlib import sha256
from pathlib import Path

import pytest

from commands.eventlog import EventLog
from commands.eventlog.log import SNAPSHOT_FILE
from commands.eventlog.recorder import Mark
from commands.eventlog.redaction import redact
from commands.eventlog.snapshots import EVERY, Snapshot, Snapshots
from commands.eventlog.states import States
from domain.errors import NoSuchMoment, NoSuchSession, NothingChanges, StoreIsReadOnly
from domain.events import (
    REDACTED,
    DraftAccepted,
    Event,
    EventRedacted,
    ExchangesPruned,
    MindInvoked,
    ReplayBegun,
    SessionArchived,
    SessionForked,
    SessionLabelled,
    SessionRenamed,
    SessionRestored,
    SessionStarted,
    ThoughtAdded,
)
from domain.events.thinking import packed
from domain.ids import SessionId
from domain.recorded import BEGINNING
from domain.session import Session, evolve
from tests.commands.eventlog.stores import (
    MAIN,
    begin,
    branch,
    draw,
    grow,
    pool,
    raw,
    started,
    thought,
)
from tests.domain.happened import (
    asked,
    calibrated,
    clustered,
    configured,
    drafted,
    embedded,
    formed,
    invoked,
    merged,
    noted,
    present,
    run_began,
    run_ended,
    seen,
    signalled,
    split,
    with_vector,
)
from tests.domain.happened import thought as thinking

ROOT = Path(__file__).parents[3]
FORK, LEAF, LOW = SessionId("fork"), SessionId("fork/leaf"), SessionId("fork/low")

NONE_YET = Mark("", b"")
"""Of a store in which nothing is redacted."""


def secret(seed: object, length: int = 64) -> str:
    """A text that nobody else has, and that can't be made smaller."""
    digests = (sha256(f"{seed}/{n}".encode()).hexdigest() for n in range(length // 64 + 1))
    return "".join(digests)[:length]


def held(directory: Path, text: str) -> list[str]:
    """Where a text, or a longer piece of it, still is: files, or states that were kept."""
    pieces = {text[at : at + 48].encode() for at in range(0, len(text), 48) if len(text) - at > 11}
    where = [
        file.name
        for file in sorted(directory.iterdir())
        if file.is_file() and any(piece in file.read_bytes() for piece in pieces)
    ]
    if (directory / SNAPSHOT_FILE).exists():
        with raw(directory, SNAPSHOT_FILE) as connection:
            for (state,) in connection.execute("SELECT state FROM states").fetchall():
                if any(piece in zlib.decompress(state) for piece in pieces):
                    where.append("a kept state")
    return where


def taken(log: EventLog, *versions: int, session: str = MAIN, reason: str = "private") -> bool:
    """Redact events of one stream; whether they are gone from the files."""
    return log.redact({SessionId(session): versions}, reason, draw(wish=(1 << 70) + log.position()))


def rows(log: EventLog) -> list[tuple[object, ...]]:
    """All that the table holds."""
    with log._recorder.reading() as cursor:
        cursor.execute("SELECT rowid, * FROM stored_events ORDER BY rowid")
        return cursor.fetchall()


def folded(log: EventLog, session: SessionId) -> list[Session]:
    """Every state of a session, folded from nothing but its events."""
    states: list[Session] = []
    for recorded in log.read(session):
        states.append(evolve(states[-1] if states else None, recorded))
    return states


def agrees(log: EventLog, truth: dict[SessionId, list[Session]], step: int = 13) -> None:
    """The states at many versions, and the present ones, are those."""
    for session, states in truth.items():
        assert log.state(session) == states[-1]
        edges = {n + d for n in range(0, len(states), EVERY) for d in (-1, 0, 1)}
        edges |= {n + d for segment in log.path(session) for n in (segment.after,) for d in (0, 1)}
        for version in sorted({*edges, *range(1, len(states) + 1, step)}):
            if 1 <= version <= len(states):
                assert log.state(session, version) == states[version - 1], (session, version)


def findings(log: EventLog) -> list[str]:
    """What a whole proof finds."""
    return [finding.sentence for verdict in log.verify() for finding in verdict.findings]


@pytest.fixture
def family(log: EventLog) -> EventLog:
    """``main`` with kept states, a fork behind them, a fork of that, and one far below it."""
    begin(log, events=5)
    for _ in range(3):
        grow(log, MAIN, EVERY - 10)
        log.state(MAIN)
    branch(log, MAIN, EVERY + 30, FORK)
    grow(log, FORK, EVERY + 5, tag="f")
    log.state(FORK)
    branch(log, FORK, 2 * EVERY, LEAF)
    grow(log, LEAF, 4, tag="l")
    branch(log, FORK, 7, LOW)
    grow(log, LOW, 2, tag="w")
    return log


# gone from the files


@pytest.mark.parametrize("length", [12, 100, 4_000, 70_000])
def test_no_file_holds_the_text(log: EventLog, tmp_path: Path, length: int) -> None:
    """Whatever its length, overflow pages included: no log, no WAL, no kept state."""
    text, at = secret("a", length), EVERY - 5
    begin(log, events=at - 1)
    log.append(MAIN, at - 1, draw(thought(text), wish=5))
    grow(log, MAIN, 10)
    log.state(MAIN)
    assert {"log.db-wal", "a kept state"} <= set(held(tmp_path, text))
    assert taken(log, at)
    assert held(tmp_path, text) == []
    grow(log, MAIN, EVERY)
    assert log.state(MAIN).pool.total == 2 * EVERY + 4
    assert held(tmp_path, text) == []
    log.close()
    assert held(tmp_path, text) == []
    with EventLog(tmp_path) as again:
        (recorded,) = again.pick(MAIN, [at])
        assert recorded.redacted
        assert recorded.event == thought(REDACTED)
        assert findings(again) == []


def test_a_text_that_was_checkpointed(tmp_path: Path) -> None:
    """What is in the main file since long ago is overwritten there, on all of its pages."""
    texts = [secret(n, 9_000 * n) for n in range(1, 5)]
    with EventLog.create(tmp_path) as log:
        begin(log)
        log.append(MAIN, 1, draw(*map(thought, texts), wish=1))
        grow(log, MAIN, 40)
    assert all("log.db" in held(tmp_path, text) for text in texts)
    with EventLog(tmp_path) as log:
        assert taken(log, 2, 3, 4, 5)
        assert [held(tmp_path, text) for text in texts] == [[]] * 4
        assert findings(log) == []


@pytest.mark.parametrize(
    ("seed", "most"), [(16, 130), *(pytest.param(n, 400, marks=pytest.mark.slow) for n in (3, 49))]
)
def test_rows_that_were_moved_by_the_redaction_of_others(
    log: EventLog, seed: int, most: int
) -> None:
    """A stub of another length moves its neighbours: no copy of them stays where they were."""
    chance = random.Random(seed)  # noqa: S311 — repeatable
    begin(log)
    texts: dict[int, str] = {}
    for _ in range(20):
        after = len(texts) + 1
        for version in range(after + 1, after + 21):
            length = chance.choice((13, 16, 24, 64))
            long = chance.choice((640, 6_400, 19_200)) if chance.random() < 0.1 else 0
            texts[version] = secret(f"{seed}/{version}", length) + secret(version, long)
        some = [texts[version] for version in range(after + 1, after + 21)]
        log.append(MAIN, after, draw(*map(thought, some), wish=after))
    order = list(texts)
    chance.shuffle(order)
    done = 0
    while done < most:
        few = chance.choice((1, 3, 10))
        assert taken(log, *order[done : done + few])
        done += few
        left = (log.place.home / "log.db").read_bytes()
        assert [v for v in order[:done] if texts[v][:64].encode() in left] == []


def test_the_compressed_reply_of_a_mind(log: EventLog, tmp_path: Path) -> None:
    """Raw output lies compressed in the log: those very bytes are gone, and so is the text."""
    text = " ".join(["thoughts: [she lives in Bay Street, number", *map(str, range(400)), "]"])
    reply = packed(text)
    assert isinstance(reply, bytes)
    begin(log)
    log.append(MAIN, 1, draw(asked(), invoked(1, raw=reply, error="she said", repairs=("her",))))
    pieces = [reply[at : at + 24] for at in range(0, len(reply) - 24, 24)]
    before = (tmp_path / "log.db-wal").read_bytes()
    assert all(piece in before for piece in pieces)
    assert taken(log, 3)
    after = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert not [piece for piece in pieces if piece in after]
    (recorded,) = log.pick(MAIN, [3])
    assert isinstance(recorded.event, MindInvoked)
    assert recorded.event.output == REDACTED
    assert recorded.event.error == REDACTED
    assert recorded.event.repairs == ()
    assert recorded.event.iteration == 1


def test_a_vector_is_zeros_of_the_same_length(log: EventLog) -> None:
    """A text can be guessed from its vector, which goes as well; its place is kept."""
    begin(log)
    log.append(MAIN, 1, draw(thinking("a", **with_vector(0.5, 0.25, -1.0)), thinking("b"), wish=1))
    log.append(MAIN, 3, draw(embedded(3, 0.5, 0.25, 2.0), wish=2))
    assert taken(log, 2, 4)
    late, early = (r.event for r in log.pick(MAIN, [4, 2]))
    assert early.embedding == late.embedding == bytes(6)  # type: ignore[union-attr]
    assert early.dimension == late.dimension == 3  # type: ignore[union-attr]


@pytest.mark.parametrize("where", ["own", "own/b"])
def test_every_kept_state_that_held_it(log: EventLog, tmp_path: Path, where: str) -> None:
    """A title stands in all states: those of parent and forks go, and new ones are right."""
    text = secret("title")
    log.begin(SessionId("own"), BEGINNING, draw(started(text)))
    for _ in range(3):
        grow(log, "own", EVERY)
        log.state(SessionId("own"))
    branch(log, "own", 2 * EVERY, "own/b")
    grow(log, "own/b", 2 * EVERY)
    log.state(SessionId("own/b"))
    assert held(tmp_path, text).count("a kept state") >= 4
    with raw(tmp_path, SNAPSHOT_FILE) as connection:
        states = [bytes(row[0]) for row in connection.execute("SELECT state FROM states")]
    holder = log.pick(SessionId(where), [1])[0].session
    assert taken(log, 1, session=holder)
    assert held(tmp_path, text) == []
    left = b"".join(file.read_bytes() for file in tmp_path.glob(f"{SNAPSHOT_FILE}*"))
    pieces = [state[at : at + 24] for state in states for at in range(0, len(state) - 24, 24)]
    assert not [piece for piece in pieces if piece in left], "compressed, they are still states"
    with EventLog(tmp_path) as other:
        for name in (SessionId("own"), SessionId("own/b")):
            for reader in (log, other):
                assert reader.state(name).title == REDACTED
                assert reader.state(name, 2 * EVERY).title == REDACTED
    assert held(tmp_path, text) == []


def test_a_text_in_the_states_of_forks_alone(family: EventLog, tmp_path: Path) -> None:
    """What a fork said is in its own kept states and in those of its forks, and leaves them all."""
    text = secret("fork")
    grow(family, FORK, EVERY - 10)
    at = family.head(FORK).version
    family.append(FORK, at, draw(thought(text), wish=1 << 80))
    branch(family, FORK, at + 1, "fork/late")
    for name in (FORK, SessionId("fork/late")):
        for _ in range(3):
            grow(family, name, EVERY // 3)
            family.state(name)
    assert held(tmp_path, text).count("a kept state") >= 1
    assert taken(family, at + 1, session=FORK)
    assert held(tmp_path, text) == []


# what stays


def test_all_but_the_content_stays(family: EventLog) -> None:
    """Positions, hashes, times, actors, wishes and causes: all that others rely on."""
    before = {name: list(family.rows(name)) for name in family.sessions()}
    recorded = {name: list(family.read(name)) for name in family.sessions()}
    assert taken(family, 1, 3, EVERY, EVERY + 5)
    assert taken(family, EVERY + 33, session=FORK)
    for name, old in before.items():
        new = list(family.rows(name, upto=old[-1][1]))
        assert [row[:4] for row in new] == [row[:4] for row in old]
        assert [row[4][:32] for row in new] == [row[4][:32] for row in old]
        for was, now in zip(recorded[name], family.read(name), strict=False):
            assert now._replace(event=was.event, redacted=False) == was
            assert now.redacted == (now.event != was.event)
    assert findings(family) == []


def test_each_redaction_is_an_event(family: EventLog) -> None:
    """At the end of the stream that held it: which event, its kind, both digests and why."""
    old = family.pick(MAIN, [3])[0]
    payload = next(family.rows(MAIN, after=2, upto=3))[4][32:]
    last = family.head(MAIN).version
    log_at = family.newest(MAIN, None)
    assert log_at is not None
    family.redact(
        {MAIN: [3, 4]}, "she asked for it", draw(wish=(1 << 90), at=log_at.at - 5_000_000)
    )
    first, second = family.read(MAIN, after=last)
    stub = next(family.rows(MAIN, after=2, upto=3))[4][32:]
    assert first.event == EventRedacted(
        version=3,
        what=old.event.kind,
        digest=sha256(payload).digest(),
        stub=sha256(stub).digest(),
        reason="she asked for it",
    )
    assert (first.version, first.cause, second.cause) == (last + 1, 3, 4)
    assert first.command == second.command
    assert first.at >= log_at.at, "time never runs backwards within a session"


def test_what_a_fork_inherits_is_redacted_where_it_is_held(family: EventLog) -> None:
    """The word of it is in the ancestor's stream; the forks' own streams do not grow."""
    heads = {name: family.head(name) for name in family.sessions()}
    (inherited,) = family.pick(LEAF, [20])
    assert inherited.session == MAIN
    assert taken(family, 20, session=inherited.session)
    for name in (FORK, LEAF, LOW):
        assert family.head(name) == heads[name]
    for name in (FORK, LEAF):
        assert family.pick(name, [20])[0].redacted
    assert family.head(MAIN).version == heads[MAIN].version + 1
    assert [r.event.kind for r in family.read(LEAF, kinds=["event.redacted"])] == []


# states


@pytest.mark.parametrize("step", [29, pytest.param(1, marks=pytest.mark.slow)])
def test_states_are_the_fold_of_what_is_left(family: EventLog, tmp_path: Path, step: int) -> None:
    """Of parent, forks and forks of forks, however they are come by, in every open log."""
    with EventLog(tmp_path) as other:
        for log in (family, other):
            for name in log.sessions():
                log.state(name)
        for versions, name in (((1, 2, 9, EVERY, EVERY + 29), MAIN), ((EVERY + 40,), FORK)):
            assert taken(family, *versions, session=name)
        truth = {name: folded(family, name) for name in family.sessions()}
        gone = {"t2", "t9", f"t{EVERY}", f"t{EVERY + 29}", f"f{EVERY + 40}"}
        for states in truth.values():
            assert not gone & {t.text for state in states for t in state.pool.active}
            assert {state.title for state in states} == {REDACTED}
        agrees(other, truth, step)
        agrees(family, truth, step)
    with EventLog(tmp_path) as fresh:
        agrees(fresh, truth, step)
        agrees(fresh, truth, step)
    for file in tmp_path.glob(f"{SNAPSHOT_FILE}*"):
        file.unlink()
    with EventLog(tmp_path, writable=False) as cold:
        agrees(cold, truth, step)


def test_a_log_that_was_open_sees_it_at_its_next_look(family: EventLog, tmp_path: Path) -> None:
    """A state that another process remembers is not trusted any more, of whatever session."""
    with EventLog(tmp_path) as other:
        for name in other.sessions():
            other.state(name)
        before = other.state(LOW)
        assert taken(family, 6)
        assert "t6" in {t.text for t in before.pool.active}
        assert "t6" not in pool(other, LOW)
        assert other.state(LOW).pool.total == before.pool.total
        assert other.state(LOW, 7) == folded(other, LOW)[6]


def test_an_append_by_whoever_has_not_looked_yet(log: EventLog, tmp_path: Path) -> None:
    """It goes through on a fork that did not move, and what it remembers is kept nowhere."""
    text, name = secret("title"), SessionId("b")
    log.begin(MAIN, BEGINNING, draw(started(text)))
    grow(log, MAIN, 5)
    branch(log, MAIN, 3, name)
    with EventLog(tmp_path) as other:
        version = other.state(name).version
        assert taken(log, 1)
        more = [thought(f"more {n}") for n in range(EVERY + 1)]
        other.append(name, version, draw(*more, wish=1 << 81))
        assert held(tmp_path, text) == []
        assert other.state(name) == folded(other, name)[-1]
        assert other.state(name).title == REDACTED
        assert held(tmp_path, text) == []


def test_a_redaction_between_a_look_and_the_next(log: EventLog, tmp_path: Path) -> None:
    """Who has just asked whether anything was redacted, and then reads that it was, looks again."""
    begin(log, events=9)
    snapshots = Snapshots(tmp_path / "none.db", writable=False)
    states = States(snapshots, log._lineage, log._mapper, log.rows, lambda _: [NONE_YET])
    assert "t5" in {t.text for t in states.newest(MAIN).state.pool.active}
    assert taken(log, 5)
    assert states.newest(MAIN).state == folded(log, MAIN)[-1]


def test_a_stale_state_that_was_kept_later_is_never_used(family: EventLog, tmp_path: Path) -> None:
    """Even if one was written behind the redaction: nobody reads it, and the next one clears up."""
    text = secret("stale")
    family.append(MAIN, family.head(MAIN).version, draw(thought(text), wish=1 << 80))
    at = family.head(MAIN).version
    stale = Snapshot(family.state(MAIN), family.head(MAIN).hash)
    with EventLog(tmp_path) as other:
        other.state(MAIN)
        assert taken(family, at)
        other._states._snapshots.save(MAIN, [stale], NONE_YET)
        assert held(tmp_path, text) == ["a kept state"]
        for log in (family, other):
            assert text not in pool(log, MAIN, at)
            assert text not in pool(log, MAIN)
    with EventLog(tmp_path) as fresh:
        assert text not in pool(fresh, MAIN)
        assert held(tmp_path, text) == []


def test_killed_right_after_the_commit(family: EventLog, tmp_path: Path) -> None:
    """Whoever opens the store next never sees an old state, and drops them all."""
    text = secret("killed")
    family.append(MAIN, family.head(MAIN).version, draw(thought(text), wish=1 << 80))
    at = family.head(MAIN).version
    for _ in range(3):
        grow(family, MAIN, 12)
        family.state(MAIN)
    redact(family._recorder, family._mapper, family._lineage, {MAIN: [at]}, "x", draw(wish=1 << 81))
    assert "a kept state" in held(tmp_path, text)
    with EventLog(tmp_path) as other:
        assert text not in pool(other, MAIN)
        assert other.state(MAIN) == folded(other, MAIN)[-1]
        assert "a kept state" not in held(tmp_path, text)
        assert SNAPSHOT_FILE not in held(tmp_path, text)
        assert other.forget()
        assert held(tmp_path, text) == []


def test_the_cache_works_on_after_a_redaction(family: EventLog, tmp_path: Path) -> None:
    """States are kept again, of the history as it is now, in this process and in later ones."""
    assert taken(family, 9)
    for log in (family, EventLog(tmp_path)):
        with log:
            grow(log, MAIN, EVERY)
            log.state(MAIN)
            kept = [state for _, state in log.snapshots(MAIN) if state is not None]
            assert kept
            assert "t9" not in {t.text for state in kept for t in state.pool.active}


# refusals


def bare() -> list[Event]:
    """Events of which nobody ever said a word."""
    return [
        configured("active_pool_size", 100, 50),
        seen(1),
        clustered(3, None),
        formed(1, 3, 4),
        merged(1, 2),
        split(1, 2, 3),
        calibrated(3),
        signalled("hard", 1),
        run_began(),
        SessionRestored(),
        ReplayBegun(source="main", after=1, upto=2),
        ExchangesPruned(exchanges=()),
        DraftAccepted(exchange=asked().exchange, index=1),
        run_ended(),
        SessionArchived(),
        embedded(3, of=2),
        invoked(1),
    ]


@pytest.mark.parametrize("event", bare(), ids=lambda event: event.kind)
def test_where_nothing_was_said_nothing_can_go(log: EventLog, event: Event) -> None:
    """Decisions and marks hold the history together: they are refused, and nothing is recorded."""
    begin(log)
    log._recorder.insert_events(log._mapper.sealed(log.head(MAIN), MAIN, draw(event, wish=1))[0])
    before = rows(log)
    with pytest.raises(NothingChanges, match=rf"Event 2 of session 'main' \({event.kind}\)"):
        taken(log, 2)
    assert rows(log) == before


@pytest.mark.parametrize(
    "event",
    [
        asked("private"),
        drafted(1, "private and long enough"),
        thought("private"),
        noted("private"),
        present("engaged", "private"),
        SessionLabelled(label="private", version=1),
        SessionRenamed(title="private"),
        SessionArchived(reason="private"),
        run_ended().model_copy(update={"detail": "private"}),
        invoked(1, raw="private", error="private", repairs=("private",), outcome="failed"),
    ],
    ids=lambda event: event.kind,
)
def test_whatever_was_said_can_go_once(log: EventLog, event: Event, tmp_path: Path) -> None:
    """Any kind of event with words in it loses them, and is refused the second time."""
    begin(log)
    log._recorder.insert_events(log._mapper.sealed(log.head(MAIN), MAIN, draw(event, wish=1))[0])
    assert taken(log, 2, reason="x")
    (recorded,) = log.pick(MAIN, [2])
    assert recorded.redacted
    assert "private" not in repr(recorded.event)
    assert b"private" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())
    before = rows(log)
    with pytest.raises(NothingChanges, match="redacted already"):
        taken(log, 2)
    assert rows(log) == before
    assert findings(log) == []


def test_the_reason_of_a_redaction_can_go_too(log: EventLog) -> None:
    """It is an event like others; what it proves stays proved."""
    begin(log, events=3)
    assert taken(log, 2, reason="because of Ann")
    assert taken(log, 4, reason="x")
    first, second = (r.event for r in log.read(MAIN, kinds=["event.redacted"]))
    assert isinstance(first, EventRedacted)
    assert isinstance(second, EventRedacted)
    assert (first.version, first.reason) == (2, REDACTED)
    assert (second.version, second.what) == (4, "event.redacted")
    assert findings(log) == []


def test_the_beginnings_of_sessions(log: EventLog) -> None:
    """A title and the reason of a branch go; where and what it branched off stays."""
    begin(log, events=3)
    onto = log.head(MAIN)
    fork = SessionForked(
        parent=MAIN, at_version=3, parent_hash=onto.hash, reason="to hide from Ann"
    )
    log.begin(FORK, onto, draw(fork, wish=1))
    assert taken(log, 1)
    assert taken(log, 4, session=FORK)
    with EventLog(log.place.home) as other:
        begun, forked = other.pick(FORK, [1, 4])
        assert isinstance(begun.event, SessionStarted)
        assert (begun.event.title, begun.event.seed) == (REDACTED, 7)
        assert forked.event == fork.model_copy(update={"reason": REDACTED})
        assert other.state(FORK).title == REDACTED
        assert findings(other) == []


@pytest.mark.parametrize(
    ("targets", "error"),
    [
        ({MAIN: [2, 99]}, NoSuchMoment),
        ({MAIN: [2, 0]}, NoSuchMoment),
        ({MAIN: [2, -1]}, NoSuchMoment),
        ({FORK: [EVERY + 40, 3]}, NoSuchMoment),  # the third is held by main
        ({MAIN: [2], SessionId("nowhere"): [1]}, NoSuchSession),
        ({MAIN: [2], FORK: [EVERY + 31]}, NothingChanges),  # no reason was given
        ({MAIN: [2, 6]}, NothingChanges),  # done before
        ({FORK: [EVERY + 40], MAIN: [6]}, NothingChanges),
    ],
)
def test_all_or_nothing(
    family: EventLog, targets: dict[SessionId, list[int]], error: type[Exception]
) -> None:
    """If one of several can't be redacted, none is, in no stream."""
    if 99 in targets.get(MAIN, []):
        targets = {MAIN: [2, family.head(MAIN).version + 2]}
    assert taken(family, 6)
    before = rows(family)
    with pytest.raises(error):
        family.redact(targets, "x", draw(wish=1 << 80))
    assert rows(family) == before
    assert findings(family) == []


def test_several_streams_at_once(family: EventLog) -> None:
    """One wish may take from many sessions, and an event that is named twice goes once."""
    targets = {MAIN: [2, 3, 2], FORK: [EVERY + 33], LOW: [9]}
    family.redact(targets, "x", draw(wish=1 << 80))
    words = [r for r in family.feed() if r.event.kind == "event.redacted"]
    assert [(r.session, r.cause) for r in words] == [
        (MAIN, 2),
        (MAIN, 3),
        (FORK, EVERY + 33),
        (LOW, 9),
    ]
    assert len({r.command for r in words}) == 1
    assert findings(family) == []


def test_who_may_only_read_redacts_nothing(family: EventLog, tmp_path: Path) -> None:
    """A store that can't be written is refused as such."""
    before = rows(family)
    with EventLog(tmp_path, writable=False) as reader, pytest.raises(StoreIsReadOnly):
        taken(reader, 2)
    assert rows(family) == before


def test_the_guards_stand_again(family: EventLog, tmp_path: Path) -> None:
    """After a redaction no row can be changed or deleted by others, as before."""
    with raw(tmp_path) as connection:
        schema = "SELECT type, name, sql FROM sqlite_master ORDER BY 1, 2"
        before = connection.execute(schema).fetchall()
    assert taken(family, 2)
    with raw(tmp_path) as connection:
        assert connection.execute(schema).fetchall() == before
        for change in ("UPDATE stored_events SET state=x'00'", "DELETE FROM stored_events"):
            with pytest.raises(Exception, match="never"):
                connection.execute(change)


# others at the same time

WRITER = """
import sys
from pathlib import Path
from commands.eventlog import EventLog
from commands.handle import handle
from commands.thinking import InjectThought
from commands.world import RealWorld
from domain.actors import Actor
from domain.ids import SessionId
with EventLog(Path(sys.argv[1])) as log:
    for n in range(60):
        for name in ("main", "fork"):
            wish = InjectThought(text=f"{name} writes {n}", by="user:bob")
            handle(log, SessionId(name), wish, RealWorld(Actor("user", "bob")))
        print(n, flush=True)
"""


def test_while_another_process_writes(tmp_path: Path) -> None:
    """Neither loses anything: all that was written is there, all that was redacted is gone."""
    texts = [secret(n) for n in range(40)]
    with EventLog.create(tmp_path) as log:
        begin(log)
        log.append(MAIN, 1, draw(*map(thought, texts), wish=1))
        branch(log, MAIN, 41, FORK)
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, cwd=ROOT
        ) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            for version in range(2, 42, 2):
                taken(log, version, version + 1)
                assert not set(texts[: version - 1]) & set(pool(log, FORK))
            writer.communicate()
        assert writer.returncode == 0
        assert log.forget()
        for name in (MAIN, FORK):
            said = [r.event.text for r in log.read(name) if isinstance(r.event, ThoughtAdded)]
            assert said.count(REDACTED) == 40
            assert [text for text in said if "writes" in text] == [
                f"{name} writes {n}" for n in range(60)
            ]
            assert log.state(name) == folded(log, name)[-1]
        assert findings(log) == []
        assert [held(tmp_path, text) for text in texts] == [[]] * 40


def test_a_reader_that_is_done_soon(log: EventLog, tmp_path: Path) -> None:
    """Who still reads is waited for; then the old bytes go."""
    text = secret("reader")
    begin(log, events=3)
    log.append(MAIN, 3, draw(thought(text), wish=5))
    with raw(tmp_path) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM stored_events").fetchall()
        done: list[bool] = []
        redacting = threading.Thread(target=lambda: done.append(taken(log, 4)))
        redacting.start()
        while log.pick(MAIN, [4])[0].redacted is False:
            pass
        reader.rollback()
        redacting.join()
    assert done == [True]
    assert held(tmp_path, text) == []


@pytest.mark.slow
def test_a_reader_that_stays(log: EventLog, tmp_path: Path) -> None:
    """While somebody still reads the past, bytes are left and that is said; later they go."""
    text = secret("reader")
    begin(log, events=3)
    log.append(MAIN, 3, draw(thought(text), wish=5))
    with raw(tmp_path) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM stored_events").fetchall()
        assert taken(log, 4) is False
        assert text not in pool(log, MAIN)
        assert held(tmp_path, text) == ["log.db-wal"]
        reader.rollback()
    assert log.forget()
    assert held(tmp_path, text) == []


def test_no_room_to_lay_out_the_file_anew(log: EventLog, tmp_path: Path) -> None:
    """What was taken away is in no answer; that bytes are left is said, until there is room."""
    text = secret("room")
    begin(log, events=600, tag="long " * 60)
    log.append(MAIN, 600, draw(thought(text), wish=1))
    assert log._recorder.forget(rewrite=False)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        assert taken(log, 601) is False
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert text not in pool(log, MAIN)
    assert held(tmp_path, text) == ["log.db"]
    assert log.forget()
    assert held(tmp_path, text) == []
    assert findings(log) == []
