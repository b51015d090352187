"""What minds really write, and what is made of it."""

import time
from typing import Any

import pytest
import yaml

from domain.protocol import nodes
from domain.protocol.output import Output, Unparseable
from domain.protocol.parse import LONGEST_REPLY, parse

BROKEN = "Unparseable"


@pytest.fixture(params=["CSafeLoader", "SafeLoader"])
def _reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both YAML readers: the fast one may be missing on a machine."""
    if not hasattr(yaml, request.param):
        pytest.skip("this PyYAML was built without libyaml")
    monkeypatch.setattr(nodes, "_LOADER", getattr(yaml, request.param))


def said(*thoughts: str, draft: str | None = None, **more: Any) -> Output:
    """The expected output, without its repairs."""
    return Output(thoughts, draft, **more)


CLEAN = {
    "the form that the prompt asks for": (
        "thoughts:\n  - |\n    one: two\n  - three\ndraft: |\n  # Title\n\n  - a: b\n",
        said("one: two", "three", draft="# Title\n\n- a: b"),
    ),
    "one line of JSON": (
        '{"thoughts": ["a \\ud83d\\ude00", "b"], "draft": "c\\nd"}',
        said("a 😀", "b", draft="c\nd"),
    ),
    "a draft alone": ("draft: hello", said(draft="hello")),
    "annotations": (
        "draft: hello\nconfidence: 0.75\nworking: true",
        said(draft="hello", confidence=0.75, working=True),
    ),
    "a signal": ('draft: "+1"', said(draft="+1")),
    "a signal without quotes": ("draft: +1", said(draft="+1")),
    "words that YAML takes for booleans": (
        "thoughts: [yes, off, True]\ndraft: no",
        said("yes", "off", "True", draft="no"),
    ),
    "words that YAML takes for numbers and dates": (
        "thoughts: [042, 1e3, 2026-01-01, 12:30:00]\ndraft: 42",
        said("042", "1e3", "2026-01-01", "12:30:00", draft="42"),
    ),
    "JSON that is not text": (
        '{"thoughts": [42, 1.50, true, null], "draft": 7}',
        said("42", "1.50", "true", draft="7"),
    ),
    "nulls are nothing, quoted ones are words": (
        'thoughts:\n  - null\n  - ~\n  -\n  - "null"\ndraft: ~',
        said("null"),
    ),
    "comments are private": (
        "# between you and me\nthoughts:\n  - a  # really?\n# bye\ndraft: b # c",
        said("a", draft="b"),
    ),
    "comments alone are silence": ("# nothing to add\n", said()),
    "an empty reply is silence": ("", said()),
    "blanks are silence": (" \n\t\n ", said()),
    "an empty object is silence": ("{}", said()),
    "null is silence": ("null", said()),
    "empty keys are silence": ("thoughts: []\ndraft:\n", said()),
    "skip": ("skip: true", said(skip=True)),
    "skip in other words": ("skip: Yes", said(skip=True)),
    "skip in quotes": ('skip: "on"', said(skip=True)),
    "no skip": ("skip: false", said()),
    "a marked document": ("---\nthoughts: [a]\n...\n", said("a")),
    "an indented document": ("  thoughts:\n    - a\n  draft: b\n", said("a", draft="b")),
    "folded text": ("draft: >\n  one\n  two\n", said(draft="one two")),
    "a list at the margin": ("thoughts:\n- a\n- b\n", said("a", "b")),
    "a fence inside a draft": (
        "draft: |\n  try\n  ```sh\n  ls\n  ```\n",
        said(draft="try\n```sh\nls\n```"),
    ),
    "a reply quoted in a draft": (
        "draft: |\n  draft: not this\n  skip: true\n",
        said(draft="draft: not this\nskip: true"),
    ),
    "an example in a fence inside a draft": (
        "draft: |\n  ```yaml\n  draft: not this\n  ```\n",
        said(draft="```yaml\ndraft: not this\n```"),
    ),
    "Python's way to write an object": (
        "{'thoughts': ['a'], 'draft': 'b', 'skip': False}",
        said("a", draft="b"),
    ),
}

REPAIRED = {
    # wrapping
    "a fence": ("```yaml\nthoughts: [a]\ndraft: b\n```", said("a", draft="b")),
    "a fence without a language": ("```\ndraft: b\n```\n", said(draft="b")),
    "a fence of JSON": ('```json\n{"draft": "b"}\n```', said(draft="b")),
    "a fence that never closes": ("```yaml\ndraft: b\n", said(draft="b")),
    "a fence that never opened": ("draft: b\n```\nBye!", said(draft="b")),
    "an indented fence": ("  ```yaml\n  draft: b\n  ```", said(draft="b")),
    "a longer fence around a shorter one": (
        "````yaml\ndraft: |\n  ```\n  x\n  ```\n````",
        said(draft="```\nx\n```"),
    ),
    "an empty fence": ("```yaml\n```", said()),
    "talk around a fence": (
        "Here you are:\n\n```yaml\ndraft: |\n  a\n\n  ```py\n  b\n  ```\n```\nAnything else?",
        said(draft="a\n\n```py\nb\n```"),
    ),
    "talk and a fence of something else first": (
        "I'd run:\n```sh\nls\n```\nSo:\n```yaml\ndraft: b\n```",
        said(draft="b"),
    ),
    "talk before the first key": ("Sure.\n\nthoughts:\n  - a\ndraft: b", said("a", draft="b")),
    "talk that ends with a colon": ("Here you are:\n\ndraft: b", said(draft="b")),
    "talk before JSON": ('Sure: {"draft": "b"} Bye.', said(draft="b")),
    "talk around an object on several lines": (
        'Sure.\n{\n  "thoughts": ["a"],\n  "draft": "b"\n}\nBye.',
        said("a", draft="b"),
    ),
    "talk after a closed quote": ('draft: "b"\n\nI hope it helps!', said(draft="b")),
    "talk after thoughts": ("thoughts:\n  - a\n  - b\n\nBye for now.", said("a", "b")),
    "thinking aloud": ("<think>\ndraft: not this\n</think>\ndraft: b", said(draft="b")),
    "a byte order mark": ("\ufeffdraft: b", said(draft="b")),
    "carriage returns": ("thoughts:\r\n- a\r\ndraft: |\r\n  b\r\n  c\r\n", said("a", draft="b\nc")),
    "control characters": ("draft: b\x00\x1b[0m", said(draft="b[0m")),
    "a line separator": ("draft: |\n  a\u2028b\n", said(draft="a b")),
    "tabs that indent": ("thoughts:\n\t- a\n\t- b: c: d\n", said("a", "b: c: d")),
    "a second document": ("thoughts: [a]\n---\ndraft: b", said("a")),
    # keys
    "one text as thoughts": ("thoughts: hello", said("hello")),
    "one thought": ("thought: hello", said("hello")),
    "capital keys": ("Thoughts:\n  - a\nDraft: b", said("a", draft="b")),
    "foreign keys": ("mood: calm\ndraft: b\nnotes: {x: [y]}", said(draft="b")),
    "a list of one draft": ("draft: [b]", said(draft="b")),
    "drafts with one text": ("drafts: b", said(draft="b")),
    "drafts with one item": ("drafts:\n  - b", said(draft="b")),
    "drafts with several": ('{"drafts": ["a", "b"]}', said(draft="b")),
    "draft and drafts": ("drafts: [a]\ndraft: b", said(draft="b")),
    "a draft twice": ("draft: a\ndraft: b", said(draft="b")),
    "a draft twice in JSON": ('{"draft": "a", "draft": "b"}', said(draft="b")),
    "thoughts twice": ("thoughts: [a]\ndraft: c\nthoughts: [b]", said("a", "b", draft="c")),
    "skip with content": ("skip: true\nthoughts: [a]", said("a")),
    "skip with something else": ("skip: perhaps\ndraft: b", said(draft="b")),
    "a percentage": ("draft: b\nconfidence: 80%", said(draft="b", confidence=0.8)),
    "a confidence in words": ("draft: b\nconfidence: high", said(draft="b")),
    "a confidence of more than one": ("draft: b\nconfidence: 7", said(draft="b")),
    "a confidence that is no number": ("draft: b\nconfidence: .nan", said(draft="b")),
    "annotations without a draft": ("thoughts: [a]\nconfidence: 1\nworking: yes", said("a")),
    "blank texts": ('thoughts: ["  ", a]\ndraft: "\\n"', said("a")),
    # texts that look like structure
    "a thought with a colon": ("thoughts:\n  - note: x\n  - b", said("note: x", "b")),
    "a thought with two colons": (
        "thoughts:\n  - note: x: y\n  - b\ndraft: c",
        said("note: x: y", "b", draft="c"),
    ),
    "a thought of several lines with colons": (
        "thoughts:\n  - first: a\n    then: b\n  - c",
        said("first: a\nthen: b", "c"),
    ),
    "a thought that is a list": ("thoughts:\n  - [a, b]\n  - c", said("[a, b]", "c")),
    "a thought in JSON that is an object": (
        '{"thoughts": [{"note": "x"}, "b"]}',
        said('{"note": "x"}', "b"),
    ),
    "a draft with a colon": ("draft: Foo: bar", said(draft="Foo: bar")),
    "a draft with a colon on several lines": (
        "draft: Foo: bar\n  and: more\nthoughts: [a]",
        said("a", draft="Foo: bar\nand: more"),
    ),
    "a draft of lines with colons": (
        "draft:\n  Dear Ann: thanks\n  Yours: me\n",
        said(draft="Dear Ann: thanks\nYours: me"),
    ),
    "a draft that is a bullet list": ("draft:\n  - one\n  - two\n", said(draft="- one\n- two")),
    "a draft with emphasis": ("draft: *Yes* and no", said(draft="*Yes* and no")),
    "a draft with strong emphasis": ("draft: **Yes** and no", said(draft="**Yes** and no")),
    "a draft with code": ("draft: `ls` lists", said(draft="`ls` lists")),
    "a draft with a mention": ("draft: @ann knows", said(draft="@ann knows")),
    "a draft with a link": ("draft: [this](x) helps", said(draft="[this](x) helps")),
    "a draft that begins with a quote": ('draft: "Yes" and no', said(draft='"Yes" and no')),
    "a draft with an exclamation mark": ("draft: !mind the gap", said(draft="!mind the gap")),
    "a draft with a harmless tag": ("draft: !!str 42", said(draft="42")),
    "a quote within quotes": (
        'thoughts:\n  - "he said "hi" twice"\n  - b',
        said('"he said "hi" twice"', "b"),
    ),
    "backslashes in JSON": (
        '{"draft": "\\d+ and \\alpha, \\"x\\""}',
        said(draft='\\d+ and \\alpha, "x"'),
    ),
    "backslashes in YAML": ('draft: "\\d+ or \\alpha\\n"', said(draft="\\d+ or \\alpha")),
    "half a character": ('{"draft": "a\\ud83d"}', said(draft="a\ufffd")),
    "a block sign before text on the same line": ("draft: | Hello", said(draft="Hello")),
    "block signs inside a text": ("draft: a: b > c | d", said(draft="a: b > c | d")),
    "a block that is not indented": (
        "draft: |\nHello: you\n\n  more\nnote: x\n```\nls\n```\nthoughts:\n- a",
        said("a", draft="Hello: you\n\n  more\nnote: x\n```\nls\n```"),
    ),
    "a block that is not indented, in a fence": (
        "```yaml\nthoughts: [a]\ndraft: |\nSee\n```sh\nls\n```\nthere\n```",
        said("a", draft="See\n```sh\nls\n```\nthere"),
    ),
    "a block that is not indented, in a fence of doubtful end": (
        "```yaml\nthoughts: [a]\ndraft: |\nSee\n```\nls\n```\nthere\n```",
        said("a"),
    ),
    "a text below its key, not indented": ("draft:\nHello there", said(draft="Hello there")),
    "a block with a crooked margin": (
        "draft: |\n      deep\n  less deep\n",
        said(draft="    deep\nless deep"),
    ),
    # half a document
    "JSON that breaks off in a thought": ('{"thoughts": ["a", "b", "c and', said("a", "b")),
    "JSON that breaks off in the draft": ('{"thoughts": ["a"], "draft": "b and', said("a")),
    "JSON that breaks off after the draft": (
        '{"draft": "b", "thoughts": ["a", "c',
        said("a", draft="b"),
    ),
    "JSON without its last bracket": ('{"thoughts": ["a"], "draft": "b"', said("a", draft="b")),
    "YAML that breaks off in a quoted draft": ('thoughts:\n  - a\ndraft: "b and', said("a")),
    "YAML that breaks off in a quoted thought": (
        'draft: b\nthoughts: ["a", "c',
        said("a", draft="b"),
    ),
    "a draft that may go on outside": ("thoughts: [a]\ndraft: |\n  b\n\nand c?", said("a")),
    "a draft that is a structure": ('{"thoughts": ["a"], "draft": {"text": "b"}}', said("a")),
    # limits
    "too many thoughts": (
        "thoughts:\n" + "".join(f"  - t{n}\n" for n in range(100)),
        said(*(f"t{n}" for n in range(64))),
    ),
    "a thought that is too long": (f"thoughts: [{'x' * 20_001}, a]", said("a")),
    "a draft that is too long": (f"thoughts: [a]\ndraft: {'x' * 200_001}", said("a")),
}

UNPARSEABLE = {
    "talk": "I think the answer is 42.",
    "talk with colons": "Note: this\nis: not\nwhat: was asked",
    "talk that mentions a draft": "Here is my draft: Hello.",
    "a list": "- a\n- b",
    "a number": "42",
    "a list in JSON": '["a", "b"]',
    "an object with foreign keys": '{"answer": "b"}',
    "control characters alone": "\x00\x00",
    "half a draft": 'draft: "b and',
    "half a draft in JSON": '{"draft": "b and',
    "a draft that may go on outside": "draft: |\n  b\n\nand c?",
    "a draft that is an object": "draft: {text: b}",
    "a draft that is several": "draft: [a, b]",
    "a quote within quotes in JSON": '{"draft": "he said "hi" twice"}',
    "thoughts that are an object": "thoughts: {a: b}",
    "thinking aloud without end": "<think>\nWhat should I say?\ndraft: b",
    "an anchor": "thoughts: &x [a]",
    "an alias": "thoughts: &x [a]\ndraft: *x",
    "an alias to nothing": "draft: *x",
    "an anchor under a foreign key": "notes: &x [a]\ndraft: b",
    "an alias bomb": "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nthoughts: *c",
    "a merge key": "<<: {draft: b}\nthoughts: [a]",
    "a tag that asks for an object": "thoughts: !!python/object/apply:os.system [ls]",
    "a tag that asks for a name": "draft: !!python/name:os.system b",
    "a tag on a list": "thoughts: !things [a]",
    "a tag by address": "draft: !<tag:example.org,2000:x> b",
    "nesting in YAML": "thoughts: " + "[" * 100 + "]" * 100,
    "too many parts": "thoughts:\n" + "- a\n" * 30_000,
    "too many keys": "draft: a: b\n" * 100,
    "a draft that is too long": f"draft: {'x' * 200_001}",
}


@pytest.mark.usefixtures("_reader")
@pytest.mark.parametrize(("text", "expected"), CLEAN.values(), ids=CLEAN.keys())
def test_what_is_well_formed_is_read_as_it_stands(text: str, expected: Output) -> None:
    """No repair is claimed, and every text is what was written, whatever it looks like."""
    assert parse(text) == expected


@pytest.mark.usefixtures("_reader")
@pytest.mark.parametrize(("text", "expected"), REPAIRED.values(), ids=REPAIRED.keys())
def test_what_is_clear_though_malformed_is_repaired_and_said(text: str, expected: Output) -> None:
    """What was meant is kept, what nobody can know is left out, and each repair is a sentence."""
    found = parse(text)
    assert isinstance(found, Output), found
    assert found._replace(repairs=()) == expected
    assert found.repairs
    assert all(repair.endswith(".") and "\n" not in repair for repair in found.repairs)


@pytest.mark.usefixtures("_reader")
@pytest.mark.parametrize("text", UNPARSEABLE.values(), ids=UNPARSEABLE.keys())
def test_what_cannot_be_understood_is_not_guessed(text: str) -> None:
    """Neither silence nor a draft is made of it; the reason is one sentence."""
    found = parse(text)
    assert isinstance(found, Unparseable), found
    assert found.reason.endswith(".")
    assert "\n" not in found.reason


CUT = {
    "a block": ("thoughts:\n  - a\ndraft: |\n  b and", said("a")),
    "a plain draft": ("thoughts:\n  - a\ndraft: b and", said("a")),
    "a thought": ("thoughts:\n  - a\n  - b and", said("a")),
    "a piece": ("thoughts:\n  - a: b: c\ndraft: d: e: f", said("a: b: c")),
    "a bullet list": ("thoughts: [a]\ndraft:\n  - one\n  - tw", said("a")),
    "a closed quote": ('draft: "b"', said(draft="b")),
    "a closed fence": ("```\ndraft: b\n```", said(draft="b")),
    "a closed object": ('{"draft": "b"}', said(draft="b")),
    "a value that is no text": ("draft: |\n  b\nskip:", said(draft="b")),
}


@pytest.mark.usefixtures("_reader")
@pytest.mark.parametrize(("text", "expected"), CUT.values(), ids=CUT.keys())
def test_a_reply_that_was_stopped_keeps_what_is_closed(text: str, expected: Output) -> None:
    """A draft that ran into the token limit is never offered as if it were whole."""
    found = parse(text, cut=True)
    assert isinstance(found, Output), found
    assert found._replace(repairs=()) == expected


def test_a_reply_that_was_stopped_in_its_only_text_is_not_silence() -> None:
    """Silence ends a run, so half a draft must not pass for it."""
    assert isinstance(parse("draft: b and", cut=True), Unparseable)


def test_a_huge_reply_is_refused_at_once() -> None:
    """Five million characters take less time than a blink, since nobody reads them."""
    huge = "draft: |\n" + "  words and words\n" * 300_000
    assert len(huge) > 5_000_000
    start = time.process_time()
    found = parse(huge)
    assert time.process_time() - start < 0.05
    assert found == Unparseable(f"The reply has more than {LONGEST_REPLY} characters.")


PATHOLOGICAL = (
    "[", "{", "- ", "? ", ": ", "x: ", "{a: ", "&a ", "!a ", "%a\n", "#a\n", "---\n", "```\n",
    "```x\n", "\t", " ", "\n", "\r", "\x00", "\x85", "\ud800", "{ ", '{"draft":', '"', "'", "\\",
    "thoughts: [", "draft: a: b\n", "draft: |\n", "draft:\n\tx\n", "- a: b: c\n", "<think>",
    "foo: a: b\n", "*a\n", "|\n", " \n", "a, ", '"a", ',
)  # fmt: skip


@pytest.mark.parametrize("unit", PATHOLOGICAL)
@pytest.mark.parametrize(
    "start", ["", "thoughts:\n", "draft: x: y\n", '{"thoughts": [', 'draft: "']
)
def test_no_reply_takes_long(start: str, unit: str) -> None:
    """Sixty thousand characters of anything repeated are read or refused in seconds."""
    begun = time.process_time()
    parse(start + unit * (60_000 // len(unit)))
    assert time.process_time() - begun < 2
