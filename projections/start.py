"""Where a new talk may begin: chats and artifacts that have to do with what somebody wants."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from domain.ids import SessionId
from domain.lives import LIVES, Life, lives
from domain.log import Log
from domain.session import Session
from projections.search.hit import Hit

CHATS = 3
"""Chats that are offered."""

MOST = 6
"""Artifacts that are offered."""

LIKELY = 0.35
"""The score, as a part of the best one, from which on a hit has to do with what is wanted."""


class Related(NamedTuple):
    """A chat that has to do with it."""

    session: SessionId
    title: str
    at: int
    """When something last happened there, µs since 1970."""
    summary: str
    """What it came to, or what it was about."""
    facts: int
    open_efforts: tuple[str, ...]
    resolved_efforts: int
    score: float


class Found(NamedTuple):
    """An artifact that has to do with it."""

    session: SessionId
    artifact: int
    type: str
    status: str
    text: str
    score: float


class Offer(NamedTuple):
    """What a user chooses from, best first."""

    chats: tuple[Related, ...]
    artifacts: tuple[Found, ...]


def offer(log: Log, hits: Sequence[Hit]) -> Offer:
    """Group what a search found by chat.

    Args:
        log: where they live.
        hits: what was found in sessions, best first, of all kinds.
    """
    best = max((hit.score for hit in hits), default=0.0)
    likely = [hit for hit in hits if hit.score >= LIKELY * best]
    scores: dict[SessionId, float] = {}
    for hit in likely:
        # the best hit counts most: a long chat is not more related for being long
        before = scores.get(hit.session, 0.0)
        scores[hit.session] = max(before, hit.score) + 0.1 * min(before, hit.score)
    known = {
        session: {
            id_: life
            for id_, life in lives(log.read(session, kinds=LIVES)).items()
            if life.left not in {"superseded", "merged", "rejected"}
        }
        for session in scores
    }
    ranked = sorted(scores, key=lambda session: -scores[session])
    states = [log.state(session) for session in ranked]
    chats = [
        _related(state, known[state.id].values(), scores[state.id])
        for state in states
        if not state.archived
    ]
    return Offer(tuple(chats[:CHATS]), tuple(islice(_artifacts(likely, known), MOST)))


def _related(state: Session, known: Iterable[Life], score: float) -> Related:
    efforts = [life.artifact for life in known if life.artifact.type == "effort"]
    done = [a for a in efforts if a.status == "resolved"]
    history, awaiting = state.dialogue.history, state.dialogue.awaiting
    if done:
        summary = f"{done[-1].text} => {done[-1].resolution}"
    elif history:
        summary = history[0].question
    else:
        summary = awaiting.text if awaiting else ""
    return Related(
        state.id,
        state.title,
        state.at,
        " ".join(summary.split()),
        sum(life.artifact.type == "fact" for life in known),
        tuple(a.text for a in efforts if a.is_open),
        len(done),
        score,
    )


def _artifacts(
    hits: Sequence[Hit], known: Mapping[SessionId, Mapping[int, Life]]
) -> Iterator[Found]:
    seen = set()
    for hit in hits:
        life = known[hit.session].get(hit.artifact) if hit.artifact is not None else None
        key = (hit.session, hit.artifact)
        if life is None or hit.kind == "summary" or key in seen:
            continue
        seen.add(key)
        one = life.artifact
        text = one.text if one.resolution is None else f"{one.text} => {one.resolution}"
        yield Found(hit.session, one.id, one.type, one.status, text, hit.score)
