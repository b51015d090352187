"""Every event in a line that a person can read."""

import pytest

from domain.events import (
    EVENTS,
    AgentUndrafted,
    ContextReset,
    ConversationCompacted,
    Event,
    ProjectCreated,
    PromptSubmitted,
    SessionForked,
    TurnCompleted,
    WorkerReported,
)
from projections.timeline import summary
from tests.domain.happened import (
    accepted,
    asked,
    clustered,
    drafted,
    formed,
    invoked,
    present,
    run_began,
    run_ended,
    signalled,
    thought,
)
from tests.golden.write import EXAMPLES

LINES = {
    "session.started": "Tides, “two” a day, local",
    "session.forked": "from tides/what-if@412: a colder moon",
    "session.labelled": "@before-lunch is 3",
    "session.renamed": "Tides, and what pulls",
    "session.archived": "answered",
    "session.restored": "",
    "replay.begun": "of tides, events 2 to 412",
    "config.changed": "budget_usd: off → 2.5",
    "message.sent": "exc_24_000 (picked from tides/what-if@398): Why are there two tides a day? 😀",
    "exchanges.pruned": "exc_1_000, exc_9_001",
    "draft.emitted": "#3 (picked from tides/what-if@398, repeats #1, confidence 0.75,"
    " still working): Because the moon pulls on both sides.",
    "draft.seen": "#1, #3",
    "draft.accepted": "#3 of exc_24_000 (auto-accept)",
    "mind.invoked": "iteration 25, openrouter:anthropic/claude-haiku-4.5, unparseable, 2.3 s,"
    " 1200 → 77 tokens, $0.0004: The reply has none of the keys of a reply.",
    "thought.added": "(picked from tides/what-if@398) The far bulge is the surprise.",
    "thought.embedded": "thought 300, minilm",
    "thought.clustered": "thought 300: moved, cluster 3, was 2 (similarity 0.09)",
    "cluster.formed": "cluster 3 of 17, 300, 70000 (similarity 0.15)",
    "cluster.merged": "cluster 3 into 2 (similarity 0.12)",
    "cluster.split": "cluster 4 out of 2: 17, 300, 70000",
    "clustering.calibrated": "on 96 thoughts, deviation 0.092",
    "mind.signalled": "silence, 2 in a row",
    "signal.changed": "reviewing, “on the train” (Sat 10:30)",
    "note.added": "The same thought three times. (about 17, 70000)",
    "tool.used": 'exc_24_000, read_file (failed): {"path": "tides.csv"}'
    " → date,height 2026-05-02,1.4",
    "effort.opened": "Predict the tides of Fundy (part of 300)",
    "effort.resolved": "effort 300 (failed) (resolved in tides/what-if):"
    " The harbour’s own period was missing.",
    "effort.reopened": "effort 300: It fails again in winter.",
    "effort.expanded": "effort 300",
    "effort.collapsed": "effort 300",
    "effort.branched": "effort 300 is worked on in tides/fundy",
    "effort.focused": "effort 300",
    "fact.learned": "The far bulge is as high as the near one. (in effort 300, since 2026-05-02,"
    " from tides/what-if@398)",
    "fact.superseded": "fact 301 by 70001: The gauge was wrong.",
    "event.noted": "Spring tide (2026-05-17T06:12, until 2026-05-19, from tides/what-if@398)",
    "artifact.edited": "300 (2026-05-03, until 2026-05-04, from tides/what-if@398):"
    " Predict the tides of the bay => Resonance.",
    "artifact.merged": "301 into 300",
    "artifact.rejected": "301: Nobody said so.",
    "artifact.linked": "301 speaks against 300",
    "artifact.imported": "effort (from tides/what-if@398, followed): Predict the tides of Fundy"
    " => Resonance.",
    "artifact.excluded": "301 is shown to the mind",
    "artifacts.evicted": "17, 300, 70000, in turn 41",
    "artifact.recalled": "effort 300 (by “that bay”): Predict the tides of Fundy => Resonance.",
    "exchange.routed": "exc_24_000 belongs to effort 300, speaks of 17, 301 (by “back to Fundy”)",
    "context.compacted": "exc_1_000, exc_24_000 (extractive, 1200 → 14 tokens):"
    " The bay’s own period is near that of the moon.",
    "detector.invoked": "exc_24_000 by rules, openrouter:anthropic/claude-haiku-4.5, 1.2 s,"
    " $0.0002: The reply was no JSON.",
    "run.started": "background, exactly 7",
    "run.stopped": "failed after 3: HTTP 500",
    "event.redacted": "event 2 (message.sent): It named a patient.",
    "agent.drafted": "analyst for work on harbour/gauges, claude:sonnet, by lead-1",
    "agent.undrafted": "session gone, 12 turns, $0.2345, 60 min:"
    " The conversation is no longer known there.",
    "prompt.submitted": "(lead-1) Which gauge lags? 😀",
    "prompt.withdrawn": "prompt 70000",
    "turn.started": "turn 3, on prompt 300",
    "stop.asked": "turn 3",
    "tool.called": 'turn 3, read_file (failed): {"path": "tides.csv"} → date,height 2026-05-02,1.4',
    "turn.completed": "turn 3, openrouter:anthropic/claude-haiku-4.5, 2.3 s, 71600 → 77 tokens,"
    " $0.0123: The one at the weir, by 20 minutes.",
    "turn.failed": "turn 4, idle, 60.0 s, 1300 → 3 tokens, $0.0001:"
    " Nothing arrived for 60 seconds.",
    "turn.lost": "turn 5: its process was gone",
    "backend.opened": "5d1f0b5e-8a0e-4d6a-9c3e-0a4b6f2f7c11",
    "conversation.compacted": "up to turn 9, 180000 tokens (manual):"
    " The weir lags; nobody knows why.",
    "context.reset": "A new question.",
    "loop.noticed": 'turn 3, 3 times: read_file {"path": "tides.csv"}',
    "worker.dispatched": "reader-1 (reader) to talk with: Read the gauges of May.",
    "worker.reported": "reader-1, partial, 1 change, 1 issue, 2 questions"
    " (7 turns, $0.0310, 45.0 s): Two of three are read.",
    "worker.killed": "reader-2, budget (40 turns, $0.5012, 2 min):"
    " Its budget of $0.5 is used up ($0.5012).",
    "peer.asked": "reader-3, prompt 17: And the one at the weir?",
    "peer.answered": "reader-3, prompt 17 (failed): It was moved in April.",
    "project.created": "harbour (virtual, for analyst, reader, in harbour/data): All that floats.",
    "project.closed": "The harbour is dry.",
    "task.created": "harbour/gauges: Read the gauges: All three, monthly.",
    "task.closed": "They agree now.",
    "task.reopened": "They no longer do.",
}


@pytest.mark.parametrize("event", EXAMPLES, ids=lambda event: event.kind)
def test_a_summary_of_every_kind(event: Event) -> None:
    """On one line, with what a person wants to know."""
    assert summary(event) == LINES[event.kind]


def test_no_kind_is_without_a_summary() -> None:
    """A new event needs a line here."""
    assert set(LINES) == set(EVENTS)


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (drafted(1, "a plain draft of some length"), "#1: a plain draft of some length"),
        (drafted(2, "too late for this one", late=True), "#2 (late): too late for this one"),
        (drafted(1, "x", confidence=0.0), "#1 (confidence 0): x"),
        (accepted(2), "#2 of exc_1_000"),
        (invoked(3), "iteration 3, script:tides.jsonl, ok, 0.0 s"),
        (
            invoked(3, tokens_in=0, tokens_out=0, cost_usd=0.0, latency_ms=1500),
            "iteration 3, script:tides.jsonl, ok, 1.5 s, 0 → 0 tokens",
        ),
        (thought("two\n lines"), "two lines"),
        (clustered(7, 2), "thought 7: joined, cluster 2 (similarity 0.50)"),
        (
            clustered(7, None, "dropped", was=2),
            "thought 7: dropped, stands alone, was 2 (similarity 0.50)",
        ),
        (
            formed(1, *range(11, 19)),
            "cluster 1 of 11, 12, 13, 14, 15, 16, 17, 18 (similarity 0.50)",
        ),
        (
            formed(1, *range(11, 21)),
            "cluster 1 of 11, 12, 13, 14, 15, 16, 17, 18 and 2 more (similarity 0.50)",
        ),
        (signalled("hard", 1), "hard"),
        (signalled("soft", 0), "soft"),
        (present("absent"), "absent (Sat 10:30)"),
        (run_began(), "observe, at most 100"),
        (run_ended(), "draft after 1"),
        (asked(), "exc_1_000: why two tides?"),
        (SessionForked(parent="a", at_version=1, parent_hash=bytes(32)), "from a@1"),
        (PromptSubmitted(text="two\n lines"), "two lines"),
        (TurnCompleted(turn=1, prompt=2, text="yes", model="m"), "turn 1, m, 0.0 s: yes"),
        (
            TurnCompleted(turn=1, prompt=2, text="yes", model="m", tokens_in=7, cache_read=3),
            "turn 1, m, 0.0 s, 10 → ? tokens: yes",
        ),
        (AgentUndrafted(turns=1, cost_usd=0.0, duration_ms=0), "1 turn, 0.0 s"),
        (ConversationCompacted(upto=2, pre_tokens=900), "up to turn 2, 900 tokens"),
        (ContextReset(), ""),
        (
            WorkerReported(worker="reader-1", status="success", summary="read"),
            "reader-1, success (0 turns, 0.0 s): read",
        ),
        (ProjectCreated(name="harbour"), "harbour"),
    ],
)
def test_what_is_not_there_is_not_mentioned(event: Event, line: str) -> None:
    """Only what is known stands in the line."""
    assert summary(event) == line


def test_half_known_tokens_are_no_none() -> None:
    """A provider may count one side only."""
    for half in (invoked(3, tokens_in=7), invoked(3, tokens_out=7)):
        assert "None" not in summary(half)
