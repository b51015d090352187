"""How groups are found, and what counts as similar, against the same written out in loops."""

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from domain.clustering.calibration import (
    ALIKE,
    PRIOR,
    PRIOR_DEVIATION,
    Calibration,
    calibrated,
    mean_of,
)
from domain.clustering.founding import (
    MANY,
    cohesion,
    founder_for,
    groups,
    similarities,
)
from domain.clustering.linkage import linked
from domain.clustering.rules import Rules
from domain.clustering.table import MARGIN, Table
from domain.clustering.vectors import unpacked
from domain.events import ClusterFormed
from tests.domain.clustering.streams import Stream, dump, topics

numbers = st.integers(-8, 8).map(lambda n: n / 8)


def rows_of(most: int, width: int = 3) -> Any:
    """A few vectors, some of them equal."""
    return st.integers(1, most).flatmap(
        lambda many: arrays(np.float64, (many, width), elements=numbers)
    )


def space(width: int, **more: Any) -> Calibration:
    """A calibrated space."""
    fields = {"count": 9, "mean": np.linspace(-0.2, 0.3, width), "scale": 0.8, "deviation": 0.2}
    return Calibration(**{**fields, **more})


def naive_linkage(pairs: Any, least: float) -> list[list[int]]:
    """Average linkage by its definition: join the two closest groups while they are close."""
    found = [[place] for place in range(len(pairs))]
    while len(found) > 1:
        links = {
            (a, b): np.mean([pairs[i, j] for i in found[a] for j in found[b]])
            for a, b in combinations(range(len(found)), 2)
        }
        best = max(links.values())
        if best < least:
            break
        a, b = next(pair for pair, link in links.items() if link == best)
        found[a] += found.pop(b)
    return sorted(sorted(group) for group in found)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("least", [-0.4, 0.0, 0.3, 0.7, 5.0])
def test_linkage_is_average_linkage(seed: int, least: float) -> None:
    """Cut where groups would be less similar than that on average."""
    rows = np.array([unpacked(*stored) for stored in topics(25, kinds=5, width=6, seed=seed)])
    pairs = similarities(rows, space(6))
    labels = linked(pairs, least)
    found = [sorted(np.flatnonzero(labels == label).tolist()) for label in set(labels.tolist())]
    assert sorted(found) == naive_linkage(pairs, least)
    for smallest in (1, 2, 3):
        large = [group for group in sorted(found) if len(group) >= smallest]
        assert groups(pairs, least, smallest, "linkage") == large


def test_few_are_no_problem() -> None:
    """One is a group of its own, none is none."""
    assert linked(np.zeros((0, 0)), 0.5).tolist() == []
    assert linked(np.ones((1, 1)), 0.5).tolist() == [0]
    assert groups(np.zeros((0, 0)), 0.5, 1, "linkage") == []
    assert groups(np.ones((1, 1)), 0.5, 1, "linkage") == [[0]]
    assert groups(np.ones((2, 2)), 0.5, 2, "linkage") == [[0, 1]]


@given(rows_of(9))
@settings(max_examples=80, deadline=None)
def test_similarities_are_measured_pair_by_pair(rows: Any) -> None:
    """Centred, scaled, rounded: the same number for the same two, whichever way it is computed."""
    here = space(3)
    pairs = similarities(rows, here)
    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            exact = plain(one, other, here)
            lengths = math.sqrt(plain(one, one, here) * plain(other, other, here)) * here.scale
            cosine = exact * here.scale / lengths if lengths else 0.0
            if abs(cosine - ALIKE) < 1e-9:
                continue  # it may be taken as either
            wanted = max(exact, cosine) if cosine > ALIKE else exact
            assert pairs[i, j] == pytest.approx(wanted, abs=2e-9)
            assert here.similarity(one, other) == pytest.approx(pairs[i, j], abs=2e-9)
            assert pairs[i, j] == pairs[j, i]
    for members in combinations(range(len(rows)), 3):
        inner = [pairs[a, b] for a, b in combinations(members, 2)]
        assert cohesion(pairs, list(members)) == pytest.approx(sum(inner) / 3)


@given(rows_of(8), rows_of(8))
@settings(max_examples=80, deadline=None)
def test_the_link_of_two_middles_is_the_average_of_all_links(some: Any, others: Any) -> None:
    """The closed formula that everything rests on."""
    here = space(3)
    link = here.similarity(some.mean(axis=0), others.mean(axis=0))
    links = [plain(one, other, here) for one in some for other in others]
    average = sum(links) / len(links)
    # those that say the same count with their cosine, if that is more
    assert link == pytest.approx(average, abs=1e-8) or ALIKE - 1e-9 <= link <= 1 + 1e-9
    assert link >= average - 1e-8


def plain(one: Any, other: Any, here: Calibration) -> float:
    """What two have in common, seen from the middle, before it is asked whether they are alike."""
    terms = [(a - m) * (b - m) for a, b, m in zip(one, other, here.mean, strict=True)]
    return float(sum(terms)) / here.scale


@given(rows_of(12), st.integers(0, 500))
@settings(max_examples=120, deadline=None)
def test_a_calibration_is_what_its_formula_says(rows: Any, more: int) -> None:
    """Mean square from the middle; root mean square of pairs, with twenty assumed ones."""
    count, total = len(rows) + more, rows.sum(axis=0)
    mean = mean_of(total, count)
    assert mean.tolist() == [t / (count + PRIOR) for t in total]
    scale, deviation = calibrated(rows, mean, count)
    centred = [[x - m for x, m in zip(row, mean, strict=True)] for row in rows]
    square = sum(sum(x * x for x in row) for row in centred) / len(rows)
    assert scale == pytest.approx(max(square, 1e-6), abs=6e-7)
    pairs = [
        (sum(a * b for a, b in zip(one, other, strict=True)) / scale) ** 2
        for i, one in enumerate(centred)
        for j, other in enumerate(centred)
        if i != j
    ]
    common = sum(pairs) / len(pairs) if pairs else 0.0
    exact = (count * common + PRIOR * PRIOR_DEVIATION**2) / (count + PRIOR)
    assert deviation == pytest.approx(exact**0.5, abs=1e-6, rel=1e-6)
    assert (round(scale, 6), round(deviation, 6)) == (scale, deviation)


# screening


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_screening_is_near_enough(data: Any) -> None:
    """Whatever was put, dropped and measured before: each row under its key, within the margin."""
    table, kept, here = Table(3), dict[int, Any](), space(3)
    vectors = [unpacked(*stored) for stored in topics(30, width=3)]
    calibrated_ = data.draw(st.booleans())
    for _ in range(data.draw(st.integers(1, 90))):
        key = data.draw(st.integers(0, 75))
        if key in kept and data.draw(st.booleans()):
            table.drop(key)
            del kept[key]
            continue
        kept[key] = vectors[data.draw(st.integers(0, 29))]
        table.put(key, kept[key], here if calibrated_ else None)
        if data.draw(st.integers(0, 9)) == 0:
            here = space(3, scale=data.draw(st.floats(0.3, 2)), mean=vectors[0] / 3)
            table.measure(here)
            calibrated_ = True
    assert len(table) == len(kept)
    assert sorted(map(int, table.keys)) == sorted(kept) == table.newest(100)
    assert [key in table for key in range(80)] == [key in kept for key in range(80)]
    if kept:
        assert table.oldest() == min(kept)
        assert table.newest(3) == sorted(kept)[-3:]
    table.measure(here)
    screened = table.screened(np.array(vectors[:6]), here)
    for line, alike, vector in zip(*screened, vectors[:6], strict=True):
        for key, near, same in zip(table.keys, line, alike, strict=True):
            assert table.vector(int(key)).tolist() == kept[int(key)].astype(np.float32).tolist()
            exact = plain(vector, kept[int(key)], here)
            assert abs(near - exact) < MARGIN / 4
            assert same or here.similarity(vector, kept[int(key)]) <= exact + 1e-9


def test_screening_is_near_enough_for_wide_vectors() -> None:
    """A thousand and a half numbers, and a middle that is far from zero."""
    width = 1536
    rows = np.array([unpacked(*stored) for stored in topics(60, width=width, noise=100)])
    for scale in (1.0, 0.3, 0.05):
        here = space(width, mean=rows.mean(axis=0) * 0.9, scale=scale)
        table = Table(width)
        for key, row in enumerate(rows[:40]):
            table.put(key, row, here)
        found, alike = table.screened(rows, here)
        exact = similarities(rows, here)
        for place, key in enumerate(table.keys):
            apart = np.abs(found[:, place] - exact[:, int(key)])
            assert apart[~alike[:, place]].max() < MARGIN
        assert alike[range(40), range(40)].all()


# the founders


def test_who_founds() -> None:
    """As it is asked for; by itself HDBSCAN only where there are many and it is installed."""
    pytest.importorskip("hdbscan")
    assert founder_for("linkage", 10**6) == "linkage"
    assert founder_for("hdbscan", 1) == "hdbscan"
    assert founder_for("auto", MANY - 1) == "linkage"
    assert founder_for("auto", MANY) == "hdbscan"


def test_hdbscan_founds_what_is_dense_and_alike() -> None:
    """What it proposes must be alike as well; else it would always find something."""
    pytest.importorskip("hdbscan")
    rows = np.array([unpacked(*stored) for stored in topics(120, noise=100)])
    pairs = similarities(rows, space(16))
    loose, tight = (groups(pairs, least, 3, "hdbscan") for least in (-9.0, 0.5))
    assert len(loose) > 2
    assert [group for group in loose if cohesion(pairs, group) >= 0.5] == tight
    assert tight == sorted(tight)
    assert groups(pairs, 9.0, 3, "hdbscan") == []
    assert groups(pairs[:2, :2], -9.0, 3, "hdbscan") == []
    assert groups(pairs[:1, :1], -9.0, 1, "hdbscan") == []


def test_a_stream_that_hdbscan_founds() -> None:
    """It says so, and folds as any other."""
    pytest.importorskip("hdbscan")
    stream = Stream(Rules(founder="hdbscan")).lives(topics(120), each=20)
    hows = {e.how for e in stream.decided if isinstance(e, ClusterFormed)}
    assert hows == {"hdbscan"}
    assert dump(stream.again()) == dump(stream.partition)


def test_many_at_once_are_given_to_hdbscan() -> None:
    """Where nobody chose a founder."""
    pytest.importorskip("hdbscan")
    stream = Stream(room=MANY)
    stream.arrives(*topics(MANY))
    assert {e.how for e in stream.decided if isinstance(e, ClusterFormed)} == {"hdbscan"}
