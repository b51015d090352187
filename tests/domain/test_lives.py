"""All artifacts that a session ever had: which events tell of them."""

from typing import get_args

from domain.artifacts import EVOLVE
from domain.events import EVENTS, DetectorInvoked
from domain.events.artifacts import ArtifactType
from domain.lives import BRINGING, BRINGING_KINDS, LIVES, brought, lives, touched
from tests.domain.happened import (
    STARTED,
    edited,
    evicted,
    exchanged,
    happens,
    imported,
    learned,
    linked,
    one_of_two,
    opened,
    recalled,
    rejected,
    resolved,
    routed,
    summed_up,
    superseded,
)
from tests.golden.write import EXAMPLES
from tests.spec import recorded


def test_all_events_of_artifacts_are_read() -> None:
    """All that change the shelf but the looks of the detector, which are many and tell nothing."""
    assert {EVENTS[kind] for kind in LIVES} | {DetectorInvoked} == set(EVOLVE)
    assert {EVENTS[kind] for kind in BRINGING_KINDS} < set(BRINGING)


def test_what_an_event_tells_of() -> None:
    """One that brings an artifact tells of it by its version, any other by what it names."""
    for event in EXAMPLES:
        if type(event) in BRINGING:
            artifact = brought(event, 412)
            assert artifact is not None
            assert artifact.id == 412
        elif event.kind in LIVES:
            assert touched(event), event.kind
            assert brought(event, 412) is None
        else:
            assert (touched(event), brought(event, 412)) == ((), None)
    types = {a.type for e in EXAMPLES if (a := brought(e, 1)) is not None}
    assert types == set(get_args(ArtifactType))


def test_a_conclusion_brings_nothing() -> None:
    """Only a summary is an artifact of its own."""
    assert brought(summed_up("a"), 9) is not None
    assert brought(summed_up("a").model_copy(update={"summary": None}), 9) is None


def test_what_became_of_them() -> None:
    """As last known, each by its own history."""
    history = recorded(
        (
            STARTED,
            learned("a"),  # 2
            learned("b"),
            opened("c"),  # 4
            happens("d"),
            imported("e"),
            edited(2, text="a2"),  # 7
            superseded(2, 3),
            evicted(2, 3, 5),
            resolved(4),  # 10
            linked(3, 4),
            one_of_two(3, 6),  # 12
            rejected(5),
            recalled(5, "d2", "event"),
            routed("exc_1_000", 4),
            *exchanged(1),
        )
    )
    found = lives(one for one in history if one.event.kind in LIVES)
    told = {id_: (life.artifact.text, life.left, life.instead) for id_, life in found.items()}
    assert told == {
        2: ("a2", "superseded", 3),
        3: ("b", "merged", 6),
        4: ("c", None, None),
        5: ("d2", None, None),
        6: ("e", None, None),
    }
    assert {id_: life.changed for id_, life in found.items()} == {2: 8, 3: 12, 4: 10, 5: 14, 6: 6}
    assert found[4].artifact.status == "resolved"
