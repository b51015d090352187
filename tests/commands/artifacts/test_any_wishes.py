"""Whatever is wished about artifacts, in whatever order: the shelf stays whole and small."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain.artifacts import MOST, THREADS, Artifact
from domain.context import assemble
from domain.errors import Refused
from domain.events import ArtifactsEvicted, Caused, Event
from domain.lives import Life, live
from domain.session import Session, fold
from tests.artifact_wishes import Known, Wish, families, some, wishes
from tests.domain.happened import STARTED, exchanged, learned, opened
from tests.spec import recorded


class Telling:
    """A session to which events happen, with what is known of all its artifacts."""

    def __init__(self) -> None:
        state = fold(recorded([STARTED]))
        assert state is not None
        self.state: Session = state
        self.lives: dict[int, Life] = {}

    def happens(self, *events: Event) -> None:
        """They are folded."""
        for one in recorded(events, self.state.version):
            state = fold([one], self.state)
            assert state is not None
            self.state = state
            live(self.lives, one.event, one.version)

    @property
    def known(self) -> Known:
        """All artifacts as last known."""
        return tuple(self.lives.values())

    def wish(self, wish: Wish) -> None:
        """What is not refused has happened."""
        try:
            decided = list(wish(self.state, self.known).decide(self.state))
        except Refused:
            return
        assert decided
        for number, one in enumerate(decided, self.state.version + 1):
            assert not isinstance(one, Caused) or (one.cause or 0) < number
        self.happens(*(one.event if isinstance(one, Caused) else one for one in decided))

    def check(self) -> None:
        """What must always be so."""
        shelf = self.state.shelf
        ids = [artifact.id for artifact in shelf.artifacts]
        assert ids == sorted(set(ids))
        assert len(ids) <= MOST
        assert len(shelf.threads) <= THREADS
        assert len({place.exchange for place in shelf.threads}) == len(shelf.threads)
        for artifact in shelf.artifacts:
            life = self.lives[artifact.id]
            assert life.left is None
            assert _said(life.artifact) == _said(artifact)
        if len(self.lives) <= MOST:
            assert {id_ for id_, life in self.lives.items() if life.left is None} == set(ids)
        self._check_parts()
        context = assemble(self.state, "2026-05-02T10:00")
        assert context.tokens <= self.state.config.context_tokens

    def _check_parts(self) -> None:
        """Nothing is a part of itself, whatever was merged."""
        for id_ in self.lives:
            seen: set[int] = set()
            part: int | None = id_
            while part is not None and part in self.lives:
                assert part not in seen, (part, self.lives)
                seen.add(part)
                part = self.lives[part].artifact.parent


def _said(artifact: Artifact) -> tuple[Any, ...]:
    """All of it but its turns."""
    return tuple(artifact._replace(turn=0, referenced=0))


steps = st.one_of(wishes, wishes, wishes, st.just("turn"), st.integers(0, 60))


@given(st.lists(steps, max_size=40))
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_wishes_leave_a_whole_shelf(program: list[Any]) -> None:
    """No wish breaks the state, and what is known of artifacts is what lies on the shelf."""
    telling, turn = Telling(), 0
    for step in program:
        if step == "turn":
            turn += 1
            telling.happens(*exchanged(turn))
        elif isinstance(step, int):
            artifact = telling.state.shelf.get(some(telling.state, (), step))
            if artifact is not None:
                telling.happens(ArtifactsEvicted(artifacts=(artifact.id,), turn=turn))
        else:
            telling.wish(step)
        telling.check()


@given(st.lists(st.one_of(families, families, families, st.integers(0, 60)), max_size=25))
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_efforts_and_their_parts(program: list[Any]) -> None:
    """Whatever is part of what, left, came back and was merged: nothing is a part of itself."""
    telling = Telling()
    telling.happens(opened("one"), opened("another", parent=2), opened("a third", parent=3))
    for step in program:
        if isinstance(step, int):
            artifact = telling.state.shelf.get(some(telling.state, (), step))
            if artifact is not None:
                telling.happens(ArtifactsEvicted(artifacts=(artifact.id,), turn=0))
        else:
            telling.wish(step)
        telling.check()


def test_a_full_shelf_stays_bounded() -> None:
    """Whatever comes, there are only so many; what was pushed off is still known."""
    telling = Telling()
    telling.happens(*(learned(f"fact {number}") for number in range(MOST + 40)))
    telling.check()
    assert len(telling.state.shelf.artifacts) == MOST
    assert len(telling.lives) == MOST + 40
