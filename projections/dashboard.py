"""What goes on in all chats: open efforts, what was learned lately, what is to come.

Read from the states of the sessions, which are small; of artifacts that branches share, each is
told once, with the sessions that have it.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from domain.artifacts import Artifact
from domain.ids import SessionId
from domain.log import Log


class Seen(NamedTuple):
    """An artifact, and the sessions that have it as it says."""

    id: int
    session: SessionId
    """The branch whose stream holds it."""
    at: int
    """When it came, microseconds since 1970, UTC."""
    text: str
    when: str | None
    expires: str | None
    sessions: tuple[SessionId, ...]
    origin: str | None
    """``session@version`` of one that was imported."""


class Dashboard(NamedTuple):
    """All chats at a glance."""

    efforts: tuple[Seen, ...]
    """Open ones, the newest first."""
    facts: tuple[Seen, ...]
    """The newest first."""
    events: tuple[Seen, ...]
    """Those to come, the next one first; those without a time last."""


def dashboard(log: Log, sessions: Iterable[SessionId], now: str, most: int) -> Dashboard:
    """All that goes on in these sessions.

    Args:
        log: where they live.
        sessions: which ones.
        now: the user's local time, ISO 8601.
        most: how many facts at most.
    """
    rows: dict[tuple[SessionId, int, str], tuple[Artifact, list[SessionId]]] = {}
    for session in sessions:
        for artifact, owner in _shown(log, session):
            kept = rows.setdefault((owner, artifact.id, artifact.text), (artifact, []))
            kept[1].append(session)
    seen = {
        type_: [_seen(log, key, *row) for key, row in rows.items() if row[0].type == type_]
        for type_ in ("effort", "fact", "event")
    }
    newest = {type_: sorted(all_, key=lambda one: -one.at) for type_, all_ in seen.items()}
    coming = [one for one in seen["event"] if not is_over(one.when, one.expires, now)]
    coming.sort(key=lambda one: (one.when is None, one.when or "", one.at))
    return Dashboard(tuple(newest["effort"]), tuple(newest["fact"][:most]), tuple(coming))


def is_over(when: str | None, expires: str | None, now: str) -> bool:
    """Whether an event has passed; a day lasts to its end, and what has no time never passes."""
    until = expires or when
    return until is not None and now[: len(until)] > until


def _shown(log: Log, session: SessionId) -> Iterator[tuple[Artifact, SessionId]]:
    """What a mind may be shown of a session, but resolved efforts, and whose stream holds it."""
    artifacts = [
        artifact
        for artifact in log.state(session).shelf.artifacts
        if artifact.type != "summary" and artifact.status != "resolved"
    ]
    if not artifacts:
        return
    path = log.path(session)
    for artifact in artifacts:
        yield artifact, next(part.stream for part in path if artifact.id > part.after)


def _seen(
    log: Log, key: tuple[SessionId, int, str], artifact: Artifact, sessions: list[SessionId]
) -> Seen:
    owner, id_, text = key
    (brought,) = log.pick(owner, [id_])
    origin = artifact.origin
    return Seen(
        id_,
        owner,
        brought.at,
        text,
        artifact.when,
        artifact.expires,
        tuple(sessions),
        f"{origin.session}@{origin.version}" if origin else None,
    )
