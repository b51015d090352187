"""What the methods about agents answer, as far as the screen shows it."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, cast

Data = Mapping[str, Any]

Outcome = Literal["completed", "failed", "lost", "running", "waiting", "withdrawn", "unanswered"]


class Draft(NamedTuple):
    """Where a drafted agent stands."""

    agent: str
    role: str
    project: str
    task: str
    model: str
    turns: int
    cost_usd: float
    unknown_costs: int
    """Calls of the model whose cost nobody could say."""
    tokens: int
    """What the newest call of the model was shown; 0 while nobody knows."""
    window: int
    """Tokens that it can be shown; 0 while nobody knows."""
    working: bool

    @classmethod
    def of(cls, data: Data) -> "Draft":
        """Read a session of ``get_draft_status``."""
        return cls(
            agent=data["sessionId"],
            role=data["role"],
            project=data["project"],
            task=data["taskSlug"],
            model=data.get("model") or "",
            turns=data.get("turnCount") or 0,
            cost_usd=data.get("costUsd") or 0.0,
            unknown_costs=data.get("unknownCosts") or 0,
            tokens=data.get("lastInputTokens") or 0,
            window=data.get("contextWindow") or 0,
            working=bool(data.get("working")),
        )

    @property
    def context(self) -> str:
        """How full the context is: ``34%``, or ``?``, which is never a zero."""
        if not self.window or not self.tokens:
            return "?"
        return f"{min(100.0, 100 * self.tokens / self.window):.0f}%"

    @property
    def cost(self) -> str:
        """``$0.23``; ``?`` stands for what nobody could say, or not yet."""
        unknown = self.unknown_costs + (self.working and not self.turns)
        return dollars(self.cost_usd, unknown)


class Member(NamedTuple):
    """An agent among others."""

    agent: str
    role: str
    project: str
    task: str
    way: str
    """``conversation`` or ``work``."""
    state: str
    """working, waiting, idle or ended."""
    parent: str | None
    waiting: int
    turns: int
    cost_usd: float
    unknown_costs: int
    begun: str

    @classmethod
    def of(cls, data: Data) -> "Member":
        """Read an entry of ``list_agents``."""
        return cls(
            agent=data["agentId"],
            role=data["role"],
            project=data["project"],
            task=data["taskSlug"],
            way=data["way"],
            state=data["state"],
            parent=data.get("parent"),
            waiting=data.get("waiting") or 0,
            turns=data.get("turns") or 0,
            cost_usd=data.get("costUsd") or 0.0,
            unknown_costs=data.get("unknownCosts") or 0,
            begun=data["begun"],
        )

    @property
    def cost(self) -> str:
        """As that of a draft."""
        first = self.state == "working" and not self.turns
        return dollars(self.cost_usd, self.unknown_costs + first)


_KILLED = {
    "asked": "ended by hand",
    "budget": "over its budget",
    "time": "out of time",
    "idle": "fell silent",
    "loop": "went in circles",
    "lost": "lost with its process",
    "parent ended": "not wanted any more",
}
"""Why somebody ended a worker, as a person would say it."""


class Report(NamedTuple):
    """How an agent ended, and what came of it."""

    agent: str
    role: str
    ended: str
    """``undrafted``, ``reported`` or ``killed``."""
    status: str
    """Of a worker: success, partial, failed or blocked; else why it ended."""
    summary: str
    changes: tuple[str, ...]
    issues: tuple[str, ...]
    questions: tuple[str, ...]
    turns: int
    cost_usd: float
    unknown_costs: int
    duration_ms: int

    @classmethod
    def of(cls, data: Data) -> "Report | None":
        """Read the answer of ``get_agent``; None while the agent is there."""
        report, session = data.get("report"), data["session"]
        if report is None:
            return None
        reported = report["ended"] == "reported"
        return cls(
            agent=report["agentId"],
            role=session["role"],
            ended=report["ended"],
            status=(report.get("status") if reported else report.get("reason")) or "",
            summary=report.get("summary") or report.get("detail") or "",
            changes=tuple(report.get("changes") or ()),
            issues=tuple(report.get("issues") or ()),
            questions=tuple(report.get("questions") or ()),
            turns=session.get("turnCount") or 0,
            cost_usd=report.get("costUsd") or 0.0,
            unknown_costs=session.get("unknownCosts") or 0,
            duration_ms=report.get("durationMs") or 0,
        )

    @property
    def how(self) -> str:
        """What became of it, in a word or a few."""
        return _KILLED.get(self.status, self.status) if self.ended == "killed" else self.status

    @property
    def cost(self) -> str:
        """As that of a draft."""
        return dollars(self.cost_usd, self.unknown_costs)


class Tool(NamedTuple):
    """A tool that was used in a turn."""

    name: str
    arguments: str
    """JSON."""
    failed: bool | None
    """None while it is being used."""
    call: str = ""
    """The id of the call, where it was heard of while it happened."""
    said: str = ""
    """Why it failed."""


class Aside(NamedTuple):
    """Something else that happened: of workers, peers, the context."""

    kind: str
    """As its event is called; ``warning`` and ``error`` are in no log."""
    text: str
    agent: str | None = None


class Exchange(NamedTuple):
    """A prompt, and what came of it."""

    prompt: int
    """Its id."""
    text: str
    sender: str | None = None
    """The agent that said it; None for a person."""
    outcome: Outcome = "waiting"
    turn: int | None = None
    answer: str = ""
    """All of it, or what has arrived."""
    detail: str = ""
    """Why there is no answer."""
    logged: tuple[Tool, ...] = ()
    """Tools that were used, as the log has it."""
    heard: tuple[Tool, ...] = ()
    """The same, as it was told; says more, unless some of it was missed."""
    asides: tuple[Aside, ...] = ()
    passing: tuple[Aside, ...] = ()
    """What was told meanwhile and may not be in the log."""
    gap: bool = False
    """Whether some of the answer may have been missed since its newest piece."""

    @classmethod
    def of(cls, data: Data) -> "Exchange":
        """Read an entry of ``agent_transcript``."""
        outcome = cast("Outcome", data["outcome"])
        return cls(
            prompt=data["prompt"],
            text=data["promptText"],
            sender=data.get("sender"),
            outcome=outcome,
            turn=data.get("turn"),
            answer=data.get("answer") or "",
            detail=data.get("detail") or "",
            logged=tuple(
                Tool(tool["name"], tool.get("arguments") or "", bool(tool["failed"]))
                for tool in data.get("tools") or ()
            ),
            asides=tuple(
                Aside(aside["kind"], aside["text"], aside.get("agent"))
                for aside in data.get("asides") or ()
            ),
            gap=outcome == "running",
        )

    @property
    def over(self) -> bool:
        """Whether nothing more will become of it."""
        return self.outcome not in {"waiting", "running"}

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that were used, from where more of them are known."""
        missed = self.over and any(tool.failed is None for tool in self.heard)
        return self.logged if missed or len(self.heard) < len(self.logged) else self.heard


def dollars(usd: float, unknown: int = 0) -> str:
    """``$0.23``, ``$0.0012``, ``?``, or ``$0.23 + ?`` where some calls are not in it."""
    known = f"${usd:.4f}" if 0 < usd < 0.01 else f"${usd:.2f}"
    if not unknown:
        return known
    return f"{known} + ?" if usd else "?"
