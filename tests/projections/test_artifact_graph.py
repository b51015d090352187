"""How artifacts hang together, drawn in layers."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli import pictures
from commands.artifacts.edits import LinkArtifacts, MergeArtifacts, RejectArtifact
from commands.artifacts.efforts import OpenEffort, ResolveEffort
from commands.artifacts.facts import LearnFact, NoteEvent, SupersedeFact
from commands.artifacts.imports import ImportArtifact, find_origin
from commands.handle import handle
from commands.sessions import start_session
from domain.ids import SessionId
from projections.artifact_graph import Edge, Graph, Node, graph, placed
from projections.artifacts import catalogue
from tests.stories.cast import Stage

TIDES, OTHER = SessionId("tides"), SessionId("other")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A session (tides) and another one."""
    stage = Stage(tmp_path).begins()
    start_session(stage.log, OTHER, stage.world, settings={"model": "script:rehearsed"})
    yield stage
    stage.log.close()


def drawn(stage: Stage, session: SessionId = TIDES, *, everything: bool = False) -> Graph:
    """The graph as it stands."""
    return graph(stage.log, session, catalogue(stage.log, session), everything=everything)


def image(found: Graph, title: str = "a graph") -> ET.Element:
    """The picture, read as XML."""
    return ET.fromstring(pictures.svg(found, title))  # noqa: S314 — our own


def edges(found: Graph) -> list[tuple[str, str, str]]:
    """What connects what, and how."""
    return [(edge.start, edge.label, edge.end) for edge in found.edges]


def test_what_hangs_together(stage: Stage) -> None:
    """Parts, facts learned on the way, what supersedes, was merged, is linked."""
    stage.does(
        OpenEffort(goal="explain"),  # 3
        OpenEffort(goal="ask", parent=3),
        LearnFact(statement="a", effort=4),
        SupersedeFact(fact=5, statement="b"),  # 6, 7
        NoteEvent(what="tea", when="2026-06-01", expires="2026-06-02"),
        LinkArtifacts(artifact=8, to=3, relation="ends"),
        OpenEffort(goal="once more"),  # 10
        MergeArtifacts(artifact=10, into=3),
        ResolveEffort(effort=3, resolution="both sides"),
    )
    found = drawn(stage)
    assert [(node.id, node.type, node.standing, node.text) for node in found.nodes] == [
        ("3", "effort", "resolved", "explain => both sides"),
        ("4", "effort", "open", "ask"),
        ("5", "fact", "superseded", "a"),
        ("6", "fact", "current", "b"),
        ("8", "event", "current", "tea (2026-06-01 until 2026-06-02)"),
        ("10", "effort", "merged", "once more"),
    ]
    assert sorted(edges(found)) == [
        ("10", "merged into", "3"),
        ("3", "part", "4"),
        ("4", "learned in", "5"),
        ("4", "learned in", "6"),
        ("6", "supersedes", "5"),
        ("8", "ends", "3"),
    ]


def test_what_should_never_have_been_is_left_out(stage: Stage) -> None:
    """Unless all is asked for."""
    stage.does(LearnFact(statement="a"), LearnFact(statement="b"), RejectArtifact(artifact=3))
    assert [node.id for node in drawn(stage).nodes] == ["4"]
    assert [node.id for node in drawn(stage, everything=True).nodes] == ["3", "4"]


def test_what_was_imported_where(stage: Stage) -> None:
    """The origin to the left of the copy; copies in other sessions to the right of the origin."""
    stage.does(LearnFact(statement="a"))
    origin = find_origin(stage.log, OTHER, TIDES, 3)
    handle(stage.log, OTHER, ImportArtifact(origin=origin, follow=True), stage.world)
    copy = str(stage.log.head(OTHER).version)
    assert edges(drawn(stage, OTHER)) == [("tides@3", "followed", copy)]
    assert edges(drawn(stage)) == [("3", "imported there", f"other@{copy}")]
    assert {p.node.id: p.layer for p in placed(drawn(stage, OTHER))} == {"tides@3": 0, copy: 1}


def test_parts_lie_right_of_their_whole() -> None:
    """In layers, the whole in the middle of its parts."""
    places = {p.node.id: (p.layer, p.row) for p in placed(tree({2: 1, 3: 1, 4: 3, 5: 3}, 6))}
    assert places == {
        "1": (0, 0.75),
        "2": (1, 0.0),
        "3": (1, 1.5),
        "4": (2, 1.0),
        "5": (2, 2.0),
        "6": (0, 3.0),
    }


def tree(wholes: dict[int, int], last: int) -> Graph:
    """Nodes from 1 on, with what they are parts of."""
    nodes = tuple(Node(str(n), "effort", "open", f"goal {n}") for n in range(1, last + 1))
    parts = (Edge(str(whole), str(part), "part", "part") for part, whole in wholes.items())
    return Graph(nodes, tuple(parts))


@given(st.lists(st.integers(0, 30), max_size=30), st.booleans())
@settings(max_examples=100, deadline=None)
def test_no_two_boxes_overlap(wholes: Sequence[int], circle: bool) -> None:
    """Whatever is part of what; even where somebody should have made a circle of it."""
    parts = {n: 1 + whole % (n - 1) for n, whole in enumerate(wholes, 2)}
    if circle and len(parts) > 1:
        parts[1] = len(parts)
    found = tree(parts, len(wholes) + 1)
    places = placed(found)
    assert sorted(int(p.node.id) for p in places) == list(range(1, len(wholes) + 2))
    by_layer: dict[int, list[float]] = {}
    for place in places:
        by_layer.setdefault(place.layer, []).append(place.row)
    for rows in by_layer.values():
        ordered = sorted(rows)
        assert all(low + 1 <= high for low, high in pairwise(ordered))
    image(found)


def test_a_very_deep_nesting_is_drawn() -> None:
    """Without running out of stack."""
    depth = 3000
    found = tree({n: n - 1 for n in range(2, depth + 1)}, depth)
    assert max(place.layer for place in placed(found)) == depth - 1


NASTY = '</text><script>alert("x")</script>\x00\x1b[31m & \ud800 \uffff "quoted" \\ end'


def test_nothing_that_somebody_wrote_is_obeyed() -> None:
    """In the image, in the page, and in Graphviz, a text is a text."""
    found = Graph(
        (Node("1", "fact", "current", NASTY), Node("2", "fact", "superseded", "b")),
        (Edge("1", "2", "link", NASTY),),
    )
    picture = image(found, NASTY)
    assert not list(picture.iter(f"{SVG}script"))
    assert any("<script>" in (text.text or "") for text in picture.iter(f"{SVG}text"))
    page = pictures.page(found, NASTY)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    page.encode()
    dot = pictures.dot(found, NASTY)
    assert '\\"x\\"' in dot
    assert "\x1b" not in dot + page
    assert dot.count("\n") == 6


def test_a_page_needs_nothing_from_elsewhere() -> None:
    """No script, no font, no address but the name of the format; and it says so to the browser."""
    page = pictures.page(tree({2: 1}, 2), "Artifacts")
    assert page.replace("http://www.w3.org/2000/svg", "").count("http") == 1  # http-equiv
    for word in ("<script", "src=", "href=", "@import", "url("):
        assert word not in page.replace('marker-end="url(#end)"', "")
    assert "default-src 'none'" in page


def test_an_empty_graph_is_a_picture_too(stage: Stage) -> None:
    """Of nothing."""
    found = drawn(stage)
    assert (found, placed(found)) == (Graph((), ()), [])
    image(found)
    assert pictures.dot(found, "nothing").startswith('digraph "nothing" {')
