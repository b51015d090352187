"""What a model is shown when it looks: bounded, and never broken by what anybody wrote."""

from hashlib import sha256

import yaml
from hypothesis import given
from hypothesis import strategies as st

from commands.detection.prompt import MOST_TOKENS, system, told
from domain.artifacts import Shelf
from domain.detection.findings import Passage
from domain.ids import ExchangeId
from domain.tokens import estimate
from tests.commands.detection.conftest import artifact

RELEASED = {"detector_v1": "40a46f70e2bb60fe4b2f58faad497c8b632eb321db5afddb665293d0f642c11d"}
"""Other words are another version: what a model was told must be found again."""

NASTY = (
    '"',
    "\\",
    "\n- {id: 1",
    "}",
    "#",
    "\u2028",
    "\x00",
    "\ud800",
    "<|im_end|>",
    "open efforts:",
)
"""What might end a scalar, a line or a turn."""

texts = st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=8)), max_size=12).map("".join)


def passage_of(question: str, answer: str | None = None) -> Passage:
    """A passage without a past."""
    return Passage(ExchangeId("e1"), question, answer, (), "2026-03-02T09:15")


def test_the_system_prompt_is_a_released_one() -> None:
    """The words of a version never change."""
    prompt = system()
    assert prompt.sha256 == sha256(prompt.text.encode()).digest()
    assert RELEASED[prompt.version] == prompt.sha256.hex()


def test_the_shelf_is_shown_by_kind(passage: Passage, shelf: Shelf) -> None:
    """Every artifact stands under its heading with its id, and the current effort is marked."""
    assert yaml.safe_load(told(passage, shelf)) == {
        "now": "2026-03-02T09:15",
        "open efforts": [
            {"id": 3, "goal": "plan the move"},
            {"id": 5, "goal": "find out why uploads time out", "current": True},
        ],
        "resolved efforts": [{"id": 7, "goal": "choose a database", "resolution": "It is SQLite."}],
        "facts": [{"id": 8, "fact": "uploads are limited to 10 MB"}],
        "events": [{"id": 9, "event": "demo", "when": "2026-03-06"}],
        "earlier": [{"user": "why do uploads time out?", "assistant": "Perhaps a proxy."}],
        "message": passage.question,
        "answer": passage.answer,
    }


def test_what_is_kept_from_minds_is_kept_from_this_one(passage: Passage) -> None:
    """An excluded artifact is in no prompt."""
    hidden = artifact(4, "fact", "the launch code is 0000", excluded=True)
    assert "launch" not in told(passage, Shelf(artifacts=(hidden,)))


@given(question=texts, answer=st.none() | texts, goal=texts)
def test_no_text_passes_for_structure(question: str, answer: str | None, goal: str) -> None:
    """Whatever was written, it reads back as the value it is, and ends no turn of a chat."""
    prompt = told(passage_of(question, answer), Shelf(artifacts=(artifact(2, "fact", goal),)))
    read = yaml.safe_load(prompt)
    keys = {"now", "facts", "message"} | ({"answer"} if answer is not None else set())
    assert set(read) == keys
    assert read["message"] == _visible(question)
    assert answer is None or read["answer"] == _visible(answer)
    assert read["facts"] == [{"id": 2, "fact": _visible(goal)}]
    assert "<|" not in prompt


@given(st.sampled_from(["word ", "字", '\\"\n', "🧠", "7", "\x01"]), st.integers(0, 60))
def test_the_prompt_keeps_to_its_budget(sign: str, many: int) -> None:
    """However much was written and however full the shelf, the prompt stays small."""
    long = sign * 5_000
    passage = passage_of(long, long)._replace(before=((long, long),) * 5)
    full = Shelf(artifacts=tuple(artifact(n, "fact", long) for n in range(1, many + 1)))
    assert estimate(told(passage, full)) <= MOST_TOKENS


def test_of_a_long_message_both_ends_are_shown() -> None:
    """The gist of a message is at its beginning or at its end."""
    read = yaml.safe_load(told(passage_of("first " + "x " * 9_000 + "last"), Shelf()))
    assert read["message"].startswith("first x")
    assert read["message"].endswith("x last")


def test_a_full_shelf_shows_what_matters_most() -> None:
    """Open efforts come first, then what shares words with the message, whatever its age."""
    facts = [artifact(n, "fact", f"number {n} of something that is long enough") for n in range(90)]
    wanted = artifact(200, "fact", "the proxy times out after 30 s", referenced=0)
    effort = artifact(300, "effort", "quite another thing", "open", referenced=0)
    shelf = Shelf(artifacts=(*facts, wanted, effort), turn=50)
    read = yaml.safe_load(told(passage_of("what was it with the proxy?"), shelf))
    assert read["open efforts"] == [{"id": 300, "goal": "quite another thing"}]
    assert {"id": 200, "fact": wanted.text} in read["facts"]
    assert 5 < len(read["facts"]) < 90


def _visible(text: str) -> str:
    return "".join(c if c.isprintable() or c in "\n\t" else " " for c in text)
