"""Agents: every method that is about drafts, workers, projects, tasks and roles."""

from cli.rpc import drafts, places, workers
from cli.rpc.method import Method
from cli.rpc.service import Service

FILES = (drafts, workers, places)


def methods(service: Service) -> list[Method]:
    """The methods of agents; those that the command line has too mean the same there."""
    return [method for file in FILES for method in file.methods(service)]
