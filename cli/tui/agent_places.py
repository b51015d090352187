"""Where somebody is drafted: the active project and task, or the only ones there are."""

from typing import TYPE_CHECKING, Any, NamedTuple

from cli.client.client import CallFailed
from cli.tui.texts import one_line

if TYPE_CHECKING:
    from cli.tui.app import ChatApp


class Place(NamedTuple):
    """A project and a task of it, as far as they were chosen."""

    project: str | None = None
    task: str | None = None


class NotAsked(CallFailed):
    """What was typed is not asked for at all; the sentence says what to do."""

    def __init__(self, sentence: str) -> None:
        super().__init__(INVALID_PARAMS, sentence)


INVALID_PARAMS = -32602
"""As the other side would have it."""


NO_PROJECT = "There is no project: make one with /project new NAME."

MOST = 6
"""Names that a sentence has room for."""


def named(names: list[str]) -> str:
    """Names, as a sentence lists them."""
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return f"{', '.join(one_line(name) for name in names[:MOST])}{more}"


async def projects(chat: "ChatApp") -> list[dict[str, Any]]:
    """Projects that somebody can be drafted into.

    Raises:
        CallFailed: they can't be listed.
    """
    found = (await chat.call("list_projects"))["projects"]
    return [one for one in found if one["open"] and not one["isVirtual"]]


async def tasks(chat: "ChatApp", project: str) -> list[dict[str, Any]]:
    """The open tasks of a project.

    Raises:
        CallFailed: there is no such project, or they can't be listed.
    """
    found = (await chat.call("list_tasks", project=project))["tasks"]
    return [one for one in found if one["open"]]


async def place_for(
    chat: "ChatApp", chosen: Place, project: str | None, task: str | None
) -> tuple[str, str]:
    """The project and the task to draft somebody for.

    Args:
        chat: what lists them.
        chosen: those that are active.
        project: one that was named instead.
        task: one that was named instead.

    Raises:
        NotAsked: there is none, or too many to choose from.
        CallFailed: they can't be listed.
    """
    where = project or await project_for(chat, chosen)
    return where, task or await task_for(chat, chosen, where)


async def project_for(chat: "ChatApp", chosen: Place) -> str:
    """The active project, or the only one.

    Raises:
        NotAsked, CallFailed: as :func:`place_for`.
    """
    if chosen.project is not None:
        return chosen.project
    names = [one["name"] for one in await projects(chat)]
    if not names:
        raise NotAsked(NO_PROJECT)
    if len(names) > 1:
        raise NotAsked(f"Choose a project with /project NAME: {named(names)}.")
    return str(names[0])


async def task_for(chat: "ChatApp", chosen: Place, project: str) -> str:
    """The active task, if it is of this project, or its only open one.

    Raises:
        NotAsked, CallFailed: as :func:`place_for`.
    """
    if chosen.task is not None and chosen.project == project:
        return chosen.task
    slugs = [one["slug"] for one in await tasks(chat, project)]
    if not slugs:
        raise NotAsked(f"Project {project!r} has no open task: make one with /task new TITLE.")
    if len(slugs) > 1:
        raise NotAsked(f"Choose a task of {project!r} with /task NAME: {named(slugs)}.")
    return str(slugs[0])
