"""Each report of one story: a fork in the middle of an exchange, and a fork of that fork."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from commands.forks import fork_session
from commands.redaction import redact_events
from domain.actors import Actor
from domain.events import Caused, Event
from domain.ids import SessionId
from domain.recorded import Draw
from projections.analytics.catchup import build, catch_up
from tests.domain.happened import (
    accepted,
    asked,
    configured,
    drafted,
    embedded,
    formed,
    invoked,
    merged,
    present,
    run_began,
    run_ended,
    signalled,
    split,
    thought,
    vector,
    with_vector,
)
from tests.projections.analytics.asked import distance
from tests.projections.analytics.test_reports import Sections, asking, unlike
from tests.stories.cast import SATURDAY, Stage

MAIN, CHILD, GRANDCHILD = SessionId("tides"), SessionId("sun"), SessionId("sun/too")
MIND = Actor("mind", "rehearsed")
SECOND = "exc_3_000"


def happens(stage: Stage, *events: Event, by: Actor = MIND, session: str = MAIN) -> None:
    """Record events just so, a quarter of a second later."""
    name, world = SessionId(session), stage.world
    draw = Draw([Caused(event) for event in events], world.now(), by, world.command_id())
    stage.log.append(name, stage.log.head(name).version, draw)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """Two exchanges, and two branches that answer the first one otherwise."""
    stage = Stage(tmp_path_factory.mktemp("told")).begins(None)
    ann = stage.world.actor
    happens(stage, asked("why two tides?"), by=ann)  # 2
    happens(
        stage,
        run_began(),  # 3
        invoked(1, based_on=2, tokens_in=100, tokens_out=10, cost_usd=0.5, latency_ms=1000),  # 4
        thought("the moon", 1, **with_vector(1.0, 0.0)),  # 5
        thought("the sun", 1, **with_vector(0.0, 1.0)),  # 6
        drafted(1, "the moon pulls the water"),  # 7
    )
    happens(
        stage,
        invoked(2, based_on=7, sampled=(5, 6), model="other", latency_ms=3000),  # 8
        thought("the moon again", 2, **with_vector(0.8, 0.6)),  # 9
        drafted(2, "the moon pulls the waters"),  # 10
        formed(1, 5, 9),  # 11
    )
    happens(stage, present("engaged", "at the desk"), by=ann)  # 12
    happens(
        stage,
        invoked(3, based_on=12, sampled=(6, 9), outcome="skipped", latency_ms=2000),  # 13
        drafted(3, "the moon pulls the water", 3, repeats=1),  # 14
        signalled("hard", 1, 3),  # 15
        run_ended("hard signal", 3),  # 16
    )
    happens(stage, accepted(2), by=ann)  # 17
    happens(stage, asked("and at night?", SECOND, 4), by=ann)  # 18
    happens(
        stage,
        invoked(4, based_on=18, outcome="failed", latency_ms=10),  # 19
        thought("more of the sun", 4, **with_vector(0.0, 1.0)),  # 20
        formed(2, 6, 20),  # 21
        merged(1, 2),  # 22
    )
    fork_session(stage.log, MAIN, 10, CHILD, stage.world, reason="the other way")  # 11
    happens(stage, drafted(3, "the sun pulls as well", 3), session=CHILD)  # 12
    happens(stage, accepted(3, by="auto-accept"), session=CHILD, by=ann)  # 13
    fork_session(stage.log, CHILD, 12, GRANDCHILD, stage.world)  # 13
    happens(stage, accepted(1), session=GRANDCHILD, by=ann)  # 14
    return stage


@pytest.fixture(scope="module")
def file(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of it."""
    file = tmp_path_factory.mktemp("file") / "a.duckdb"
    build(stage.log, file)
    return file


def told(file: Path, name: str, session: str = MAIN, version: int | None = None) -> Sections:
    """What a report says."""
    return asking(file)(name, session, version)


def test_overview_counts_what_was_inherited(file: Path) -> None:
    """A branch of a branch sees the events of both, up to where they parted."""
    (facts,) = told(file, "overview", GRANDCHILD)["facts"]
    wanted = {"version": 14, "events": 14, "inherited": 12, "drafts": 3, "thoughts": 3}
    assert not unlike([facts], [{**wanted, "accepted": 1, "cost": 0.5, "clusters": 0}])
    (past,) = told(file, "overview", GRANDCHILD, 7)["facts"]
    assert not unlike([past], [{"events": 7, "inherited": 7, "drafts": 1, "accepted": 0}])
    assert past["began"] == SATURDAY.replace(tzinfo=None, microsecond=250_000)


def test_drafts_say_what_changed_and_what_came_again(file: Path) -> None:
    """One letter more, then one less: a re-emission of the first."""
    sections = told(file, "drafts")
    assert not unlike(
        sections["evolution"],
        [
            {"number": 1, "drafts": 1, "repeated": 0, "edits": None, "likeness": None},
            {"number": 2, "drafts": 1, "repeated": 0, "edits": 1.0, "likeness": 24 / 25},
            {"number": 3, "drafts": 1, "repeated": 1, "edits": 1.0, "likeness": 24 / 25},
        ],
    )
    summary = {"exchanges": 2, "drafts": 3, "per_exchange": 1.5, "most": 3, "repeated": 1}
    assert not unlike(sections["summary"], [{**summary, "likeness": 24 / 25}])
    assert not unlike(
        sections["exchanges"],
        [{"exchange": "exc_1_000", "edits": 2, "accepted": 2}, {"exchange": SECOND, "drafts": 0}],
    )
    wanted = [{"drafts": 0, "exchanges": 1, "accepted": 0}, {"drafts": 3, "exchanges": 1}]
    assert not unlike(sections["distribution"], wanted)


def test_the_first_draft_of_a_branch_is_compared_with_the_one_it_inherited(file: Path) -> None:
    """From the waters to the sun: the draft before is one of the parent's."""
    step = told(file, "drafts", CHILD)["steps"][-1]
    assert step["number"] == 3
    assert step["edits"] == distance("the moon pulls the waters", "the sun pulls as well")
    assert told(file, "drafts", GRANDCHILD)["steps"] == told(file, "drafts", CHILD)["steps"]


def test_acceptance_goes_by_the_presence_in_force(file: Path) -> None:
    """Here the user had become engaged; in the branches that had not happened yet."""
    sections = told(file, "acceptance")
    row = {"exchange": "exc_1_000", "seconds": 1.25, "iterations": 3, "accepted": 2, "newer": 1}
    said = {"presence": "engaged", "status": "at the desk", "how": "user"}
    assert not unlike(sections["exchanges"], [{**row, **said, "drafts": 3}])
    by = {"presence": "engaged", "exchanges": 1, "iterations": 3.0, "newest": 0.0, "automatic": 0}
    assert not unlike(sections["presence"], [by])
    branch = told(file, "acceptance", CHILD)
    by = {"presence": "absent", "accepted": 3.0, "newest": 1.0, "automatic": 1, "iterations": 2.0}
    assert not unlike(branch["presence"], [by])
    assert branch["numbers"] == [{"accepted": 3, "presence": "absent", "exchanges": 1}]
    assert told(file, "acceptance", GRANDCHILD)["exchanges"][0]["newer"] == 2
    assert told(file, "acceptance", MAIN, 16)["exchanges"] == []


def test_signals_and_why_runs_stopped(file: Path) -> None:
    """A hard signal in one of four iterations stopped the only run; before that, it ran."""
    sections = told(file, "signals")
    kind = {"signal": "hard", "count": 1, "share": 0.25, "longest": 1, "newest": 3}
    assert sections["kinds"] == [kind]
    stop = {"reason": "hard signal", "mode": "observe", "runs": 1, "iterations": 3, "per_run": 3.0}
    assert not unlike(sections["stops"], [stop])
    assert [(e["iteration"], e["iterations"], e["hard"]) for e in sections["exchanges"]] == [
        (1, 3, 1),
        (4, 1, 0),
    ]
    past = told(file, "signals", MAIN, 14)
    assert not unlike(past["stops"], [{"reason": "running", "iterations": 0, "per_run": None}])
    assert past["kinds"] == []


def test_cost_keeps_what_is_unknown_apart_from_what_is_nothing(file: Path) -> None:
    """One invocation had a price; of the others nobody can say."""
    sections = told(file, "cost")
    total = {"iterations": 4, "tokens_in": 100, "tokens_out": 10, "cost": 0.5, "unknown": 3}
    assert not unlike(sections["total"], [{**total, "per_answer": 0.5, "thinking": 6.01}])
    model, other = sections["models"]
    assert not unlike([model], [{"iterations": 3, "failed": 1, "median": 1000.0, "cost": 0.5}])
    assert not unlike([other], [{"model": "other", "cost": None, "tokens_in": None}])
    assert [day["model"] for day in sections["days"]] == ["other", "script:tides.jsonl"]


def test_interventions_and_how_far_minds_went_alone(file: Path) -> None:
    """Between two acts of the user lie the iterations that nobody asked about."""
    rows = told(file, "interventions")["acts"]
    wanted = [
        {"version": 1, "iteration": 0, "alone": 0, "kind": "session.started"},
        {"version": 2, "iteration": 0, "alone": 2, "what": "why two tides?"},
        {"version": 12, "iteration": 2, "alone": 1, "what": "engaged"},
        {"version": 17, "iteration": 3, "alone": 0, "what": "draft 2 of exc_1_000"},
        {"version": 18, "iteration": 3, "alone": 1, "actor": "user:ann"},
    ]
    assert not unlike(rows, wanted)
    forked = told(file, "interventions", GRANDCHILD)["acts"][2:]
    assert [act["kind"] for act in forked] == ["session.forked", "session.forked", "draft.accepted"]


def test_lineage_says_what_led_to_what(file: Path) -> None:
    """The moon again is more like the moon than like the sun."""
    sections = told(file, "lineage")
    assert not unlike(
        sections["edges"],
        [
            {"shown": 5, "thought": 9, "place": 1, "back": 1, "likeness": 0.8, "recalled": False},
            {"shown": 6, "thought": 9, "place": 2, "back": 1, "likeness": 0.6},
        ],
    )
    assert not unlike(
        sections["influence"],
        [
            {"thought": 5, "shown": 1, "led_to": 1, "nearest": 1, "text": "the moon"},
            {"thought": 6, "shown": 2, "led_to": 1, "nearest": 0},
            {"thought": 9, "shown": 1, "led_to": 0, "nearest": 0},
        ],
    )
    step = {"thought": 9, "shown": 2, "nearest": 5, "back": 1, "likeness": 0.8}
    assert not unlike(sections["steps"], [{**step, "nearest_text": "the moon"}])
    assert not unlike(
        sections["reach"],
        [{"back": 1, "shown": 3, "led_to": 2, "likeness": 0.7}, {"back": 2, "shown": 1}],
    )


def test_clusters_are_born_grow_and_merge(file: Path) -> None:
    """Two clusters of two, then one of four; before the merge they stand side by side."""
    sections = told(file, "clusters")
    assert not unlike(
        sections["clusters"],
        [
            {"cluster": 1, "born": 2, "began_with": 2, "thoughts": 4, "merged_into": None},
            {"cluster": 2, "born": 4, "began_with": 2, "thoughts": 0, "merged_into": 1},
        ],
    )
    assert [(t["what"], t["cluster"], t["other"]) for t in sections["turnings"]] == [
        ("formed", 1, None),
        ("formed", 2, None),
        ("merged", 2, 1),
    ]
    sizes = [(row["iteration"], row["cluster"], row["thoughts"]) for row in sections["sizes"]]
    assert sizes == [(3, 1, 2), (4, 1, 2), (5, 1, 4)]
    past = told(file, "clusters", MAIN, 21)["sizes"][-2:]
    assert [(row["iteration"], row["cluster"], row["thoughts"]) for row in past] == [
        (5, 1, 2),
        (5, 2, 2),
    ]
    assert told(file, "clusters", CHILD)["clusters"] == []


def test_diversity_measures_the_pool_that_each_mind_was_shown(file: Path) -> None:
    """Mean cosine, directions and clusters, by hand."""
    sections = told(file, "diversity")
    (what,) = sections["vectors"]
    assert not unlike([what], [{"embedder": "minilm", "dimension": 2, "compared": 4, "others": 0}])
    second, third, fourth, now = sections["pool"]
    assert not unlike([second], [{"iteration": 2, "pool": 2, "similarity": 0.0, "directions": 2.0}])
    likes = (0.0 + 0.8 + 0.6) / 3
    squares = 3 + 2 * (0.8**2 + 0.6**2)
    wanted = {"similarity": likes, "directions": 9 / squares, "near_first": 1.8 / 3, "alone": 1}
    assert not unlike([third], [{**wanted, "clusters": 1, "effective": 9 / 5, "largest": 2 / 3}])
    assert {**third, "iteration": 4} == fourth
    wanted = {"iteration": 5, "pool": 4, "clusters": 1, "alone": 0, "effective": 1.0}
    assert not unlike([now], [{**wanted, "similarity": (0.8 + 0.6 + 0.6 + 1.0) / 6}])


def test_branches_stand_side_by_side(file: Path) -> None:
    """Each with what it sees, what is its own, and where it parted from the one in question."""
    sections = told(file, "branches", GRANDCHILD)
    assert not unlike(
        sections["branches"],
        [
            {"session": MAIN, "here": False, "shared": 10, "own": 22, "exchanges": 2, "drafts": 3},
            {"session": CHILD, "parent": MAIN, "shared": 12, "own": 3, "drafts": 3, "accepted": 1},
            {"session": GRANDCHILD, "here": True, "shared": 14, "own": 2, "iterations": 2},
        ],
    )
    answers = [(a["session"], a["drafts"], a["accepted"]) for a in sections["answers"]]
    assert answers == [(MAIN, 3, 2), (CHILD, 1, 3), (GRANDCHILD, 0, 1)]
    assert [answer["answer"] for answer in sections["answers"]] == [
        "the moon pulls the waters",
        "the sun pulls as well",
        "the moon pulls the water",
    ]


def test_branches_of_the_past_are_those_that_there_were(file: Path) -> None:
    """When the child had its draft, nobody had branched off it, and nothing was accepted."""
    sections = told(file, "branches", CHILD, 12)
    found = {row["session"]: row["accepted"] for row in sections["branches"]}
    assert found == {MAIN: 1, CHILD: 0}
    (alone, before) = told(file, "branches", CHILD, 9)["branches"]
    assert (alone["session"], alone["version"], alone["accepted"]) == (MAIN, 9, 0)
    assert (before["session"], before["version"], before["own"]) == (CHILD, 9, 0)


def test_embedders_are_never_mixed_and_each_session_has_its_own(tmp_path: Path) -> None:
    """Another session used another model last: this one is still measured by its own."""
    stage = Stage(tmp_path).begins(None)
    happens(stage, thought("a", **with_vector(1.0, 0.0)), thought("b", **with_vector(1.0, 0.0)))
    other = {"embedding_model": "letters", "dimension": 3}
    more = thought("c", embedding=vector(1.0, 0.0, 0.0), **other)
    fork_session(stage.log, MAIN, 2, CHILD, stage.world)
    happens(stage, more, session=CHILD)
    file = catch_up(stage.log, tmp_path).file
    (what,) = told(file, "diversity")["vectors"]
    assert not unlike([what], [{"embedder": "minilm", "compared": 2, "others": 0}])
    assert told(file, "diversity")["pool"][-1]["similarity"] == pytest.approx(1.0)
    (what,) = told(file, "diversity", CHILD)["vectors"]
    assert not unlike([what], [{"embedder": "letters", "compared": 1, "others": 1}])


def test_a_late_vector_counts_and_a_change_of_model_ends_the_clusters(tmp_path: Path) -> None:
    """A thought that waited is compared; clusters of vectors of another model are gone."""
    stage = Stage(tmp_path).begins(None)
    happens(stage, thought("a", **with_vector(1.0, 0.0)), thought("b"))
    happens(stage, embedded(3, 0.0, 1.0), formed(1, 2, 3), split(1, 2, 3))
    file = catch_up(stage.log, tmp_path).file
    (now,) = told(file, "diversity")["pool"]
    assert not unlike([now], [{"compared": 2, "similarity": 0.0, "clusters": 2, "alone": 0}])
    happens(stage, configured("embedding_model", "local", "off"))
    file = catch_up(stage.log, tmp_path).file
    (now,) = told(file, "diversity")["pool"]
    assert not unlike([now], [{"clusters": 0, "alone": 2, "effective": 2.0, "largest": 0.0}])
    assert [row["thoughts"] for row in told(file, "clusters")["clusters"]] == [0, 0]


def test_a_pool_that_was_made_smaller_fills_up_again(tmp_path: Path) -> None:
    """What it forgot does not come back when it is made larger."""
    stage = Stage(tmp_path).begins(None, active_pool_size=4)
    sizes = []
    for n, size in enumerate((4, 2, 6, 3, 9, 5), 1):
        if n > 1:
            happens(stage, configured("active_pool_size", None, size))
        happens(stage, *[thought(f"{n}{x}", n, **with_vector(1.0, 0.0)) for x in "abc"[: n % 4]])
        sizes.append(len(stage.state.pool.active))
        happens(stage, invoked(n, based_on=stage.state.version))
    file = catch_up(stage.log, tmp_path).file
    assert [row["pool"] for row in told(file, "diversity")["pool"]] == [*sizes, sizes[-1]]
    assert sizes == [1, 2, 5, 3, 4, 5]


def test_what_was_redacted_is_counted_and_not_told(tmp_path: Path) -> None:
    """No text of it is in any report, no length, and no distance to the next one."""
    stage = Stage(tmp_path).begins(None)
    happens(stage, asked("a secret?"), by=stage.world.actor)
    happens(
        stage,
        invoked(1, sampled=()),
        thought("a secret thought", **with_vector(1.0, 0.0)),
        drafted(1, "a secret that nobody may read"),
        drafted(2, "an answer that all may read", 1),
    )
    happens(stage, invoked(2, sampled=(4,)), thought("so what", 2, **with_vector(0.0, 1.0)))
    chosen = stage.log.pick(MAIN, [2, 4, 5])
    redact_events(stage.log, chosen, "it was a secret", stage.world)
    file = catch_up(stage.log, tmp_path).file
    every: dict[str, Any] = {
        name: told(file, name)
        for name in ("overview", "drafts", "lineage", "diversity", "branches")
    }
    assert "secret t" not in str(every)
    assert "a secret?" not in str(every)
    first, second = every["drafts"]["steps"]
    assert (first["text"], first["characters"]) == ("[redacted]", None)
    assert (second["edits"], second["characters"]) == (None, 27)
    assert every["overview"]["facts"][0]["redacted"] == 3
    assert every["lineage"]["edges"][0]["likeness"] is None
    assert every["diversity"]["pool"][-1]["pool"] == 1


def test_a_long_session_is_measured_at_evenly_spaced_iterations(tmp_path: Path) -> None:
    """However long it is, there are about a hundred rows, the newest among them."""
    stage = Stage(tmp_path).begins(None)
    happens(stage, asked())
    for n in range(1, 251):
        version = 2 * n
        happens(stage, invoked(n, based_on=version), thought(f"{n}", n, **with_vector(1.0, n / 99)))
    file = catch_up(stage.log, tmp_path).file
    rows = told(file, "diversity")["pool"]
    steps = {b["iteration"] - a["iteration"] for a, b in pairwise(rows)}
    assert 95 <= len(rows) <= 101
    assert steps <= {1, 2, 3}
    assert (rows[-1]["iteration"], rows[-1]["pool"]) == (251, 50)
