"""The elements of large JSON arrays, whatever the chunks in which the file is read."""

import io
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from commands.imports.elements import Element, Whole, scan

VALUES = st.recursive(
    st.none() | st.integers() | st.sampled_from(["", 'a"b\\', "[{", "é\u2028", '"', "]},", "\\"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["messages", '"', "b]"]), inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.lists(st.dictionaries(st.sampled_from(["a", "messages"]), VALUES) | st.lists(VALUES))


@settings(max_examples=50, deadline=None)
@given(OBJECTS, st.integers(1, 40), st.sampled_from([None, 1]), st.booleans())
def test_an_array(elements: list[Any], size: int, indent: int | None, ascii_: bool) -> None:
    """Each element is given once, in order, to the letter."""
    text = json.dumps(elements, indent=indent, ensure_ascii=ascii_).encode()
    *found, end = scan(io.BytesIO(b"\xef\xbb\xbf " + text + b"\n\n"), "file", chunk=size)
    assert [json.loads(one.text) for one in found if isinstance(one, Element)] == elements
    assert isinstance(end, Whole)
    assert json.loads(end.rest) == []
    lines = [one.line for one in found if isinstance(one, Element)]
    assert lines == sorted(lines)


@settings(max_examples=50, deadline=None)
@given(OBJECTS, VALUES, st.integers(1, 40))
def test_objects_with_the_array(elements: list[Any], other: Any, size: int) -> None:
    """Of objects one after the other, the elements under the key are given, the rest at the end."""
    text = json.dumps({"x": other, 'y\\"messages': [1], "messages": elements, "z": other}).encode()
    found = list(scan(io.BytesIO(text + b"\n" + text), "file", b"messages", chunk=size))
    given_ = [json.loads(one.text) for one in found if isinstance(one, Element)]
    assert given_ == elements * 2
    ends = [one for one in found if isinstance(one, Whole)]
    rest = {"x": other, 'y\\"messages': [1], "messages": [], "z": other}
    assert [json.loads(one.rest) for one in ends] == [rest, rest]
    assert [(one.offset, one.end, one.line) for one in ends] == [
        (0, len(text), 1),
        (len(text) + 1, 2 * len(text) + 1, 2),
    ]


def test_a_string_as_long_as_many_chunks() -> None:
    """It is not read anew with every chunk: what is read at a time grows with it."""
    text = json.dumps([{"a": "x" * 2_000_000}]).encode()
    reads: list[int] = []

    class Counted(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            reads.append(size or -1)
            return super().read(size)

    (one, _) = scan(Counted(text), "file", chunk=8)
    assert isinstance(one, Element)
    assert one.text == text[1:-1]
    assert len(reads) < 30
