"""Agents: agent draft, ask, status, stop, undraft, reset, work, kill, list, show."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import agent_pages as pages
from cli import output as out
from cli.options import JsonFlag, StoreOption
from cli.texts import read_text
from cli.wiring import MOMENT, open_store
from commands.eventlog import EventLog
from commands.eventlog.place import Place
from commands.places import only_project, only_task, place
from domain.errors import Broken, Refused
from domain.sentences import cost
from domain.streams import agent_stream
from projections.agent_summaries import lasted
from projections.agents import roster, row_of, transcript

if TYPE_CHECKING:
    from cli.agent_talk import Talk

app = typer.Typer(no_args_is_help=True, help="Agents: drafted by role, to talk with or to work.")

AgentArgument = Annotated[str, typer.Argument(help="The agent.", metavar="NAME")]
AgentOption = Annotated[
    str | None,
    typer.Option("--agent", "-a", help="The agent; by default the drafted one.", metavar="NAME"),
]
ProjectOption = Annotated[
    str | None,
    typer.Option("--project", "-p", help="The project; by default the only one.", metavar="NAME"),
]
TaskOption = Annotated[
    str | None,
    typer.Option("--task", "-t", help="The task; by default the only open one.", metavar="SLUG"),
]
ModelOption = Annotated[
    str | None,
    typer.Option("--model", "-m", help="Who answers, where not as the role says.", metavar="NAME"),
]
RoleArgument = Annotated[str, typer.Argument(help="The role (mind role list).", metavar="ROLE")]
FileOption = Annotated[Path | None, typer.Option("--file", "-f", help="Read it from a file.")]


@app.command()
def draft(
    role: RoleArgument,
    project: ProjectOption = None,
    task: TaskOption = None,
    model: ModelOption = None,
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Draft an agent by role, to talk with it.

    Example: mind agent draft product-analyst --project payments --task refunds
    """
    where = _place(store, project, task)

    async def happen(talk: "Talk") -> dict[str, Any]:
        return await talk.call("draft", role=role, project=where[0], task=where[1], model=model)

    drafted = _talking(store, happen)
    if json:
        out.as_json(drafted)
        return
    name = drafted["sessionId"]
    out.talk(f"{name} is drafted for {where[0]}/{where[1]}: mind agent ask TEXT")


@app.command()
def ask(
    text: Annotated[str | None, typer.Argument(help="What you say.", metavar="TEXT")] = None,
    file: FileOption = None,
    agent: AgentOption = None,
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Say something to the drafted agent, and read its answer as it comes.

    Example: mind agent ask "Which refunds are we missing?"
    """
    said = read_text(text, file)

    async def happen(talk: "Talk") -> dict[str, Any]:
        if agent is None:
            await talk.drafted()
        return await talk.said("submit_prompt", content=said, sessionId=agent)

    answer = _talking(store, happen, streaming=not json)
    if json:
        out.as_json(answer)
    if answer["outcome"] != "completed":
        raise Broken(answer["answer"] or f"There is no answer: the turn was {answer['outcome']}.")


@app.command()
def status(agent: AgentOption = None, store: StoreOption = None, json: JsonFlag = False) -> None:
    """Show the drafted agent: its turns, what they cost, how full its context is.

    Example: mind agent status
    """

    async def happen(talk: "Talk") -> dict[str, Any]:
        return await talk.call("get_draft_status", sessionId=agent)

    found = _talking(store, happen)
    if json:
        out.as_json(found)
        return
    if found.get("session") is None:
        out.answer("Nobody is drafted (mind agent draft ROLE).")
        return
    pages.tell_status(found["session"], active=found["active"])


@app.command()
def stop(
    agent: Annotated[
        str | None,
        typer.Argument(help="The agent; by default the drafted one.", metavar="NAME"),
    ] = None,
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Stop the answer that an agent is at; the conversation goes on, with what waits.

    Example: mind agent stop product-analyst-1
    """

    async def happen(talk: "Talk") -> dict[str, Any]:
        return await talk.call("stop_turn", sessionId=agent)

    ended = _talking(store, happen)
    if json:
        out.as_json(ended)
        return
    name, turn, outcome = ended["sessionId"], ended["turn"], ended["outcome"]
    how = "is stopped" if outcome == "stopped" else f"was {outcome} before it could be stopped"
    waited = out.count(ended["waiting"], "prompt")
    goes_on = f"; what waited goes on ({waited})" if ended["waiting"] else ""
    out.talk(f"Turn {turn} of {name} {how}{goes_on}.")


@app.command()
def undraft(agent: AgentOption = None, store: StoreOption = None, json: JsonFlag = False) -> None:
    """End the conversation with the drafted agent; the log keeps all of it.

    Example: mind agent undraft
    """

    async def happen(talk: "Talk") -> dict[str, Any]:
        return await talk.call("undraft", sessionId=agent)

    ended = _talking(store, happen)
    if json:
        out.as_json(ended)
        return
    turns = out.count(ended["turns"], "turn")
    took = cost(ended["cost"], ended["unknownCosts"])
    out.talk(f"{ended['sessionId']} is undrafted: {turns}, {took}, {lasted(ended['durationMs'])}.")


@app.command()
def reset(agent: AgentOption = None, store: StoreOption = None) -> None:
    """Begin the conversation anew: the model is shown nothing of what was before.

    Example: mind agent reset
    """

    async def happen(talk: "Talk") -> dict[str, Any]:
        return await talk.call("reset_context", sessionId=agent)

    found = _talking(store, happen)
    out.talk(f"{found['session']['sessionId']} begins anew; the log keeps what was before.")


@app.command()
def work(
    role: RoleArgument,
    prompt: Annotated[
        str | None, typer.Argument(help="All that the worker needs to know.", metavar="PROMPT")
    ] = None,
    file: FileOption = None,
    project: ProjectOption = None,
    task: TaskOption = None,
    model: ModelOption = None,
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Send out a worker, look on, and read its report.

    Example: mind agent work researcher "Which refunds did we discuss in May?"
    """
    said = read_text(prompt, file)
    where = _place(store, project, task)

    async def happen(talk: "Talk") -> dict[str, Any]:
        sent = await talk.call(
            "dispatch_worker",
            role=role,
            prompt=said,
            project=where[0],
            taskSlug=where[1],
            model=model,
        )
        return await talk.said("await_agent", agentId=sent["agentId"])

    report = _talking(store, happen, streaming=not json)
    if json:
        out.as_json(report)
    else:
        pages.tell_report(report)
    if report["status"] in {"failed", "blocked"}:
        raise Broken(f"{report['agentId']} {report['status']}.")


@app.command()
def kill(agent: AgentArgument, store: StoreOption = None) -> None:
    """End an agent, whatever it does just now, and those it sent out.

    Example: mind agent kill researcher-1
    """

    async def happen(talk: "Talk") -> dict[str, Any]:
        return await talk.call("kill_agent", agentId=agent)

    ended = _talking(store, happen)
    out.talk(f"{agent} is ended ({ended['ended']}): the log keeps what it did.")


@app.command("list")
def list_(
    everything: Annotated[bool, typer.Option("--all", help="Those that have ended, too.")] = False,
    project: ProjectOption = None,
    task: TaskOption = None,
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """List the agents that are there, the newest first.

    Example: mind agent list --all
    """
    with _now(store) as log:
        rows = roster(log, all_=everything, project=project, task=task)
    if json:
        out.as_json([pages.data(row) for row in rows])
        return
    header = ("agent", "for", "state", "turns", "cost", "context", "last activity")
    out.table([pages.line(row) for row in rows], header, cut=("for",), spare=("context", "turns"))
    if not rows:
        out.talk("Nobody is there (mind agent draft ROLE; --all shows those that have ended).")


@app.command()
def show(
    agent: AgentArgument,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="The newest turns.")] = 20,
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Show what was said to an agent, and what came back.

    Example: mind agent show product-analyst-1
    """
    with _now(store) as log:
        turns = transcript(log, agent, count=count)
        row = row_of(log.stands(agent_stream(agent)))
    if json:
        out.as_json({**pages.data(row), "turns": [pages.turn_data(turn) for turn in turns]})
        return
    out.answer(
        f"{row.agent}, {row.role}, for {row.project}/{row.task}, {row.way}, {row.state},"
        f" answered by {out.safe(row.model)}"
    )
    for turn in turns:
        pages.tell_turn(turn)
    if row.ended is not None:
        out.answer()
        out.answer(f"{row.ended.how}: {out.one_line(row.ended.detail or row.ended.reason, 300)}")


@contextmanager
def _now(store: Place | None) -> Iterator[EventLog]:
    _only_now()
    with open_store(store) as (_, log):
        yield log


def _only_now() -> None:
    if MOMENT.get() is not None:
        raise Refused("Agents are looked at as they are now: mind agent, without at.")


def _talking(
    store: Place | None,
    happen: "Callable[[Talk], Awaitable[dict[str, Any]]]",
    *,
    streaming: bool = False,
) -> dict[str, Any]:
    """Let something happen through a client in this process, as the server would do it."""
    _only_now()
    from cli.agent_talk import talking  # noqa: PLC0415 — brings the harness along

    return asyncio.run(talking(store, happen, streaming=streaming))


def _place(store: Place | None, project: str | None, task: str | None) -> tuple[str, str]:
    """The project and the task that are meant: the named ones, or the only ones there are.

    Raises:
        BadSetting: there are several, or none.
    """
    with _now(store) as log:
        if project is None:
            project = only_project(log)
        if task is None:
            task = only_task(log, project)
        place(log, project, task)
    return project, task


def register(to: typer.Typer) -> None:
    """Add the verbs to the program."""
    to.add_typer(app, name="agent")
