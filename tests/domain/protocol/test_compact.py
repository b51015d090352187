"""What a small model reads: little, but exact and as safe as the full dialect."""

from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st

from domain.dialogue import is_signal
from domain.protocol.compact import MARKER, TOTAL_SIZE, clip, remembered, render_compact
from domain.protocol.view import DraftSeen, ThoughtSeen, TurnSeen, View
from tests.domain.protocol.views import EVERYTHING, long_texts, texts, views
from tests.often import often

GOLDEN = Path(__file__).parent / "golden"


def size(text: str) -> int:
    """Bytes of UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def structure(view: View, percent: int) -> dict[str, Any]:
    """What a YAML reader has to find, with all texts clipped to ``percent`` of their sizes."""

    def cut(text: str, full: int) -> str:
        return clip(text, full * percent // 100)

    blocks: dict[str, Any] = {}
    if view.signals:
        now = view.signals[0]
        status = {"status": cut(now.status, 100)} if now.status else {}
        blocks["user"] = {"presence": now.presence, **status, "time": cut(now.time, 100)}
    if view.memory:
        blocks["memory"] = [cut(artifact.text, 140) for artifact in remembered(view)]
    if view.thoughts:
        blocks["pool"] = [cut(thought.text, 200) for thought in view.thoughts[:5]]
    if view.history:
        blocks["earlier"] = [
            {"user" if turn.sender == "user" else "you": cut(turn.text, 200)}
            for turn in view.history[-4:]
        ]
    if view.awaiting:
        blocks["message"] = cut(view.awaiting.text, 900)
        answers = [draft.text for draft in view.drafts if not is_signal(draft.text)]
        if answers:
            blocks["latest_draft"] = cut(answers[-1], 700)
    return blocks


@often(40, 150, view=views())
def test_every_text_reads_back_exactly_and_in_its_place(view: View) -> None:
    """Whatever people and minds write, a YAML reader finds these texts and this structure."""
    found = yaml.safe_load(render_compact(view)) or {}
    assert found == structure(view, 100)
    assert list(found) == list(structure(view, 100))


@often(20, 60, view=views(long_texts))
def test_it_stays_short_and_exact_however_long_the_texts_are(view: View) -> None:
    """A small model waits seconds for each hundred tokens, so the whole is bounded."""
    text = render_compact(view)
    assert size(text) <= TOTAL_SIZE
    found = yaml.safe_load(text) or {}
    assert any(found == structure(view, percent) for percent in (100, 70, 45, 25, 10))


@often(40, 100, text=texts | long_texts, room=st.integers(min_value=20, max_value=400))
def test_clipping_keeps_the_beginning_and_the_end(text: str, room: int) -> None:
    """What is left out is in the middle and marked; a text that fits is left alone."""
    clipped = clip(text, room)
    assert size(clipped) <= room
    if size(text) <= room:
        assert clipped == text
    else:
        head, _, tail = clipped.partition(MARKER)
        assert MARKER in clipped
        assert text.startswith(head)
        assert text.endswith(tail)


def test_a_long_letter_keeps_its_greeting_and_its_question() -> None:
    """The end of a message often holds the question, its beginning the matter."""
    letter = f"About my roof. {'It leaks here and there. ' * 90}What will it cost?"
    clipped = clip(letter, 300)
    assert clipped.startswith("About my roof. It leaks")
    assert clipped.endswith("here and there. What will it cost?")


def test_only_the_newest_of_everything_is_shown() -> None:
    """Five thoughts, two exchanges, and the latest draft that is an answer."""
    view = EVERYTHING._replace(
        thoughts=tuple(ThoughtSeen(f"thought {n}", n) for n in range(9)),
        history=tuple(TurnSeen("user" if n % 2 else "self", f"turn {n}", n) for n in range(7)),
        drafts=(
            DraftSeen(1, "an answer of some length", 3, user_seen=True),
            DraftSeen(2, "another answer of some length", 2, user_seen=False),
            DraftSeen(3, "+1", 1, user_seen=False),
        ),
    )
    found = yaml.safe_load(render_compact(view))
    assert found["pool"] == [f"thought {n}" for n in range(5)]
    assert found["earlier"] == [
        {"user": "turn 3"},
        {"you": "turn 4"},
        {"user": "turn 5"},
        {"you": "turn 6"},
    ]
    assert found["latest_draft"] == "another answer of some length"


def test_the_layout_of_compact_v1_stays() -> None:
    """Examples and prompts of one version look alike; another layout is another version."""
    golden = (GOLDEN / "compact.v1.yaml").read_text(encoding="utf-8")
    assert render_compact(EVERYTHING) == golden
