"""What holds for every reply that could ever be written."""

import re

from hypothesis import strategies as st

from domain.protocol.fields import LONGEST_DRAFT, LONGEST_THOUGHT, MOST_THOUGHTS
from domain.protocol.output import Output, Unparseable
from domain.protocol.parse import parse
from domain.protocol.render import render
from domain.protocol.view import View
from tests.domain.protocol.replies import as_json, as_yaml
from tests.domain.protocol.views import TRICKY, views
from tests.often import often

SURROGATES = re.compile("[\ud800-\udfff]")
FRAGMENTS = (
    *TRICKY, "thoughts:", "draft:", "drafts:", "skip: true\n", "confidence: 0.5\n", "\n", "\n  ",
    "working: yes\n", "thoughts:\n  - ", "draft: |\n  ", '{"thoughts": [', '"draft": "', '"], ',
    "```yaml\n", "\n```\n", "<think>", "</think>", "!!python/object:os.system ", "\\ud83d", "\\u0",
)  # fmt: skip

replies = st.lists(st.sampled_from(FRAGMENTS) | st.characters(), max_size=25).map("".join)


def tidy(text: str) -> str:
    """A text as it leaves the parser: no blank lines before it, no blanks behind it."""
    return re.sub(r"\A(?:[ \t]*\n)+", "", text).rstrip()


words = (
    st.lists(st.sampled_from(TRICKY) | st.characters(codec="utf-8"), min_size=1, max_size=12)
    .map(lambda parts: tidy(SURROGATES.sub("", "".join(parts))))
    .filter(bool)
)
thoughts = st.lists(words, max_size=5).map(tuple)
outputs = thoughts.map(Output) | st.builds(
    Output,
    thoughts=thoughts,
    draft=words,
    skip=st.just(value=False),
    confidence=st.none() | st.floats(min_value=0.01, max_value=1),
    working=st.booleans(),
    repairs=st.just(()),
)


@often(150, 600, text=replies, cut=st.booleans())
def test_every_reply_is_understood_or_refused(text: str, *, cut: bool) -> None:
    """Nothing that a mind can write raises, and whatever comes out is fit to be kept."""
    found = parse(text, cut=cut)
    assert all(repair.endswith(".") for repair in found.repairs)
    if isinstance(found, Unparseable):
        assert found.reason.endswith(".")
        return
    assert len(found.thoughts) <= MOST_THOUGHTS
    assert all(0 < len(thought) <= LONGEST_THOUGHT for thought in found.thoughts)
    assert found.draft is None or 0 < len(found.draft) <= LONGEST_DRAFT
    assert found.confidence is None or 0 <= found.confidence <= 1
    assert not (found.skip and (found.thoughts or found.draft))
    for kept in (*found.thoughts, found.draft or ""):
        kept.encode()
        assert tidy(kept) == kept


@often(50, 200, text=st.text(st.characters()))
def test_any_text_at_all_is_understood_or_refused(text: str) -> None:
    """The same for text that has nothing to do with the protocol."""
    assert isinstance(parse(text), Output | Unparseable)


@often(50, 200, output=outputs)
def test_what_is_written_as_asked_comes_back_exactly(output: Output) -> None:
    """Block scalars bring every text through unchanged, and nothing is repaired."""
    assert parse(as_yaml(output)) == output


@often(50, 200, output=outputs)
def test_json_comes_back_exactly(output: Output) -> None:
    """What a constrained model writes is brought through unchanged as well."""
    assert parse(as_json(output)) == output


@often(50, 200, output=outputs)
def test_a_fence_changes_nothing(output: Output) -> None:
    """A reply in a fence is the same reply."""
    found = parse(f"Here you are:\n\n```yaml\n{as_yaml(output) or 'thoughts: []'}\n```\n")
    assert isinstance(found, Output)
    assert found._replace(repairs=()) == output


@often(50, 200, output=outputs, data=st.data())
def test_half_a_reply_never_invents_a_draft(output: Output, data: st.DataObject) -> None:
    """Wherever a reply is stopped, only whole texts are kept, as they were."""
    for whole in (as_yaml(output), as_json(output)):
        found = parse(whole[: data.draw(st.integers(0, len(whole)))], cut=True)
        if isinstance(found, Output):
            assert found.thoughts == output.thoughts[: len(found.thoughts)]
            assert found.draft in {None, output.draft}


@often(40, 200, view=views())
def test_a_prompt_given_back_is_no_reply_of_its_own(view: View) -> None:
    """A mind that repeats its input emits at most one of the drafts it was shown."""
    found = parse(render(view))
    if isinstance(found, Output):
        assert not found.thoughts
