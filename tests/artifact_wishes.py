"""Anything that people may wish about artifacts, as hypothesis draws it."""

from collections.abc import Callable, Iterable
from typing import Any

from hypothesis import strategies as st

from commands.artifacts.about import RecallArtifact
from commands.artifacts.edits import (
    EditArtifact,
    ExcludeArtifact,
    LinkArtifacts,
    MergeArtifacts,
    RejectArtifact,
)
from commands.artifacts.efforts import (
    CollapseEffort,
    ExpandEffort,
    OpenEffort,
    ReopenEffort,
    ResolveEffort,
    RouteExchange,
)
from commands.artifacts.facts import LearnFact, NoteEvent, SupersedeFact
from commands.command import Command
from domain.lives import Life
from domain.session import Session

Known = tuple[Life, ...]
Wish = Callable[[Session, Known], Command]

texts = st.sampled_from(("tides", "the moon pulls", "  two\nlines ", "ünï😀", "")) | st.text(
    st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=12
)
moments = st.none() | st.sampled_from(("2026-05-02", "2026-05-02T15:00", "2026-06-01", "soon"))
places = st.integers(min_value=0, max_value=60)


def some(session: Session, known: Iterable[Life], place: int) -> int:
    """An artifact: mostly one that is there, by its place among them."""
    ids = sorted({a.id for a in session.shelf.artifacts} | {life.artifact.id for life in known})
    return ids[place % len(ids)] if ids and place % 11 else place


def exchange(session: Session, place: int) -> str:
    """An exchange: mostly one that is there."""
    talk = session.dialogue
    names = [e.id for e in talk.history] + ([talk.awaiting.exchange] if talk.awaiting else [])
    return names[place % len(names)] if names and place % 7 else f"exc_{place}_000"


def one_of(
    command: type[Command], about: tuple[str, ...] = (), **fields: st.SearchStrategy[Any]
) -> st.SearchStrategy[Wish]:
    """Wishes of a class; the fields ``about`` name artifacts."""

    def wish(drawn: dict[str, Any]) -> Wish:
        def complete(session: Session, known: Known) -> Command:
            given = dict(drawn)
            for name in about:
                place = given[name]
                given[name] = None if place is None else some(session, known, place)
            if given.get("exchange") is not None:
                given["exchange"] = exchange(session, given["exchange"])
            if "known" in command.model_fields:
                given["known"] = known
            return command(**given)

        return complete

    return st.fixed_dictionaries(fields).map(wish)


maybe = st.none() | places
goals = st.sampled_from(("one", "another", "a third", "a fourth", "a fifth"))
families: st.SearchStrategy[Wish] = st.one_of(
    one_of(OpenEffort, ("parent",), goal=goals, parent=places),
    one_of(OpenEffort, ("parent",), goal=goals, parent=maybe),
    one_of(MergeArtifacts, ("artifact", "into"), artifact=places, into=places),
    one_of(ResolveEffort, ("effort",), effort=places, resolution=goals),
    one_of(RecallArtifact, ("artifact",), artifact=places),
)
"""Efforts and their parts alone."""

outcomes = st.sampled_from(("done", "failed", "abandoned"))
wishes: st.SearchStrategy[Wish] = st.one_of(
    one_of(OpenEffort, ("parent",), goal=texts, parent=maybe, exchange=maybe),
    one_of(OpenEffort, goal=texts),
    one_of(ResolveEffort, ("effort",), effort=places, resolution=texts, outcome=outcomes),
    one_of(ReopenEffort, ("effort",), effort=places, reason=st.none() | texts),
    one_of(ExpandEffort, ("effort",), effort=places),
    one_of(CollapseEffort, ("effort",), effort=places),
    one_of(RouteExchange, ("effort",), exchange=places, effort=maybe),
    one_of(LearnFact, ("effort",), statement=texts, since=moments, effort=maybe),
    one_of(LearnFact, ("supersedes",), statement=texts, supersedes=maybe),
    one_of(SupersedeFact, ("fact", "by"), fact=places, by=maybe, statement=st.none() | texts),
    one_of(NoteEvent, what=texts, when=moments, expires=moments),
    one_of(EditArtifact, ("artifact",), artifact=places, text=st.none() | texts, when=moments),
    one_of(MergeArtifacts, ("artifact", "into"), artifact=places, into=places),
    one_of(RejectArtifact, ("artifact",), artifact=places, reason=st.none() | texts),
    one_of(LinkArtifacts, ("artifact", "to"), artifact=places, to=places, relation=texts),
    one_of(ExcludeArtifact, ("artifact",), artifact=places, excluded=st.booleans()),
    one_of(RecallArtifact, ("artifact",), artifact=places, words=st.none() | texts),
)
