"""What agents were told and answered, what they took, and for what projects and tasks.

Their streams are no sessions: ``session`` of these rows is ``agent:NAME``, ``project:NAME`` or
``task:PROJECT/SLUG``, and no branch sees them.
"""

from collections.abc import Iterable

from domain.recorded import Plain
from projections.analytics.schema.table import ACTOR, REDACTED, Column, Table, Values


def _agent(event: Plain) -> str:
    return event.session.partition(":")[2]


def _drafted(event: Plain) -> Iterable[Values]:
    get = event.data.get
    yield (
        _agent(event),
        *(get(name) for name in ("role", "model", "client", "project", "task")),
        get("way", "conversation"),
        get("parent"),
        event.actor,
        event.redacted,
    )


def _undrafted(event: Plain) -> Iterable[Values]:
    get = event.data.get
    yield _agent(event), "undrafted", get("reason", "asked"), get("detail"), get("duration_ms")


def _reported(event: Plain) -> Iterable[Values]:
    get = event.data.get
    if get("worker") == _agent(event):  # in its sender's stream it is told again
        yield _agent(event), "reported", get("status"), get("summary"), get("duration_ms")


def _killed(event: Plain) -> Iterable[Values]:
    get = event.data.get
    if get("worker") == _agent(event):
        yield _agent(event), "killed", get("reason"), get("detail"), get("duration_ms")


def _prompt(event: Plain) -> Iterable[Values]:
    get = event.data.get
    yield _agent(event), event.version, get("text"), get("sender"), event.actor, event.redacted


def _withdrawn(event: Plain) -> Iterable[Values]:
    yield _agent(event), event.data.get("prompt"), None, "withdrawn", *(None,) * 15, False


def _started(event: Plain) -> Iterable[Values]:
    get = event.data.get
    yield _agent(event), get("prompt"), get("turn")


def _completed(event: Plain) -> Iterable[Values]:
    yield _ended(event, "completed", event.data.get("text"), 1)


def _failed(event: Plain) -> Iterable[Values]:
    yield _ended(event, "failed", event.data.get("partial") or None, 0)


def _lost(event: Plain) -> Iterable[Values]:
    yield _ended(event, "lost", None, None)


def _ended(event: Plain, outcome: str, answer: str | None, calls: int | None) -> Values:
    get, completed = event.data.get, outcome == "completed"
    return (
        _agent(event),
        get("prompt"),
        get("turn"),
        outcome,
        answer,
        get("reason"),
        get("detail"),
        get("model"),
        get("calls", calls),
        get("tokens_in"),
        get("tokens_out"),
        get("cache_read", 0) if completed else None,
        get("cache_creation", 0) if completed else None,
        get("cost_usd"),
        get("unknown_costs", 0) if outcome != "lost" else None,
        get("context_tokens"),
        get("context_window"),
        get("latency_ms"),
        get("finish"),
        event.redacted,
    )


def _tool(event: Plain) -> Iterable[Values]:
    get = event.data.get
    yield (
        _agent(event),
        *(get(name) for name in ("turn", "call", "name", "arguments", "result")),
        get("failed", False),
        get("latency_ms", 0),
        event.redacted,
    )


def _report(event: Plain) -> Iterable[Values]:
    get = event.data.get
    if get("worker") == _agent(event):
        yield (
            _agent(event),
            get("status"),
            get("summary"),
            *(list(get(name, ())) for name in ("changes", "issues", "questions")),
            *(get(name, 0) for name in ("turns", "cost_usd", "duration_ms")),
            event.redacted,
        )


def _project(event: Plain) -> Iterable[Values]:
    get = event.data.get
    yield (
        get("name"),
        get("description", ""),
        list(get("roles", ())),
        get("path"),
        get("virtual", False),
        event.actor,
        event.redacted,
    )


def _task(event: Plain) -> Iterable[Values]:
    get = event.data.get
    fields = (get("project"), get("slug"), get("title"), get("description", ""))
    yield *fields, event.actor, event.redacted


AGENT = Column("agent", "VARCHAR", "name of the agent: ROLE-N")
PROMPT = Column("prompt", "BIGINT", "id of the prompt: the version of its event")
TURN = Column("turn", "BIGINT", "number of the turn of its agent, from 1")

AGENTS = (
    Table(
        "base.agents",
        "Agents that were drafted.",
        (
            AGENT,
            Column("role", "VARCHAR", "what it was drafted as"),
            Column("model", "VARCHAR", "the mind that answers"),
            Column("client", "VARCHAR", "whose draft it is"),
            Column("project", "VARCHAR", "name of the project"),
            Column("task", "VARCHAR", "name of the task in its project"),
            Column("way", "VARCHAR", "conversation, or work: one task that ends with a report"),
            Column("parent", "VARCHAR", "the agent that drafted it, where one did"),
            ACTOR,
            REDACTED,
        ),
        {"agent.drafted": _drafted},
    ),
    Table(
        "base.agent_ends",
        "How agents ended.",
        (
            AGENT,
            Column("how", "VARCHAR", "undrafted, reported or killed"),
            Column("reason", "VARCHAR", "why; of a report its status"),
            Column("detail", "VARCHAR", "the same as a sentence; of a report its summary"),
            Column("duration_ms", "BIGINT", "from its beginning to its end"),
        ),
        {"agent.undrafted": _undrafted, "worker.reported": _reported, "worker.killed": _killed},
    ),
    Table(
        "base.prompts",
        "What was said to agents.",
        (
            AGENT,
            PROMPT,
            Column("text", "VARCHAR", "what was said"),
            Column("sender", "VARCHAR", "the agent that said it, where it was one"),
            ACTOR,
            REDACTED,
        ),
        {"prompt.submitted": _prompt},
    ),
    Table(
        "base.turn_starts",
        "Turns that began.",
        (AGENT, PROMPT, TURN),
        {"turn.started": _started},
    ),
    Table(
        "base.turn_ends",
        "How turns ended, and prompts that were taken back.",
        (
            AGENT,
            PROMPT,
            TURN,
            Column("outcome", "VARCHAR", "completed, failed, lost or withdrawn"),
            Column("answer", "VARCHAR", "the answer; of a failed turn what had arrived"),
            Column("reason", "VARCHAR", "why there is no answer, in a word"),
            Column("detail", "VARCHAR", "the same as a sentence"),
            Column("model", "VARCHAR", "the model that really answered"),
            Column("calls", "BIGINT", "calls of the model in it"),
            Column("tokens_in", "BIGINT", "of its prompts, all calls together, uncached"),
            Column("tokens_out", "BIGINT", "of its replies, all calls together"),
            Column("cache_read", "BIGINT", "tokens of its prompts that the provider had kept"),
            Column("cache_creation", "BIGINT", "tokens of its prompts that the provider keeps now"),
            Column("cost_usd", "DOUBLE", "known cost; NULL where none is"),
            Column("unknown_costs", "BIGINT", "calls whose cost nobody can say"),
            Column("context_tokens", "BIGINT", "what its last call was shown, cached or not"),
            Column("context_window", "BIGINT", "tokens that the model can be shown"),
            Column("latency_ms", "BIGINT", "how long it took"),
            Column("finish", "VARCHAR", "why the model stopped, as the provider says"),
            REDACTED,
        ),
        {
            "turn.completed": _completed,
            "turn.failed": _failed,
            "turn.lost": _lost,
            "prompt.withdrawn": _withdrawn,
        },
    ),
    Table(
        "agent_tools",
        "What agents did with tools.",
        (
            AGENT,
            TURN,
            Column("call", "VARCHAR", "the id that the model gave it"),
            Column("name", "VARCHAR", "the tool"),
            Column("arguments", "VARCHAR", "what it was called with, JSON"),
            Column("result", "VARCHAR", "what it said"),
            Column("failed", "BOOLEAN", "it did not work"),
            Column("latency_ms", "BIGINT", "how long it took"),
            REDACTED,
        ),
        {"tool.called": _tool},
    ),
    Table(
        "reports",
        "What came of work that agents were sent out for.",
        (
            AGENT,
            Column("status", "VARCHAR", "success, partial, failed or blocked"),
            Column("summary", "VARCHAR", "in its own words"),
            Column("changes", "VARCHAR[]", "what it changed"),
            Column("issues", "VARCHAR[]", "what stood in the way"),
            Column("questions", "VARCHAR[]", "what it could not decide"),
            Column("turns", "BIGINT", "calls of the model"),
            Column("cost_usd", "DOUBLE", "what they cost, as far as it is known"),
            Column("duration_ms", "BIGINT", "from its beginning to its report"),
            REDACTED,
        ),
        {"worker.reported": _report},
    ),
    Table(
        "base.projects",
        "Projects.",
        (
            Column("project", "VARCHAR", "name of the project"),
            Column("description", "VARCHAR", "what it is about"),
            Column("roles", "VARCHAR[]", "roles that may be drafted into it; none means all"),
            Column("path", "VARCHAR", "the directory that its agents work in"),
            Column("virtual", "BOOLEAN", "only a heading"),
            ACTOR,
            REDACTED,
        ),
        {"project.created": _project},
    ),
    Table(
        "base.tasks",
        "Tasks.",
        (
            Column("project", "VARCHAR", "name of the project"),
            Column("task", "VARCHAR", "name of the task in its project"),
            Column("title", "VARCHAR", "what is to be done, in a line"),
            Column("description", "VARCHAR", "more of it"),
            ACTOR,
            REDACTED,
        ),
        {"task.created": _task},
    ),
    Table(
        "base.closings",
        "Projects and tasks that were closed, or opened again.",
        (
            Column("closed", "BOOLEAN", "closed; False: opened again"),
            Column("reason", "VARCHAR", "why"),
        ),
        {
            "project.closed": lambda event: ((True, event.data.get("reason", "")),),
            "task.closed": lambda event: ((True, event.data.get("reason", "")),),
            "task.reopened": lambda event: ((False, event.data.get("reason", "")),),
        },
    ),
)
