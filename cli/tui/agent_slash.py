"""Slash commands about agents, and about where they work."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from cli.tui.agent_places import (
    NO_PROJECT,
    NotAsked,
    Place,
    named,
    place_for,
    project_for,
    projects,
    tasks,
)
from cli.tui.agent_shapes import Draft, Member
from cli.tui.agent_transcript import report_text
from cli.tui.dialogs import Reading
from cli.tui.drafting import NOBODY, DraftMode, standing
from cli.tui.slash import Slash, SlashCommands
from cli.tui.texts import FAINT, content, one_line
from domain.sentences import count

if TYPE_CHECKING:
    from cli.tui.app import ChatApp

_USAGE = "ROLE [--project P] [--task T] [--model M]"


class Wanted(NamedTuple):
    """Whom somebody wants, and where."""

    role: str
    project: str | None = None
    task: str | None = None
    model: str | None = None


def wanted_of(rest: str) -> Wanted:
    """Read what follows ``/draft``.

    Raises:
        NotAsked: it can't be read.
    """
    role, given = "", dict[str, str]()
    words = iter(rest.split())
    for word in words:
        name, equals, value = word.partition("=")
        if name in {"--project", "--task", "--model"}:
            value = value if equals else next(words, "")
            if not value:
                raise NotAsked(f"Say which one after {name}: /draft {_USAGE}.")
            given[name[2:]] = value
        elif word.startswith("-") or role:
            raise NotAsked(f"What is {word!r}? Write /draft {_USAGE}.")
        else:
            role = word
    if not role:
        raise NotAsked("Name a role: /draft ROLE; /roles lists them.")
    return Wanted(role, **given)


class AgentCommands:
    """The commands, over one mode."""

    def __init__(self, mode: DraftMode, of_mind: Mapping[str, Slash]) -> None:
        self._mode, self._of_mind = mode, of_mind

    def all(self) -> tuple[Slash, ...]:
        """As they are listed."""
        return (
            Slash("draft", _USAGE, "Draft an agent to talk with.", self._draft),
            Slash("undraft", "", "End the conversation with the agent.", self._undraft),
            Slash("context", "", "How full the context is: of the agent, or the mind.", self._full),
            Slash("stop", "", "Stop the agent's answer, or the run of the mind.", self._stop),
            Slash("reset", "", "Begin the conversation with the agent anew.", self._reset),
            Slash("withdraw", "", "Take back the newest prompt that waits.", self._withdraw),
            Slash("work", "ROLE TEXT", "Send out a worker with this.", self._work),
            Slash("report", "NAME", "What came of an agent.", self._report),
            Slash("agents", "", "Who is at work.", self._agents),
            Slash("kill", "NAME", "End an agent, whatever it does.", self._kill),
            Slash("roles", "", "Whom one can draft.", self._roles),
            Slash("projects", "", "The projects there are.", self._projects),
            Slash(
                "project",
                "[NAME | new NAME]",
                "Choose a project, or make one.",
                self._project,
            ),
            Slash("tasks", "", "The tasks of the project.", self._tasks),
            Slash("task", "[NAME | new TITLE]", "Choose a task, or make one.", self._task),
            Slash("agent", "", "To the drafted agent.", self._to_agent),
            Slash("mind", "", "To the mind; the agent goes on.", self._to_mind),
        )

    # the draft

    async def _draft(self, chat: "ChatApp", rest: str) -> None:
        wanted = wanted_of(rest)
        project, task = await place_for(chat, self._mode.place, wanted.project, wanted.task)
        done = await chat.call(
            "draft", role=wanted.role, project=project, task=task, model=wanted.model
        )
        await self._mode.drafted(done)
        name = one_line(done["sessionId"])
        self._mode.tell(f"{name} is drafted for {project}/{task}: what you type goes to it.")

    async def _undraft(self, chat: "ChatApp", _: str) -> None:
        done = await chat.call("undraft")
        if chat.mode is not self._mode:
            await chat.enter(self._mode.NAME)
        await self._mode.over(done["sessionId"])

    async def _full(self, chat: "ChatApp", rest: str) -> None:
        if chat.mode is not self._mode and "context" in self._of_mind:
            await self._of_mind["context"].run(chat, rest)
            return
        status = await chat.call("get_draft_status")
        if not status["active"]:
            raise NotAsked(NOBODY)
        chat.tell(standing(Draft.of(status["session"]), self._mode.talk.waiting))

    async def _stop(self, chat: "ChatApp", rest: str) -> None:
        if chat.mode is not self._mode and "stop" in self._of_mind:
            await self._of_mind["stop"].run(chat, rest)
        else:
            await self._mode.stop()

    async def _reset(self, chat: "ChatApp", rest: str) -> None:
        await chat.call("reset_context", reason=rest or None)
        chat.tell("The conversation begins anew: the agent is shown nothing of what was before.")
        self._mode.want()

    async def _withdraw(self, chat: "ChatApp", _: str) -> None:
        waiting = [one for one in self._mode.talk.exchanges if one.outcome == "waiting"]
        if not waiting:
            chat.tell("No prompt waits: what is being answered can't be taken back.", refused=True)
            return
        await chat.call(
            "withdraw_prompt", sessionId=self._mode.talk.agent, prompt=waiting[-1].prompt
        )
        self._mode.want()
        chat.tell("The newest prompt that waited is taken back.")

    # others

    async def _work(self, chat: "ChatApp", rest: str) -> None:
        role, _, text = rest.partition(" ")
        prompt = _needed(text, "what it is to do", "/work ROLE TEXT")
        project, task = await place_for(chat, self._mode.place, None, None)
        asked = {"role": role, "prompt": prompt, "project": project, "taskSlug": task}
        name = (await chat.call("dispatch_worker", **asked))["agentId"]
        self._mode.sent = (name, *self._mode.sent)
        self._mode.want()
        chat.tell(f"{one_line(name)} is at work: you are told what it reports.")

    async def _report(self, chat: "ChatApp", rest: str) -> None:
        name = _needed(rest, "who", "/report NAME")
        report = await self._mode.report_of(name)
        if report is None:
            chat.tell(f"{one_line(name)} is still there: /agents says what it does.")
        else:
            await _show(chat, one_line(name), [report_text(report)])

    async def _agents(self, chat: "ChatApp", _: str) -> None:
        rows = (await chat.call("list_agents"))["agents"]
        members = [Member.of(row) for row in rows]
        await _show(chat, f"{count(len(members), 'agent')} at work", map(_member, members))

    async def _kill(self, chat: "ChatApp", rest: str) -> None:
        await chat.call("kill_agent", agentId=_needed(rest, "who", "/kill NAME"))
        self._mode.want()
        chat.tell(f"{one_line(rest)} is ended.")

    async def _roles(self, chat: "ChatApp", _: str) -> None:
        found = await chat.call("list_roles")
        lines = [
            content(
                (one_line(role["name"]), "bold"),
                f"  {one_line(role['description'])}\n",
                (f"  {_permissions(role)}", FAINT),
            )
            for role in found["roles"]
        ]
        lines += (content(("! " + one_line(why), "$text-warning")) for why in found["problems"])
        await _show(chat, "Roles: /draft ROLE", lines)

    # places

    async def _projects(self, chat: "ChatApp", _: str) -> None:
        found = (await chat.call("list_projects"))["projects"]
        active = self._mode.place.project
        lines = [
            _place(one["name"], one["description"], one["name"] == active, _stands(one))
            for one in found
        ]
        await _show(chat, "Projects: /project NAME", lines or [content(NO_PROJECT)])

    async def _project(self, chat: "ChatApp", rest: str) -> None:
        first, _, name = rest.partition(" ")
        if first == "new":
            made = await chat.call(
                "create_project", name=_needed(name, "its name", "/project new NAME")
            )
            self._mode.place = Place(made["name"])
            chat.tell(f"Project {made['name']} is made, and active: /task new TITLE sets a task.")
            return
        if not rest:
            project = await project_for(chat, self._mode.place)
            chat.tell(f"The project is {one_line(project)}; /projects lists all.")
            return
        names = [one["name"] for one in await projects(chat)]
        if rest not in names:
            raise NotAsked(
                f"There is no project {rest!r} to work in: choose {named(names)}."
                if names
                else NO_PROJECT
            )
        task = self._mode.place.task if self._mode.place.project == rest else None
        self._mode.place = Place(rest, task)
        chat.tell(f"The project is {rest}: /draft ROLE drafts somebody for it.")

    async def _tasks(self, chat: "ChatApp", _: str) -> None:
        project = await project_for(chat, self._mode.place)
        found = (await chat.call("list_tasks", project=project))["tasks"]
        place = self._mode.place
        lines = [
            _place(
                one["slug"],
                one["title"],
                place == (project, one["slug"]),
                "" if one["open"] else "closed",
            )
            for one in found
        ]
        nothing = [content("There is no task: make one with /task new TITLE.")]
        await _show(chat, f"Tasks of {project}: /task NAME", lines or nothing)

    async def _task(self, chat: "ChatApp", rest: str) -> None:
        project = await project_for(chat, self._mode.place)
        first, _, title = rest.partition(" ")
        if first == "new":
            title = _needed(title, "its title", "/task new TITLE")
            made = await chat.call("create_task", project=project, name=title)
            self._mode.place = Place(project, made["slug"])
            chat.tell(f"Task {made['slug']} is set, and active: /draft ROLE drafts somebody.")
            return
        slugs = [one["slug"] for one in await tasks(chat, project)]
        if not rest:
            active = self._mode.place.task
            now = f"The task is {one_line(active)}. " if active else ""
            chat.tell(f"{now}Open tasks of {one_line(project)}: {named(slugs) or 'none'}.")
            return
        if rest not in slugs:
            having = named(slugs) or "make one with /task new TITLE"
            raise NotAsked(f"Project {project!r} has no open task {rest!r}: {having}.")
        self._mode.place = Place(project, rest)
        chat.tell(f"The task is {rest}: /draft ROLE drafts somebody for it.")

    # modes

    async def _to_agent(self, chat: "ChatApp", _: str) -> None:
        await chat.enter(self._mode.NAME)

    @staticmethod
    async def _to_mind(chat: "ChatApp", _: str) -> None:
        await chat.enter(chat.mind.NAME)


_OF_PANES = ("drafts", "timeline")
"""Commands that show something of the mind, so that one has to go there."""


def add_agents(commands: SlashCommands, mode: DraftMode) -> None:
    """Make the commands known; ``/context`` and ``/stop`` are about the mode that is looked at."""
    known = {command.name: command for command in commands}
    commands.add(*AgentCommands(mode, known).all())
    commands.add(*(_at_the_mind(known[name]) for name in _OF_PANES if name in known))


def _at_the_mind(command: Slash) -> Slash:
    """The same, where it can be seen."""

    async def run(chat: "ChatApp", rest: str) -> None:
        if chat.mode is not chat.mind:
            await chat.enter(chat.mind.NAME)
        await command.run(chat, rest)

    return command._replace(run=run)


async def _show(chat: "ChatApp", title: str, lines: Iterable[Content]) -> None:
    await chat.push_screen(Reading(title, Content("\n").join(lines)))


def _needed(text: str, what: str, usage: str) -> str:
    if not text.strip():
        raise NotAsked(f"Say {what}: {usage}.")
    return text.strip()


def _stands(project: dict[str, object]) -> str:
    if not project["open"]:
        return "closed"
    return "virtual" if project["isVirtual"] else ""


def _place(name: str, about: str, active: bool, stands: str) -> Content:
    sign = "▸ " if active else "  "
    note = f"  ({stands})" if stands else ""
    return content(sign, (one_line(name), "bold"), f"  {one_line(about)}", (note, FAINT))


def _permissions(role: dict[str, list[str]]) -> str:
    given = ", ".join(role.get("permissions") or ())
    return f"may {one_line(given)}" if given else "may read"


def _member(member: Member) -> Content:
    place = f"{one_line(member.project)}/{one_line(member.task)}"
    by = f", sent out by {one_line(member.parent)}" if member.parent else ""
    return content(
        (one_line(member.agent), "bold"),
        f"  {member.state}\n",
        (f"  {place}{by} · {count(member.turns, 'turn')} · {member.cost}", FAINT),
    )
