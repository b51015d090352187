"""What agents may do with agents, tasks and projects: tools, given by permission of the role."""

import asyncio
from collections.abc import Sequence
from typing import Any

from commands.agents.harness import Harness
from commands.agents.ledger import said_at
from commands.agents.tools import Permission, Tool
from commands.agents.wishes import Note
from commands.handle import handle
from commands.places import drafted_into, project_of, projects, task_of, tasks
from commands.projects import create_project
from commands.world import World
from domain.actors import Actor
from domain.agent_errors import NoSuchAgent, NotPermitted
from domain.agents import Agent
from domain.errors import BadText, Refused
from domain.events import AgentDrafted, PeerAnswered, PeerAsked, TurnCompleted
from domain.log import Log
from domain.streams import agent_stream

AGENT = {"type": "string", "description": "the agent's name, as draft_agent gave it"}
PROJECT = {"type": "string", "description": "the project; your own, if left out"}
TASK = {"type": "string", "description": "the slug of the task; your own, if left out"}

WAIT = 3600.0
"""Seconds that one call may wait for an agent."""


def agent_tools(
    harness: Harness,
    log: Log,
    world: World,
    *,
    client: str,
    permissions: Sequence[str],
    role: str,
    caller: str | None = None,
) -> list[Tool]:
    """The tools that a role's permissions give.

    Args:
        harness: what drafts and ends agents.
        log: where everything lives.
        world: time, chance and the present user.
        client: whose agents they are.
        permissions: what the role may.
        role: its name, for refusals.
        caller: the agent that uses them; None for a client over MCP.
    """
    desk = _Desk(harness, log, world, client, role, frozenset(permissions), caller)
    return [tool for tool in desk.tools() if tool.permission in {None, *permissions}]


def _schema(required: Sequence[str] = (), **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


class _Desk:
    """Who uses the tools, and where they reach."""

    def __init__(
        self,
        harness: Harness,
        log: Log,
        world: World,
        client: str,
        role: str,
        permissions: frozenset[str],
        caller: str | None,
    ) -> None:
        self._harness, self._log, self._world = harness, log, world
        self._client, self._role, self._caller = client, role, caller
        self._permissions = permissions

    def tools(self) -> list[Tool]:
        """All there are."""
        string = {"type": "string"}
        drafting: Permission = "agent-draft"
        return [
            Tool(
                "draft_agent",
                "Draft an agent by role. With way=work (the default) it works alone on the prompt"
                " and ends with a report: fetch it with await_agent. With way=conversation it"
                " stays: talk with it by ask_agent, end it by kill_agent. Returns its name.",
                _schema(
                    ["role", "prompt"],
                    role={**string, "description": "a role, as list_agents or the user names it"},
                    prompt={
                        **string,
                        "description": "all it needs to know: it sees nothing of your conversation",
                    },
                    way={"type": "string", "enum": ["work", "conversation"]},
                    project=PROJECT,
                    taskSlug=TASK,
                ),
                self._draft,
                drafting,
            ),
            Tool(
                "await_agent",
                "Wait until an agent that you sent out has ended; returns its report: status,"
                " summary, changes, issues, questions, and what it took.",
                _schema(["agentId"], agentId=AGENT),
                self._await,
                drafting,
            ),
            Tool(
                "kill_agent",
                "End an agent that you drafted, whatever it does just now.",
                _schema(["agentId"], agentId=AGENT),
                self._kill,
                drafting,
            ),
            Tool(
                "ask_agent",
                "Say something to an agent that you drafted with way=conversation, and wait for"
                " its answer.",
                _schema(
                    ["agentId", "content"],
                    agentId=AGENT,
                    content={**string, "description": "what you say"},
                ),
                self._ask,
                drafting,
            ),
            Tool(
                "list_agents",
                "The agents that are there now: name, role, task, whether one is at work.",
                _schema(),
                self._agents,
            ),
            Tool(
                "list_tasks",
                "The tasks of a project, open and closed.",
                _schema(project=PROJECT),
                self._tasks,
            ),
            Tool(
                "get_task_context",
                "A task: its description, who has worked on it, and what came of that.",
                _schema(project=PROJECT, taskSlug=TASK),
                self._context,
            ),
            Tool(
                "list_projects",
                "The projects there are.",
                _schema(),
                self._projects,
                "projects-list",
            ),
            Tool(
                "create_project",
                "Make a new project.",
                _schema(
                    ["name"],
                    name={**string, "description": "a slug: a-z, 0-9 and '-'"},
                    description=string,
                ),
                self._create,
                "projects-create",
            ),
        ]

    # agents

    async def _draft(self, given: dict[str, Any]) -> dict[str, Any]:
        self._need("agent-draft", "draft_agent")
        project, task = self._place(given)
        about = {"client": self._client, "role": given["role"], "project": project, "task": task}
        if given.get("way", "work") == "work":
            agent = await self._harness.dispatch(
                **about, prompt=given["prompt"], parent=self._caller
            )
            return {**_named(agent), "state": "at work"}
        if self._caller is None:
            raise Refused(
                "A conversation belongs to an agent or to a client of mind serve: use way=work."
            )
        agent = await self._harness.draft(**about, parent=self._caller)
        return {**_named(agent), "answer": await self._talk(agent.id, given["prompt"])}

    async def _await(self, given: dict[str, Any]) -> dict[str, Any]:
        agent = self._mine(given["agentId"])
        if agent.way != "work":
            raise Refused(f"{agent.id!r} is in a conversation: use ask_agent, or kill_agent.")
        try:
            async with asyncio.timeout(WAIT):
                ended = await self._harness.ended(agent.id)
        except TimeoutError:
            return {**_named(agent), "state": "at work"}
        return {**_named(ended), **result_of(ended)}

    async def _kill(self, given: dict[str, Any]) -> dict[str, Any]:
        agent = self._mine(given["agentId"])
        ended = await self._harness.kill(agent.id)
        return {**_named(ended), **result_of(ended)}

    async def _ask(self, given: dict[str, Any]) -> dict[str, Any]:
        agent = self._mine(given["agentId"])
        if agent.way != "conversation":
            raise Refused(f"{agent.id!r} works alone and can't be asked: use await_agent.")
        return {**_named(agent), "answer": await self._talk(agent.id, given["content"])}

    async def _talk(self, agent: str, text: str) -> str:
        """One question and its answer, with a word of each in the asking agent's stream."""
        if self._caller is None:
            raise NoSuchAgent(agent)
        prompt = await self._harness.submit(agent, text, sender=self._caller)
        await self._note(PeerAsked(agent=agent, prompt=prompt, text=text))
        end = await self._harness.answered(agent, prompt)
        whole, said = isinstance(end, TurnCompleted), said_at(end)
        await self._note(PeerAnswered(agent=agent, prompt=prompt, text=said, failed=not whole))
        if not whole:
            raise Refused(said or f"{agent} gave no answer.")
        return said

    async def _note(self, event: PeerAsked | PeerAnswered) -> None:
        if self._caller is None:
            return
        by = Actor("agent", self._caller)
        stream = agent_stream(self._caller)
        await asyncio.to_thread(handle, self._log, stream, Note(event=event), self._world, by=by)

    def _mine(self, name: str) -> Agent:
        """An agent that the caller drafted: nobody ends another's.

        Raises:
            NoSuchAgent: it drafted none of that name.
        """
        agent = self._harness.agent(name)
        drafted = agent.drafted
        if self._caller is not None and drafted.parent != self._caller:
            raise NoSuchAgent(name, self._harness.agent(self._caller).workers)
        if self._caller is None and drafted.client != self._client:
            raise NoSuchAgent(name)
        return agent

    def _need(self, permission: Permission, what: str) -> None:
        if permission not in self._permissions:
            raise NotPermitted(self._role, permission, what)

    def _place(self, given: dict[str, Any]) -> tuple[str, str]:
        own = self._harness.agent(self._caller).drafted if self._caller is not None else None
        project = given.get("project") or (own.project if own else None)
        self._may_see(own, project)
        same = own is not None and project == own.project
        task = given.get("taskSlug") or (own.task if own and same else None)
        if project is None or task is None:
            raise BadText("Name the project and the taskSlug (list_tasks tells which there are).")
        return project, task

    def _may_see(self, own: AgentDrafted | None, project: str | None) -> None:
        """Make sure that an agent reaches beyond its own project only where its role may."""
        if own is not None and project != own.project:
            self._need("projects-list", f"project {project!r}")

    async def _agents(self, _: dict[str, Any]) -> dict[str, Any]:
        active = await asyncio.to_thread(self._harness.active)
        return {
            "agents": [
                {
                    **_named(agent),
                    "way": agent.way,
                    "state": "working" if agent.turn is not None else "idle",
                    "draftedBy": agent.drafted.parent or agent.drafted.client,
                }
                for agent in active
            ]
        }

    # tasks and projects

    async def _tasks(self, given: dict[str, Any]) -> dict[str, Any]:
        project = self._project(given)
        found = await asyncio.to_thread(tasks, self._log, project)
        return {
            "project": project,
            "tasks": [
                {"slug": task.created.slug, "title": task.created.title, "open": task.open}
                for task in found
            ],
        }

    async def _context(self, given: dict[str, Any]) -> dict[str, Any]:
        project, slug = self._place(given)
        return await asyncio.to_thread(task_context, self._log, project, slug)

    def _project(self, given: dict[str, Any]) -> str:
        own = self._harness.agent(self._caller).drafted if self._caller is not None else None
        project = given.get("project") or (own.project if own else None)
        if project is None:
            raise BadText("Name the project.")
        self._may_see(own, project)
        return project_of(self._log, project).id

    async def _projects(self, _: dict[str, Any]) -> dict[str, Any]:
        found = await asyncio.to_thread(projects, self._log)
        return {
            "projects": [
                {
                    "name": project.id,
                    "description": project.created.description,
                    "virtual": project.created.virtual,
                    "open": project.open,
                }
                for project in found
            ]
        }

    async def _create(self, given: dict[str, Any]) -> dict[str, Any]:
        made = await asyncio.to_thread(
            create_project,
            self._log,
            self._world,
            given["name"],
            description=given.get("description", ""),
        )
        return {"name": made.id}


def task_context(log: Log, project: str, slug: str) -> dict[str, Any]:
    """A task with who has worked on it, and the reports they have handed in.

    Raises:
        NoSuchProject, NoSuchTask: there is none.
    """
    task, agents = task_of(log, project, slug), drafted_into(log, project, slug)
    return {
        "project": project,
        "taskSlug": slug,
        "title": task.created.title,
        "description": task.created.description,
        "open": task.open,
        "agents": [
            {**_named(agent), "way": agent.way, "active": agent.active, **result_of(agent)}
            for agent in agents
        ],
    }


def result_of(agent: Agent) -> dict[str, Any]:
    """What came of an agent, as data; empty while it has not ended."""
    if agent.ended is None:
        return {}
    report = agent.report
    found: dict[str, Any] = {
        "ended": agent.ended.how,
        "costUsd": agent.cost_usd,
        "turns": agent.turns,
        "durationMs": max(0, (agent.ended.at - agent.begun) // 1000),
    }
    if report is None:
        reason = {"reason": agent.ended.reason, "detail": agent.ended.detail}
        return {**found, **reason} | ({"status": "failed"} if agent.way == "work" else {})
    return {
        **found,
        "status": report.status,
        "summary": report.summary,
        "changes": list(report.changes),
        "issues": list(report.issues),
        "questions": list(report.questions),
    }


def _named(agent: Agent) -> dict[str, Any]:
    drafted = agent.drafted
    return {
        "agentId": str(agent.id),
        "role": drafted.role,
        "project": drafted.project,
        "taskSlug": drafted.task,
    }
