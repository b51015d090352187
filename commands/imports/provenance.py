"""Where imported sessions came from: written in a note each, found again by it.

The note is the second event of a session and can be asked for by SQL; a branch says it in the
reason of its first event. Neither holds a path of this machine.
"""

import re
from typing import Literal, NamedTuple

from commands.imports.talk import Conversation
from commands.imports.texts import one_line
from domain.events import NoteAdded, SessionForked
from domain.ids import SessionId
from domain.log import Log

_NOTE = re.compile(
    r"Imported(?: further)? from (?P<format>[a-z-]+)\.\n"
    r"file: (?P<file>.*)\nconversation: (?P<key>.*)\nsha256: (?P<digest>[0-9a-f]{64})"
)
_REASON = re.compile(r"another (?:answer|question|course) in the source: (?P<node>.*)")
PROVENANCE = 2
"""The version of the note."""


class Known(NamedTuple):
    """What has been imported before."""

    sessions: dict[tuple[str, str], list[SessionId]]
    """By format and conversation; more than one where the source has no ids."""
    branches: dict[tuple[SessionId, str], list[SessionId]]
    """By the session that they belong to, and what the source calls their first place."""

    def branch(
        self, log: Log, trunk: SessionId, node: str, parent: SessionId, version: int
    ) -> SessionId | None:
        """The branch that begins with a place of the source and parts just here."""
        candidates = self.branches.get((trunk, one_line(node, 200)), [])
        for session in candidates if log.exists(parent) else ():
            if log.path(session)[0].after == version:
                there, here = log.pick(session, [version]), log.pick(parent, [version])
                if [one.position for one in there] == [one.position for one in here]:
                    return session
        return None


def note(format_: str, file: str, conversation: Conversation, *, further: bool = False) -> str:
    """Where a session came from."""
    return (
        f"Imported{' further' if further else ''} from {format_}.\nfile: {one_line(file, 200)}\n"
        f"conversation: {key_of(conversation)}\nsha256: {conversation.digest}"
    )


def key_of(conversation: Conversation) -> str:
    """What names the conversation in the note."""
    return one_line(conversation.key, 200)


def reason(what: Literal["answer", "question", "course"], node: str) -> str:
    """Why a branch is there."""
    return f"another {what} in the source: {one_line(node, 200)}"


def known(log: Log) -> Known:
    """What of the sessions of a log was imported: one or two look-ups for each."""
    sessions: dict[tuple[str, str], list[SessionId]] = {}
    branches: dict[tuple[SessionId, str], list[SessionId]] = {}
    for session in log.sessions():
        path = log.path(session)
        own, root = path[0], path[-1].stream
        version = own.after + 1 if len(path) > 1 else PROVENANCE
        for recorded in log.pick(session, [version]):
            event = recorded.event
            if isinstance(event, NoteAdded) and (found := _NOTE.fullmatch(event.text)):
                sessions.setdefault((found["format"], found["key"]), []).append(session)
            elif isinstance(event, SessionForked) and (
                said := _REASON.fullmatch(event.reason or "")
            ):
                branches.setdefault((root, said["node"]), []).append(session)
    return Known(sessions, branches)
