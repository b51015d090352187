"""What has left the context and is spoken of again."""

from domain.artifacts import Artifact
from domain.detection.matching import Match, matches
from domain.events import ArtifactsEvicted
from domain.lives import LIVES, brought, lives
from domain.log import Log
from domain.session import Session

LOOKED_AT = 200
"""Evicted artifacts, the newest ones, that a message may call back by its words."""

MOST = 3
"""Artifacts that one message calls back."""

CLEARLY, NEARLY = 0.25, 0.5
"""The part of its words that calls one back: with two distinctive ones, and with only one."""


def spoken_of_again(log: Log, state: Session, text: str) -> list[Artifact]:
    """Evicted artifacts that a text clearly speaks of, as they were last; the best first.

    Read are the newest evictions and what these artifacts said when they came; their whole lives
    only where one is called back.
    """
    found = matches(text, _evicted(log, state))
    wanted = [match.artifact.id for match in found if _is_meant(match)][:MOST]
    if not wanted:
        return []
    events = log.read(state.id, after=min(wanted) - 1, upto=state.version, kinds=LIVES)
    known = lives(events)
    return [known[id_].artifact for id_ in wanted if known[id_].left == "evicted"]


def _is_meant(match: Match) -> bool:
    if match.distinctive > 1:
        return match.part >= CLEARLY
    return match.distinctive == 1 and match.part >= NEARLY


def _evicted(log: Log, state: Session) -> list[Artifact]:
    here = {artifact.id for artifact in state.shelf.artifacts}
    ids: dict[int, None] = {}
    evictions = log.read(
        state.id, upto=state.version, kinds=["artifacts.evicted"], newest_first=True, page=32
    )
    for recorded in evictions:
        if isinstance(recorded.event, ArtifactsEvicted):
            ids.update(dict.fromkeys(id_ for id_ in recorded.event.artifacts if id_ not in here))
        if len(ids) >= LOOKED_AT:
            break
    picked = log.pick(state.id, list(ids)[:LOOKED_AT])
    came = [brought(recorded.event, recorded.version) for recorded in picked]
    return [artifact for artifact in came if artifact is not None]
