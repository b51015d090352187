"""Where something begins to hold, in few looks."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import Refused
from projections.bisect import Turn, bisect


class Watched:
    """A question that remembers which versions it was asked about."""

    def __init__(self, holds: Callable[[int], bool | None]) -> None:
        self.holds = holds
        self.asked: list[int] = []

    def __call__(self, version: int) -> bool | None:
        """Look at a version."""
        self.asked.append(version)
        return self.holds(version)


spans = st.tuples(st.integers(1, 500), st.integers(1, 500)).map(lambda p: (p[0], p[0] + p[1]))


@given(spans, st.data())
@settings(deadline=None, max_examples=200)
def test_the_first_version_for_which_it_holds(span: tuple[int, int], data: st.DataObject) -> None:
    """What holds from some version on is found there, in log2(n) looks and those at both ends."""
    start, end = span
    turned = data.draw(st.integers(start + 1, end))
    holds = Watched(lambda version: version >= turned)
    found = bisect(start, end, holds)
    assert found == Turn(turned - 1, turned, len(holds.asked))
    assert holds.asked[:2] == [start, end]
    assert found.looks <= 2 + (end - start - 1).bit_length()
    assert len(set(holds.asked)) == len(holds.asked)


@given(st.lists(st.booleans(), max_size=60))
@settings(deadline=None, max_examples=200)
def test_what_comes_and_goes(between: list[bool]) -> None:
    """A version at which it holds is found, right behind one at which it does not."""
    known = [False, *between, True]
    found = bisect(0, len(known) - 1, known.__getitem__)
    assert found.first == found.before + 1
    assert (known[found.before], known[found.first]) == (False, True)
    assert found.skipped == ()


@given(st.lists(st.sampled_from((True, False, None)), max_size=40))
@settings(deadline=None, max_examples=400)
def test_where_nobody_can_tell(between: list[bool | None]) -> None:
    """The ends of what remains are known, all between them was tried, and nothing twice."""
    known = [False, *between, True]
    holds = Watched(known.__getitem__)
    found = bisect(0, len(known) - 1, holds)
    assert known[found.before] is False
    assert known[found.first] is True
    assert found.skipped == tuple(range(found.before + 1, found.first))
    assert {known[version] for version in found.skipped} <= {None}
    assert found.looks == len(holds.asked) == len(set(holds.asked))


def test_some_that_nobody_can_tell_of_cost_little() -> None:
    """Neighbours are tried, farther and farther: a thousand in the middle are soon passed over."""
    holds = Watched(lambda version: None if 4_500 < version < 5_500 else version >= 8_000)
    assert bisect(1, 10_000, holds).first == 8_000
    assert len(holds.asked) < 50


def test_two_versions_are_enough() -> None:
    """Then nothing lies between them."""
    assert bisect(4, 5, lambda version: version == 5) == Turn(4, 5, 2)


@pytest.mark.parametrize(
    ("known", "sentence"),
    [
        ((True, True), "It holds already at event 1, and at event 2 (2 states looked at): choose"),
        ((True, False), "It holds already at event 1, and no longer at event 2 (2 states"),
        ((False, False), "It does not hold at event 2, nor at event 1 (2 states looked at)"),
        ((None, True), "It can't be told at event 1: choose another end."),
        ((False, None), "It can't be told at event 2: choose another end."),
    ],
)
def test_ends_at_which_it_is_not_so(known: tuple[bool | None, bool | None], sentence: str) -> None:
    """Both are looked at, and the sentence says what is the case."""
    holds = Watched(lambda version: known[version - 1])
    with pytest.raises(Refused) as refusal:
        bisect(1, 2, holds)
    assert sentence in refusal.value.sentence
    assert holds.asked == [1, 2]


@pytest.mark.parametrize("end", [1, 2])
def test_a_start_that_is_not_before_the_end(end: int) -> None:
    """Nothing is looked at."""
    holds = Watched(lambda _: True)
    with pytest.raises(Refused, match=f"event 2 is not before {end}"):
        bisect(2, end, holds)
    assert holds.asked == []
