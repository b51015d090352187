"""The first call of every connection: which protocol, whether it may, and how it is called."""

from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated

from pydantic import Field, StringConstraints

from cli.rpc.client_name import FORM, LONGEST
from cli.rpc.connection import OTHER_PROTOCOL, WRONG_TOKEN, Connection
from cli.rpc.errors import INVALID_REQUEST, said
from cli.rpc.guard import same
from cli.rpc.method import Method, Params, Peer, Result

PROTOCOL_VERSION = 1

ClientName = Annotated[str, StringConstraints(max_length=LONGEST, pattern=FORM)]


class Handshake(Params):
    """Who calls."""

    protocol_version: int = Field(description="The version of the protocol: 1.")
    token: str | None = Field(
        None, description="The server's token; left out where the Authorization header brought it."
    )
    client_name: ClientName | None = Field(
        None,
        description="Drafts belong to a client of this name, whichever connection it comes by;"
        " one is made up where it is left out.",
    )


class Greeting(Result):
    """Who answers."""

    protocol_version: int
    server_version: str
    client_name: str = Field(description="As the client is called from now on.")


def handshake(
    token: str | None = None, greeted: Callable[[Connection], None] = lambda _: None
) -> Method:
    """The method, for those who know the token; with None, for everybody.

    ``greeted`` is told of each connection that may call from now on.
    """

    async def run(peer: Peer, params: Handshake) -> Greeting:
        connection = peer if isinstance(peer, Connection) else None
        if connection is not None and connection.greeted:
            raise said(INVALID_REQUEST, "The handshake was made already.", "HandshakeMade")
        if params.protocol_version != PROTOCOL_VERSION:
            sentence = (
                f"This server speaks version {PROTOCOL_VERSION} of the protocol, not"
                f" {params.protocol_version}: use a client of the same version."
            )
            if connection is not None:
                connection.close(OTHER_PROTOCOL)
            raise said(INVALID_REQUEST, sentence, "OtherProtocol")
        if connection is not None and token is not None:
            right = same(params.token, token) if params.token is not None else connection.trusted
            if not right:
                connection.close(WRONG_TOKEN)
                sentence = "The token is wrong: it stands in the server's token file."
                raise said(INVALID_REQUEST, sentence, "WrongToken")
        if connection is not None:
            connection.name = params.client_name or connection.name
            connection.greeted = True
            greeted(connection)
        return Greeting(
            protocol_version=PROTOCOL_VERSION,
            server_version=version("logosphere"),
            client_name=peer.name,
        )

    return Method(
        "handshake",
        "Begin: every other method is refused before it.",
        Handshake,
        Greeting,
        run,
    )
