"""The two hooks that are there: novelty and auditor."""

from pathlib import Path

import numpy as np
import pytest

from commands.gatherer import Gatherer
from commands.hooks.auditor import Auditor, by_words, repetitions, summarised
from commands.hooks.hook import as_hook
from commands.hooks.load import load_hooks
from commands.hooks.novelty import ANGLES, Novelty
from commands.hooks.turn import Scene, Turn
from commands.minds.mind import MindUnavailable
from domain.events import NoteAdded, ThoughtAdded
from domain.pool import Thought
from tests.commands.hooks.conftest import muses
from tests.stories.cast import Stage, kinds

THOUGHTS = "thoughts: [what of the sun?]"


def injected(stage: Stage) -> list[tuple[int, str]]:
    """What was put into the pool, and which iteration saw it first."""
    return [(e.iteration, e.text) for e in stage.events(ThoughtAdded) if e.origin == "injected"]


def test_novelty_goes_through_its_list_and_begins_anew(stage: Stage, tmp_path: Path) -> None:
    """Every second iteration the next line; what is empty or a comment is none."""
    angles = tmp_path / "angles.txt"
    angles.write_text("\ufeff# mine\nthe first\n\n  the second  \n", encoding="utf-8")
    hooks = load_hooks([f"novelty,every=2,file={angles}"])
    stage.runs(THOUGHTS, iterations=7, hooks=hooks)
    assert injected(stage) == [(2, "the first"), (4, "the second"), (6, "the first")]


def test_novelty_has_a_list_of_its_own(stage: Stage) -> None:
    """Which line comes follows from the number of the iteration, whatever happened in between."""
    for _ in range(5):
        stage.runs(THOUGHTS, iterations=2, hooks=load_hooks(["novelty"]))
    assert injected(stage) == [(5, ANGLES[0]), (10, ANGLES[1])]
    assert len(set(ANGLES)) == len(ANGLES) == 12


def test_novelty_is_not_repeated_by_a_try_that_came_to_nothing(stage: Stage) -> None:
    """The line is in the pool already, so the next try of the same iteration leaves it at that."""
    hooks = load_hooks(["novelty,every=1"])
    for _ in range(2):
        with pytest.raises(MindUnavailable):
            stage.runs(MindUnavailable("Set a key."), hooks=hooks)
    stage.runs(THOUGHTS, iterations=1, hooks=hooks)
    assert injected(stage) == [(1, ANGLES[0])]


@pytest.mark.parametrize("content", ["", "# only\n\n", "\n"])
def test_a_list_without_a_line_is_refused(tmp_path: Path, content: str) -> None:
    """When the hook is made, not in the middle of a run."""
    (tmp_path / "empty.txt").write_text(content)
    with pytest.raises(ValueError, match="holds no line"):
        Novelty(file=str(tmp_path / "empty.txt"))


def test_the_auditor_counts_and_quotes(stage: Stage, gatherer: Gatherer) -> None:
    """Clusters, their sizes, repetition, and the most central thought of the three largest."""
    groups = [("a", 9), ("b", 7), ("c", 6), ("d", 5)]
    texts = [f"{letter} thought {n}" for letter, many in groups for n in range(many)]
    texts += ["z alone", "A THOUGHT: 0!"]
    for start in range(0, len(texts), 10):
        stage.runs(muses(*texts[start : start + 10]), iterations=1, gatherer=gatherer)
    stage.runs("skip: true", iterations=1, gatherer=gatherer, hooks=load_hooks(["auditor,every=4"]))
    (note,) = [r for r in stage.history() if isinstance(r.event, NoteAdded)]
    assert str(note.actor) == "agent:hook:auditor"
    assert isinstance(note.event, NoteAdded)
    head, clusters, repetition, central, *quotes = note.event.text.splitlines()
    assert head.startswith("Audit after iteration 4: 29 of 29 thoughts, drawn with seed ")
    assert clusters == "Clusters: 4, the largest with 10 of 29 (34%); 1 stand alone."
    assert repetition == "Repetition: 1 of 29 (3%) nearly word for word as an older one."
    assert central == "Most central, by vectors:"
    assert [quote.partition("“")[2][0].lower() for quote in quotes] == ["a", "b", "c"]
    assert [quote.partition(", ")[2].partition(" here")[0] for quote in quotes] == ["10", "7", "6"]
    about = [stage.history()[version - 1].event for version in note.event.about]
    assert all(
        isinstance(e, ThoughtAdded) and e.text in quote
        for e, quote in zip(about, quotes, strict=True)
    )


def test_an_audit_can_be_done_again(stage: Stage) -> None:
    """The seed in the note draws the same thoughts of the same history."""
    for n in range(20):
        stage.runs(muses(f"this is thought {n}", f"and {n} more of them"), iterations=1)
    before = stage.state
    auditor = Auditor(every=1, sample=5)
    notes = []
    for _ in range(2):
        with Turn(Scene(stage.log, stage.session, stage.world), "auditor", 20) as turn:
            auditor.after(turn)
        notes.append(stage.events(NoteAdded)[-1])
    assert notes[0] == notes[1]
    assert "5 of 40 thoughts" in notes[0].text
    assert stage.state.pool == before.pool


def test_without_vectors_the_auditor_says_so(stage: Stage) -> None:
    """No cluster is made up; the quotation goes by shared words."""
    stage.runs(muses("the moon pulls", "moon", "the moon pulls near water"), iterations=1)
    stage.runs(THOUGHTS, iterations=1, hooks=load_hooks(["auditor,every=2"]))
    (note,) = stage.events(NoteAdded)
    assert note.text.splitlines()[1:] == [
        "Clusters: none; 4 without a vector.",
        "Repetition: 0 of 4 (0%) nearly word for word as an older one.",
        "Most central, by shared words:",
        "- of all, 4 here: “the moon pulls” (event 5)",
    ]


def test_the_auditor_is_silent_where_there_is_nothing(stage: Stage) -> None:
    """No thoughts, no note; and none between its times."""
    stage.runs("skip: true", iterations=3, hooks=load_hooks(["auditor,every=3"]))
    assert "note.added" not in kinds(stage.history())
    stage.runs(THOUGHTS, iterations=5, hooks=load_hooks(["auditor,every=4"]))
    assert [n.iteration for n in stage.events(NoteAdded)] == [4, 8]


REPEATED = [
    (["a", "b", "c"], 0),
    (["The Moon pulls.", "the moon, pulls!"], 1),
    (["same", "same", "same"], 2),
    (["one two three four five six seven eight nine ten"] * 2, 1),
    (
        [
            "one two three four five six seven eight nine ten",
            "one two three four five six seven eight nine TEN eleven",
            "one two three four six five seven eight nine ten",
            "one two three four five six seven eight no more",
            "ten nine eight seven six five four three two one",
        ],
        2,
    ),
    (["", "…", "潮汐は二回", "潮汐は二回"], 2),
]


@pytest.mark.parametrize(("texts", "count"), REPEATED)
def test_what_is_nearly_word_for_word(texts: list[str], count: int) -> None:
    """Nine tenths of the words in the same order; each repetition counts once."""
    assert repetitions(texts) == count


def thought(version: int, text: str, cluster: int | None = None) -> Thought:
    """A thought with a vector."""
    return Thought(version, text, 1, "m", "mind", True, cluster)


def test_clusters_of_one_size_are_quoted_by_age() -> None:
    """Three of them, the older id first; long texts are cut."""
    thoughts = [thought(n, f"{'x' * 300} {n}", cluster=n % 4) for n in range(1, 9)]
    report = summarised(thoughts, lambda group: group[-1])
    assert report.about == (8, 5, 6)
    quotes = report.text.splitlines()[3:]
    assert [quote[:12] for quote in quotes] == ["- of cluster"] * 3
    assert all(quote.count("x") == 199 and "…”" in quote for quote in quotes)


def test_the_most_central_thought_shares_most_words() -> None:
    """The oldest of equals; texts without words are at no disadvantage of an error."""
    texts = ["…", "tide", "the tide turns", "the tide", "a moon"]
    assert by_words([thought(n, text) for n, text in enumerate(texts, 1)]).text == "the tide"
    assert by_words([thought(1, "…"), thought(2, "!")]).version == 1


def test_the_most_central_thought_lies_in_the_middle(stage: Stage, gatherer: Gatherer) -> None:
    """By the cosine to the mean of its group, as numpy says."""
    stage.runs(muses(*(f"a thought {n}" for n in range(9))), iterations=1, gatherer=gatherer)
    hooks = [as_hook(Auditor(every=1), "auditor")]
    stage.runs("skip: true", iterations=1, gatherer=gatherer, hooks=hooks)
    turn = Turn(Scene(stage.log, stage.session, stage.world, gatherer), "x", 1)
    thoughts = turn.thoughts(9, 0)
    rows = turn.vectors(thoughts)
    (note,) = stage.events(NoteAdded)
    assert note.about == (thoughts[int(np.argmax(rows @ rows.mean(axis=0)))].version,)
