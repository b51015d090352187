"""Sessions as resources: a URI for each transcript, and one for the drafts of each."""

from typing import Any
from urllib.parse import quote, unquote

import mcp_types as types
from mcp.shared.exceptions import MCPError

from cli.mcp.pages import drafts, transcript
from cli.tools.reading import Reader
from domain.errors import NoSuchSession
from domain.ids import SessionId
from projections.tree import branch

SCHEME = "logosphere://session/"
DRAFTS = "/drafts"
MARKDOWN = "text/markdown"

PAGE = 100
"""Sessions of one list."""

TEMPLATES = [
    types.ResourceTemplate(
        name="session",
        title="Transcript of a session",
        uri_template=f"{SCHEME}{{name}}",
        description="The accepted exchanges of a session, and the message that awaits an answer.",
        mime_type=MARKDOWN,
    ),
    types.ResourceTemplate(
        name="drafts",
        title="Drafts of a session",
        uri_template=f"{SCHEME}{{name}}{DRAFTS}",
        description="The drafts of the newest exchange of a session, newest first.",
        mime_type=MARKDOWN,
    ),
]


def uri_of(session: SessionId) -> str:
    """Where a session's transcript is; slashes of its name are written as %2F."""
    return SCHEME + quote(session, safe="")


def listed(reader: Reader, cursor: str | None) -> types.ListResourcesResult:
    """One page of the transcripts, newest sessions first.

    Raises:
        MCPError: the cursor is none of ours.
    """
    sessions = reader.log.sessions()
    end = len(sessions) if cursor is None else _number(cursor, len(sessions))
    page = sessions[max(0, end - PAGE) : end]
    return types.ListResourcesResult(
        resources=[_resource(reader, session) for session in reversed(page)],
        next_cursor=str(end - PAGE) if end > PAGE else None,
    )


def read(reader: Reader, uri: str) -> types.ReadResourceResult:
    """The page that a URI names.

    Raises:
        MCPError: it names none.
        Refused, Broken: the page can't be written.
    """
    if not uri.startswith(SCHEME):
        raise _not_found(uri)
    name = uri.removeprefix(SCHEME)
    page = drafts if name.endswith(DRAFTS) else transcript
    try:
        text = page(reader.log, reader.session(unquote(name.removesuffix(DRAFTS))))
    except NoSuchSession as error:
        raise _not_found(uri, error.sentence) from None
    contents = types.TextResourceContents(uri=uri, mime_type=MARKDOWN, text=text)
    return types.ReadResourceResult(contents=[contents])


def _resource(reader: Reader, session: SessionId) -> types.Resource:
    found = branch(reader.log, session)
    state = "a message awaits its answer" if found.now.drafting else "nothing awaits an answer"
    return types.Resource(
        name=session,
        title=found.title,
        uri=uri_of(session),
        description=f"Transcript of session {session}: {found.now.version} events, {state}.",
        mime_type=MARKDOWN,
    )


def _number(cursor: str, most: int) -> int:
    if cursor.isascii() and cursor.isdigit() and len(cursor) < 12 and 0 < int(cursor) <= most:
        return int(cursor)
    raise MCPError(types.INVALID_PARAMS, f"{cursor[:40]!r} is no cursor of this list.")


def _not_found(uri: str, why: str = "") -> MCPError:
    data: dict[str, Any] = {"uri": uri}
    sentence = why or f"There is no resource {uri[:200]!r}: there are {SCHEME}NAME and drafts."
    return MCPError(types.INVALID_PARAMS, sentence, data)
