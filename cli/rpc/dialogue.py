"""The dialogue: every method that is about sessions, drafts, thoughts and what the user does."""

from cli.rpc import acting, asking, happening, reading, sessions, standing
from cli.rpc.method import Method
from cli.rpc.service import Service

FILES = (sessions, standing, reading, happening, acting, asking)


def methods(service: Service) -> list[Method]:
    """The methods of the dialogue; each has the name and the meaning of the verb of `mind`."""
    return [method for file in FILES for method in file.methods(service)]
