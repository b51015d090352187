"""Golden events: one of each kind as bytes, for ever. ``python -m tests.golden.write`` adds some.

A golden file is never edited or overwritten: it stands for what released versions have stored.
"""

from pathlib import Path

from commands.eventlog.chain import HASH_LENGTH
from commands.eventlog.wire import EventMapper
from domain.actors import Actor
from domain.events import (
    ArtifactEdited,
    ArtifactExcluded,
    ArtifactImported,
    ArtifactLinked,
    ArtifactMerged,
    ArtifactRecalled,
    ArtifactRejected,
    ArtifactsEvicted,
    Caused,
    ClusterFormed,
    ClusteringCalibrated,
    ClusterMerged,
    ClusterSplit,
    ConfigChanged,
    ContextCompacted,
    DetectorInvoked,
    DraftAccepted,
    DraftEmitted,
    DraftSeen,
    EffortBranched,
    EffortCollapsed,
    EffortExpanded,
    EffortFocused,
    EffortOpened,
    EffortReopened,
    EffortResolved,
    Event,
    EventNoted,
    EventRedacted,
    ExchangeRouted,
    ExchangesPruned,
    FactLearned,
    FactSuperseded,
    MessageSent,
    MindInvoked,
    MindSignalled,
    NoteAdded,
    ReplayBegun,
    RunStarted,
    RunStopped,
    SessionArchived,
    SessionForked,
    SessionLabelled,
    SessionRenamed,
    SessionRestored,
    SessionStarted,
    SignalChanged,
    Source,
    ThoughtAdded,
    ThoughtClustered,
    ThoughtEmbedded,
    ToolUsed,
)
from domain.events.thinking import packed
from domain.ids import CommandId, ExchangeId, RunId
from domain.recorded import Draw, Recorded
from tests.golden.agents import AGENTS

FOLDER = Path(__file__).parent
EXCHANGE = ExchangeId("exc_24_000")
CAUSE = 411
SOURCE = Source("tides/what-if", 398, bytes(range(32)))
DRAW = Draw((), 1_777_631_400_000_001, Actor("user", "ann"), CommandId(bytes(range(16))))

EXAMPLES: tuple[Event, ...] = (
    SessionStarted(
        title="Tides, “two” a day",
        # spelt out: a golden must not change with a default of today
        config={"model": "local", "token_limit": 4000, "temperature": None, "timeout": 180.0},
        protocol="1.4",
        seed=4_294_967_295,
    ),
    SessionForked(
        parent="tides/what-if",
        at_version=412,
        parent_hash=bytes(range(32)),
        reason="a colder moon",
    ),
    SessionLabelled(label="before-lunch", version=3),
    SessionRenamed(title="Tides, and what pulls"),
    SessionArchived(reason="answered"),
    SessionRestored(),
    ReplayBegun(source="tides", after=1, upto=412),
    ConfigChanged(key="budget_usd", old=None, new=2.5),
    MessageSent(
        exchange=EXCHANGE, text="Why are there\ntwo tides a day? 😀", iteration=24, source=SOURCE
    ),
    ExchangesPruned(exchanges=(ExchangeId("exc_1_000"), ExchangeId("exc_9_001"))),
    DraftEmitted(
        exchange=EXCHANGE,
        index=3,
        text="Because the moon pulls on both sides.",
        iteration=26,
        repeats=1,
        confidence=0.75,
        working=True,
        source=SOURCE,
    ),
    DraftSeen(exchange=EXCHANGE, indexes=(1, 3)),
    DraftAccepted(exchange=EXCHANGE, index=3, by="auto-accept"),
    MindInvoked(
        iteration=25,
        based_on=CAUSE,
        model="openrouter:anthropic/claude-haiku-4.5",
        answered_by="anthropic/claude-4.5-haiku-20251001",
        protocol="1.4",
        dialect="full",
        system_hash=b"\x01" * 32,
        prompt_hash=b"\xfe" * 32,
        sampled=(17, 300, 70_000),
        recalled=((300, 17, 0.25),),
        seed=2_147_483_648,
        user_time="2026-05-02T10:30:00+11:00",
        outcome="unparseable",
        error="The reply has none of the keys of a reply.",
        raw=packed("Well, " * 40),
        repairs=("Left out talk before the first key.",),
        tokens_in=1200,
        tokens_out=77,
        cost_usd=0.00042,
        latency_ms=2345,
        attempts=2,
        finish="stop",
        embedding_tokens=19,
        embedding_cost_usd=0.00000038,
    ),
    ThoughtAdded(
        text="The far bulge is the surprise.",
        iteration=25,
        mind="user:ann",
        origin="injected",
        embedding=b"\x00\x3c\x00\xbc",
        embedding_of=17,
        embedding_model="minilm",
        dimension=2,
        source=SOURCE,
    ),
    ThoughtEmbedded(
        thought=300,
        embedding=b"\x00\x3c\x00\xbc",
        embedding_of=17,
        embedding_model="minilm",
        dimension=2,
    ),
    ThoughtClustered(thought=300, cluster=3, how="moved", was=2, similarity=0.0931),
    ClusterFormed(cluster=3, members=(17, 300, 70_000), how="linkage", similarity=0.1502),
    ClusterMerged(cluster=2, absorbed=3, similarity=0.1213),
    ClusterSplit(cluster=2, into=4, members=(17, 300, 70_000), similarity=0.25),
    ClusteringCalibrated(count=96, scale=0.8125, deviation=0.0917),
    MindSignalled(signal="silence", iteration=27, consecutive=2),
    SignalChanged(presence="reviewing", status="on the train", time="Sat 10:30", iteration=28),
    NoteAdded(text="The same thought\nthree times.", about=(17, 70_000), iteration=28),
    ToolUsed(
        exchange=EXCHANGE,
        name="read_file",
        arguments='{"path": "tides.csv"}',
        result="date,height\n2026-05-02,1.4",
        failed=True,
    ),
    EffortOpened(
        goal="Predict the tides of Fundy",
        parent=300,
        exchange=EXCHANGE,
        messages=(17, 70_000),
        found_by="model",
    ),
    EffortResolved(
        effort=300,
        resolution="The harbour’s own period was missing.",
        outcome="failed",
        messages=(17, 70_000),
        found_by="rules",
        source=SOURCE,
    ),
    EffortReopened(
        effort=300, reason="It fails again in winter.", messages=(17, 70_000), found_by="rules"
    ),
    EffortExpanded(effort=300),
    EffortCollapsed(effort=300),
    EffortBranched(effort=300, branch="tides/fundy"),
    EffortFocused(effort=300),
    FactLearned(
        statement="The far bulge is as high as the near one.",
        since="2026-05-02",
        effort=300,
        messages=(17, 70_000),
        found_by="model",
        source=SOURCE,
    ),
    FactSuperseded(fact=301, by=70_001, reason="The gauge was wrong."),
    EventNoted(
        what="Spring tide",
        when="2026-05-17T06:12",
        expires="2026-05-19",
        messages=(17, 70_000),
        found_by="model",
        source=SOURCE,
    ),
    ArtifactEdited(
        artifact=300,
        text="Predict the tides of the bay",
        resolution="Resonance.",
        when="2026-05-03",
        expires="2026-05-04",
        source=SOURCE,
    ),
    ArtifactMerged(artifact=301, into=300),
    ArtifactRejected(artifact=301, reason="Nobody said so."),
    ArtifactLinked(artifact=301, to=300, relation="speaks against"),
    ArtifactImported(
        type="effort",
        text="Predict the tides of Fundy",
        status="resolved",
        resolution="Resonance.",
        outcome="failed",
        when="2026-05-03",
        expires="2026-05-04",
        source=SOURCE,
        as_of=402,
        follow=True,
    ),
    ArtifactExcluded(artifact=301, excluded=False),
    ArtifactsEvicted(artifacts=(17, 300, 70_000), turn=41),
    ArtifactRecalled(
        artifact=300,
        type="effort",
        text="Predict the tides of Fundy",
        status="resolved",
        outcome="done",
        resolution="Resonance.",
        parent=17,
        when="2026-05-03",
        expires="2026-05-04",
        source=SOURCE,
        follows=402,
        words="that bay",
    ),
    ExchangeRouted(
        exchange=EXCHANGE, effort=300, mentions=(17, 301), found_by="model", words="back to Fundy"
    ),
    ContextCompacted(
        exchanges=(ExchangeId("exc_1_000"), EXCHANGE),
        effort=300,
        summary="The bay’s own period is near that of the moon.",
        how="extractive",
        tokens_before=1200,
        tokens_after=14,
    ),
    DetectorInvoked(
        turn=41,
        looked_at=CAUSE,
        exchange=EXCHANGE,
        found_by="rules",
        model="openrouter:anthropic/claude-haiku-4.5",
        prompt_hash=b"\xfe" * 32,
        raw=packed("{} " * 80),
        error="The reply was no JSON.",
        attempts=2,
        tokens_in=800,
        tokens_out=60,
        cost_usd=0.00021,
        latency_ms=1234,
    ),
    RunStarted(
        run=RunId("00" * 16),
        mode="background",
        limit=7,
        exact=True,
        holder="host:4711:123456",
        patience=780,
    ),
    RunStopped(run=RunId("00" * 16), reason="failed", iterations=3, detail="HTTP 500"),
    EventRedacted(
        version=2,
        what="message.sent",
        digest=bytes(range(32)),
        stub=bytes(range(32, 64)),
        reason="It named a patient.",
    ),
    *AGENTS,
)


def stored(event: Event) -> bytes:
    """The bytes that the log keeps of an event behind its hash."""
    return EventMapper().payload(Caused(event, CAUSE, Actor("mind", "script:a:b")), DRAW)


def read(kind: str, payload: bytes) -> Recorded:
    """What those bytes mean today."""
    return EventMapper().recorded(("tides", CAUSE + 1, 9, kind, bytes(HASH_LENGTH) + payload))


def write_missing() -> list[str]:
    """Add the files of kinds that have none in their present schema; touch no others."""
    added = []
    for event in EXAMPLES:
        name = f"{event.kind}.v{event.schema_version}"
        if not (FOLDER / f"{name}.msgpack").exists():
            (FOLDER / f"{name}.msgpack").write_bytes(stored(event))
            (FOLDER / f"{name}.repr").write_text(f"{event!r}\n", "utf-8")
            added.append(name)
    return added


if __name__ == "__main__":
    print(*write_missing(), sep="\n")
