"""How an agent begins: by a role, in a project, on an open task, and by nobody twice."""

from collections.abc import Callable
from typing import NamedTuple

from commands.agents.ledger import Ledger
from commands.agents.pool import Pool
from commands.agents.role_file import checked_model
from commands.agents.roles import Role, Roles
from commands.agents.rules import Rules
from commands.agents.wishes import Note, still_there
from commands.handle import handle
from commands.places import place
from domain.actors import Actor
from domain.agent_errors import NotPermitted, RoleNotInProject
from domain.agents import Agent
from domain.errors import Refused, SessionExists
from domain.events import AgentDrafted, Caused, PromptSubmitted, WorkerDispatched
from domain.events.agents import Way
from domain.ids import CommandId
from domain.limits import Limits, used_up
from domain.recorded import BEGINNING, Draw
from domain.streams import agent_stream


class Wanted(NamedTuple):
    """Whom somebody wants, and for what."""

    client: str
    role: str
    project: str
    task: str
    way: Way
    model: str | None = None
    parent: str | None = None
    """The agent that wants it, where one does."""
    limits: Limits = Limits()
    prompt: str | None = None
    """What it is told at once."""
    command: CommandId | None = None
    """The id of the wish, where whoever has it drew one."""


def begin(
    ledger: Ledger,
    roles: Roles,
    rules: Rules,
    wanted: Wanted,
    can_answer: Callable[[str], object],
) -> Agent:
    """Begin the stream of an agent, provided that all is as it has to be at that very moment.

    Args:
        ledger: where it lives.
        roles: whom one can draft.
        rules: how many there may be.
        wanted: whom somebody wants.
        can_answer: raises where nothing could answer by a model of that name.

    Raises:
        NoSuchRole, BadRole, NotPermitted, RoleNotInProject, NoSuchProject, ProjectIsVirtual,
        ProjectIsClosed, NoSuchTask, TaskIsClosed, DraftIsActive, TooManyAgents, AgentHasEnded,
        BadSetting, BackendUnavailable: nobody was drafted.
    """
    log, pool, world = ledger.log, ledger.pool, ledger.world
    role, parent = roles.get(wanted.role), wanted.parent
    pool.check_depth(parent, rules)

    def provided() -> None:
        _check(ledger, rules, wanted)

    bounds = role.limits.narrowed(wanted.limits)
    if parent is not None:
        _check_permissions(pool.agent(parent), role)
        bounds = bounds.narrowed(_left(pool, parent))
    if wanted.way == "work":
        bounds = _filled(bounds, rules.work)
    model = checked_model(wanted.model or role.model or rules.model)
    drafted = AgentDrafted(
        role=wanted.role,
        instructions=role.instructions,
        model=model,
        client=wanted.client,
        project=wanted.project,
        task=wanted.task,
        way=wanted.way,
        parent=parent,
        permissions=role.permissions,
        limits=bounds.model_dump(exclude_none=True),
        tools=role.tools,
    )
    events = [Caused(drafted)]
    if wanted.prompt is not None:
        events.append(Caused(PromptSubmitted(text=wanted.prompt, sender=parent), 1))
    by = Actor("agent", parent) if parent else world.actor
    provided()  # a refusal need not wait for the right to write
    can_answer(model)
    draw = Draw(events, world.now(), by, wanted.command or world.command_id())
    name = _named(ledger, wanted.role, draw, provided)
    if parent is not None:
        word = WorkerDispatched(
            worker=name, role=wanted.role, prompt=wanted.prompt or "", way=wanted.way
        )
        handle(log, agent_stream(parent), Note(event=word), world, by=by)
    return log.stands(agent_stream(name))


def _check(ledger: Ledger, rules: Rules, wanted: Wanted) -> None:
    """Make sure that somebody may begin at this moment; raises as :func:`begin`."""
    pool, parent = ledger.pool, wanted.parent
    if parent is not None:
        still_there(pool.agent(parent))
    project, _ = place(ledger.log, wanted.project, wanted.task)
    allowed = project.created.roles
    if allowed and wanted.role not in allowed:
        raise RoleNotInProject(wanted.role, wanted.project, allowed)
    if wanted.way == "work":
        pool.check_work(rules)
    elif parent is None:
        pool.check_draft(wanted.client, rules)
    else:
        pool.check_conversations(parent, rules)


def _check_permissions(above: Agent, role: Role) -> None:
    """Make sure that nobody gets through others what its own role may not.

    Raises:
        NotPermitted: the role may more than that of whoever drafts it.
    """
    for permission in role.permissions:
        if permission not in above.drafted.permissions:
            raise NotPermitted(above.drafted.role, permission, f"role {role.name!r}, which has it")


def _left(pool: Pool, parent: str) -> Limits:
    """What an agent may let others use up: what is left of its own budget.

    Raises:
        Refused: nothing is left.
    """
    above = pool.agent(parent)
    bounds = Limits(budget_usd=above.limits.budget_usd)
    over = used_up(bounds, pool.used_by(above))
    if over is not None:
        raise Refused(f"{over[1]} Nobody can be sent out any more.")
    if bounds.budget_usd is None:
        return bounds
    return Limits(budget_usd=bounds.budget_usd - pool.cost_of(above))


def _named(ledger: Ledger, role: str, draw: Draw, provided: Callable[[], None]) -> str:
    """Begin under the next free name of a role."""
    while True:
        name = ledger.pool.next_name(role)
        try:
            ledger.log.begin(agent_stream(name).id, BEGINNING, draw, provided=provided)
        except SessionExists:
            continue
        return name


def _filled(bounds: Limits, others: Limits) -> Limits:
    """The bounds, and where there is none the other one."""
    missing = {
        name: value for name, value in others.model_dump().items() if getattr(bounds, name) is None
    }
    return bounds.model_copy(update=missing)
