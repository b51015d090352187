"""Vectors as they are stored: of length 1, on a grid on which sums are exact."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from domain.clustering.vectors import GRID, Precision, Shelf, Stored, matrix, packed, unpacked
from tests.domain.clustering.streams import topics, vector

PRECISIONS: tuple[Precision, ...] = ("float16", "float32")
BYTES = {"float16": 2, "float32": 4}
ROUNDED = {"float16": 2**-12, "float32": 2**-25}
"""By how much a number may be off, at most."""

finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
rows = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=9), elements=finite)
any_rows = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=6))
precisions = st.sampled_from(PRECISIONS)


def one(row: Sequence[float], precision: Precision = "float16") -> bytes | None:
    """The bytes of a single row."""
    (data,) = packed(np.array([row], np.float64), precision)
    return data


@given(rows, precisions)
@settings(max_examples=120, deadline=None)
def test_what_is_stored_is_the_direction(raw: Any, precision: Precision) -> None:
    """Of length 1 but for rounding, on the grid, and near enough to the direction that it was."""
    for row, data in zip(raw, packed(raw, precision), strict=True):
        if not np.any(row):
            assert data is None
            continue
        assert data is not None
        assert len(data) == BYTES[precision] * len(row)
        back = unpacked(data, len(row))
        assert np.all(back / GRID == np.rint(back / GRID))
        scaled = row / np.abs(row).max()
        assert np.abs(back - scaled / np.sqrt((scaled**2).sum())).max() <= ROUNDED[precision]
        assert abs(float(np.sqrt((back**2).sum())) - 1) <= len(row) * ROUNDED[precision]


@given(any_rows, precisions)
@settings(max_examples=80, deadline=None)
def test_a_row_without_a_direction_has_no_bytes(raw: Any, precision: Precision) -> None:
    """One number that is not finite, or nothing but zeros; its neighbours are none the worse."""
    stored = packed(raw, precision)
    for row, data in zip(raw, stored, strict=True):
        assert (data is None) == (not np.isfinite(row).all() or not row.any())
        assert [data] == packed(row[None], precision)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_packing_what_was_unpacked_changes_little(precision: Precision) -> None:
    """Rounding an already rounded vector moves no number by more than its last digit."""
    for stored in topics(40, width=13):
        row = unpacked(*stored)
        again = one(row, precision)
        assert again is not None
        assert np.abs(unpacked(again, 13) - row).max() <= 2**-10


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-300, 1e-160, 1.0, 1e160, 1e300, 1.7e308])
def test_huge_and_tiny_rows_have_a_direction(size: float, precision: Precision) -> None:
    """As long as anything is left of it, and whatever it would square to."""
    data = one([size, 0, -size], precision)
    assert data is not None
    assert unpacked(data, 3) == pytest.approx([0.5**0.5, 0, -(0.5**0.5)], abs=2**-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_one_bad_number_spoils_its_own_row(bad: float) -> None:
    """And no other."""
    assert packed(np.array([[1, 0], [0, bad], [0, 1]])) == [one([1, 0]), None, one([0, 1])]


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int64, np.longdouble])
def test_any_kind_of_number_is_taken(kind: Any) -> None:
    """Embedders differ."""
    assert packed(np.array([[0, 3]], kind)) == [one([0, 1])]


def test_nothing_at_all_is_no_vector() -> None:
    """No rows give no bytes; rows without numbers have no direction."""
    assert packed(np.zeros((0, 4))) == []
    assert packed(np.zeros((2, 0))) == [None, None]


@pytest.mark.parametrize(
    ("data", "dimension"),
    [
        (b"", 0),
        (b"", 3),
        (b"xx", 0),
        (b"xx", -1),
        (b"xxx", 1),
        (b"xxx", 2),
        (bytes(6), 4),
        (bytes(8), 1),
        (bytes(16), 2),
        (bytes(3), 3),
    ],
)
def test_bytes_of_the_wrong_size_are_refused(data: bytes, dimension: int) -> None:
    """Two or four bytes a number, or it is no vector."""
    with pytest.raises(ValueError, match="bytes are no vector"):
        unpacked(data, dimension)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["<f2", "<f4"])
def test_stored_numbers_that_are_not_finite_are_refused(number: float, kind: str) -> None:
    """Such a vector would spoil every sum that it enters."""
    with pytest.raises(ValueError, match="not finite"):
        unpacked(np.array([0, number], kind).tobytes(), 2)


@given(st.lists(st.integers(-300, 300), min_size=1, max_size=9).filter(any))
def test_tests_make_vectors_as_the_code_does(numbers: list[int]) -> None:
    """The generator of the tests, by whole-number roots, rounds to nearly the same."""
    ours = one(numbers)
    assert ours is not None
    there = unpacked(*vector(numbers))
    assert np.abs(unpacked(ours, len(numbers)) - there).max() <= 2**-11


def test_sums_are_exact_in_any_order() -> None:
    """Ten thousand vectors of both precisions; what was added can be taken away without a trace."""
    wide = [vector([n % 7 - 3, n % 11 - 5, n % 13 - 6, 1], "ef"[n % 2]) for n in range(10_000)]
    unit = np.array([unpacked(*stored) for stored in wide])
    forth, back = np.zeros(4), np.zeros(4)
    for row in unit:
        forth = forth + row
    for row in unit[::-1]:
        back = back + row
    assert forth.tobytes() == back.tobytes() == unit.sum(axis=0).tobytes()
    for row in unit:
        forth = forth - row
    assert forth.tobytes() == np.zeros(4).tobytes()


# the shelf


def shelf(log: dict[int, Stored | int], room: int = 2) -> tuple[Shelf, list[list[int]]]:
    """A shelf with little room over something like a log, and what it asked that for."""
    asked: list[list[int]] = []

    def fetch(thoughts: Sequence[int]) -> Iterator[Stored | int]:
        asked.append(list(thoughts))
        return iter([log[t] for t in thoughts if t in log])

    return Shelf(fetch, room), asked


def test_what_is_no_longer_at_hand_is_looked_up() -> None:
    """Once for all of them, in the order asked for."""
    log: dict[int, Stored | int] = dict(enumerate(topics(9), 1))
    kept, asked = shelf(log)
    for thought, stored in log.items():
        assert isinstance(stored, Stored)
        kept.keep(thought, stored)
    exact = np.array([unpacked(*log[t]) for t in (9, 1, 8, 2, 1)])  # type: ignore[misc]
    assert kept.rows([9, 1, 8, 2, 1]).tobytes() == exact.tobytes()
    assert len(asked) == 1
    assert kept.one(3).tobytes() == unpacked(*log[3]).tobytes()  # type: ignore[misc]
    assert kept.stored(9) == log[9]


def test_the_very_same_vector_is_found_where_it_is() -> None:
    """Whether it came with that thought or later, and through any number of steps."""
    first, second = topics(2)
    kept, _ = shelf({1: first, 2: 1, 3: 2, 5: 4})
    kept.keep(4, second, lasting=True)
    assert [kept.stored(t) for t in (3, 2, 1, 5)] == [first, first, first, second]
    exact = np.array([unpacked(*s) for s in (second, first, first)])
    assert kept.rows([5, 3, 1]).tobytes() == exact.tobytes()


def test_what_came_late_is_never_let_go() -> None:
    """It can't be looked up by its thought; a restart lets go of everything."""
    first, *others = topics(30)
    kept, asked = shelf({})
    kept.keep(1, first, lasting=True)
    for thought, stored in enumerate(others, 2):
        kept.keep(thought, stored)
    assert kept.stored(1) == first
    assert asked == []
    kept.clear()
    with pytest.raises(KeyError):
        kept.stored(1)


def test_a_thought_without_a_vector_is_an_error() -> None:
    """Not somebody else's vector."""
    kept, _ = shelf({1: topics(1)[0]})
    with pytest.raises(KeyError):
        kept.stored(2)
    with pytest.raises(ValueError, match="zip"):
        kept.rows([2, 1])


def test_precisions_may_be_mixed() -> None:
    """The setting was changed: old vectors stay as they were."""
    mixed = [vector([3, 4, 12], "e"), vector([3, 4, 12], "f"), vector([0, 1, 0], "e")]
    exact = np.array([unpacked(*stored) for stored in mixed])
    assert matrix(mixed).tobytes() == exact.tobytes()
    assert matrix(mixed[:1]).tobytes() == exact[:1].tobytes()
