"""The conversation with an agent on the screen: prompts, answers as they come, tools, asides."""

import json
from collections.abc import Mapping, Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from cli.tui.agent_shapes import Aside, Exchange, Report, Tool
from cli.tui.following import Following
from cli.tui.texts import FAINT, Part, content, duration, one_line, shorter, shown
from cli.tui.transcript import Written
from domain.sentences import count

TOOLS = 8
"""Tool calls of a turn that are shown; the newest."""

ARGUMENTS = 160
"""Characters of a tool's arguments, and of why it failed, that are shown where there is room."""

STREAMED = 20_000
"""Characters of an answer that is being written; the newest are shown."""

WARNING = "$text-warning"

_BROKE = {
    "lost": "This turn was lost when its process ended: say it again.",
    "withdrawn": "Taken back before its turn came.",
    "unanswered": "The conversation ended before its turn came.",
    "failed": "There is no answer: say it again.",
}

_BESIDE = {
    "conversation.compacted": "To make room, a summary stands for what came first",
    "context.reset": "The conversation begins anew: the agent is shown nothing of what is above",
    "agent.undrafted": "The conversation ended",
    "worker.dispatched": "Sent out",
    "peer.asked": "Asked",
    "peer.answered": "Answered by",
    "loop.noticed": "It goes in circles",
    "worker.reported": "Reported by",
    "worker.killed": "Ended",
}

_ENDS = frozenset({"agent.undrafted", "worker.reported", "worker.killed"})

Reports = Mapping[str, Report]
"""What came of workers, by their names."""


class Spoken(Vertical):
    """One prompt, and all that came of it."""

    def __init__(self, agent: str, exchange: Exchange, reports: Reports) -> None:
        super().__init__()
        self._agent, self._exchange, self._reports = agent, exchange, reports
        self._drawn = dict[str, Content | None]()

    def compose(self) -> ComposeResult:
        """The prompt, the tools, the answer, and what happened beside it."""
        yield Static(classes="said", markup=False)
        yield Static(classes="used", markup=False)
        yield Static(classes="coming", markup=False)
        yield Static(classes="beside", markup=False)

    async def on_mount(self) -> None:
        """Show it for the first time."""
        await self._draw()

    async def put(self, exchange: Exchange, reports: Reports) -> None:
        """Show what has become of it."""
        if (exchange, reports) != (self._exchange, self._reports):
            self._exchange, self._reports = exchange, reports
            await self._draw()

    async def _draw(self) -> None:
        one = self._exchange
        self.set_class(bool(one.answer), "-answered")
        self._part("said", said(one))
        self._part("used", used(one, self._agent))
        self._part("coming", content(shown(one.answer[-STREAMED:])) if not one.over else None)
        self._part("beside", beside(one, self._agent, self._reports))
        if one.over and one.answer:
            text = shown(one.answer)
            written = next(iter(self.query(Written)), None)
            if written is None:
                await self.mount(Written(one.answer), before=".beside")
            elif written.source != text:
                await written.update(text)

    def _part(self, name: str, text: Content | None) -> None:
        if self._drawn.get(name) == text:
            return
        self._drawn[name] = text
        part = self.query_one(f".{name}", Static)
        part.display = bool(text)
        part.update(text or "")


class Conversation(Following):
    """All prompts of one agent."""

    def __init__(self) -> None:
        super().__init__("conversation", "Conversation")
        self._agent = ""
        self._shown: dict[int, Spoken] = {}
        self._sought: int | None = None

    def compose(self) -> ComposeResult:
        """A hint, until there is more to show."""
        yield Static(id="hint", markup=False)

    def seek(self, version: int) -> None:
        """Go to the prompt that this event of the agent's belongs to, once it is shown."""
        self._sought = version

    @property
    def held(self) -> int:
        """How many prompts are shown."""
        return len(self._shown)

    async def put(
        self, agent: str, exchanges: Sequence[Exchange], reports: Reports, hint: Content
    ) -> None:
        """Show these, oldest first; what is there already is changed in place."""
        with self.app.batch_update():
            if agent != self._agent:
                self._agent, self._shown = agent, {}
                await self.remove_children(Spoken)
                self.follow()
            hints = self.query_one("#hint", Static)
            hints.display = not exchanges
            if not exchanges:
                hints.update(hint)
            oldest = next(iter(self._shown), None)
            new = {
                one.prompt: Spoken(agent, one, _about(agent, one, reports))
                for one in exchanges
                if one.prompt not in self._shown
            }
            for one in exchanges:
                if one.prompt in self._shown:
                    await self._shown[one.prompt].put(one, _about(agent, one, reports))
            earlier = [spoken for prompt, spoken in new.items() if oldest and prompt < oldest]
            if earlier:
                await self.mount_all(earlier, before=self._shown[oldest or 0])
            await self.mount_all([spoken for spoken in new.values() if spoken not in earlier])
            if earlier:  # whoever reads stays where that is
                there = self._shown[oldest or 0]
                self.call_after_refresh(there.scroll_visible, animate=False, top=True)
            self._shown = dict(sorted({**self._shown, **new}.items()))
            found = place_of(self._sought or 0, list(self._shown))
            if found is not None:
                there, self._sought = list(self._shown.values())[found], None
                self.call_after_refresh(there.scroll_visible, animate=False, top=True)
        working = [one for one in exchanges if one.outcome == "running"]
        waiting = sum(one.outcome == "waiting" for one in exchanges)
        self.border_subtitle = content(
            " · ".join(
                [*(["answering …"] if working else []), *([_wait(waiting)] if waiting else [])]
            )
        )


def _wait(number: int) -> str:
    return f"{number} waits" if number == 1 else f"{number} wait"


def _about(agent: str, exchange: Exchange, reports: Reports) -> Reports:
    """The reports that belong to it."""
    names = {aside.agent or agent for aside in exchange.asides}
    return {name: reports[name] for name in names if name in reports}


def place_of(version: int, prompts: Sequence[int]) -> int | None:
    """Where, among prompts in their order, the one is that an event belongs to."""
    return next((n for n in reversed(range(len(prompts))) if prompts[n] <= version), None)


def whole(one: Exchange, agent: str, reports: Reports) -> Content:
    """A prompt and all that came of it, as one text to read."""
    answer = content(shown(one.answer)) if one.answer else None
    parts = (said(one), used(one, agent), answer, beside(one, agent, reports))
    return Content("\n").join([*filter(None, parts), Content()])


def said(one: Exchange) -> Content:
    """A prompt, whoever said it."""
    who = "you" if one.sender is None else one_line(one.sender)
    stands = "  waits for its turn" if one.outcome == "waiting" else ""
    return content((who, "bold"), (stands, FAINT), "\n", shown(one.text))


def used(one: Exchange, agent: str) -> Content | None:
    """Who answers, and the tools that it used, each on a line."""
    if one.turn is None:
        return None
    lines = [content((one_line(agent), "bold"), (f"  turn {one.turn}", FAINT))]
    earlier = len(one.tools) - TOOLS
    if earlier > 0:
        lines.append(content((f"  … {count(earlier, 'earlier tool call')}", FAINT)))
    lines += [tool_line(tool) for tool in one.tools[-TOOLS:]]
    if one.outcome == "running" and not one.answer and not one.tools:
        lines.append(content(("…", FAINT)))
    return Content("\n").join(lines)


def tool_line(tool: Tool) -> Content:
    """Whether it worked, its name, its arguments, and why it failed."""
    sign = {None: "…", False: "✓", True: "✗"}[tool.failed]
    arguments = shorter(_plain(tool.arguments), ARGUMENTS)
    line = f"  {sign} {one_line(tool.name)} {arguments}".rstrip()
    why = f": {shorter(tool.said, ARGUMENTS)}" if tool.said else ""
    return content((line + why, FAINT))


def _plain(arguments: str) -> str:
    """``key=value`` of JSON; what is none stays as it is."""
    try:
        given = json.loads(arguments) if arguments else {}
    except (ValueError, RecursionError):
        return arguments
    if not isinstance(given, dict):
        return arguments
    return ", ".join(
        f"{key}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for key, value in given.items()
    )


def beside(one: Exchange, agent: str, reports: Reports) -> Content | None:
    """Why there is no answer, and what else happened."""
    lines: list[Content] = []
    if one.over and one.outcome != "completed":
        lines.append(_sentence(one.outcome, one.detail))
    for aside in (*one.asides, *one.passing):
        report = reports.get(aside.agent or agent)
        if report is not None and aside.kind in _ENDS:
            lines.append(report_text(report))
        else:
            lines.append(_aside(aside))
    return Content("\n").join(lines) if lines else None


def _sentence(outcome: str, detail: str) -> Content:
    own = _BROKE.get(outcome, "")
    text = detail if outcome == "failed" and detail else own
    return content(("! " + shown(text), FAINT if outcome == "withdrawn" else WARNING))


def _aside(aside: Aside) -> Content:
    if aside.kind in {"warning", "error"}:
        return content(("! " + one_line(aside.text), WARNING))
    begin = _BESIDE.get(aside.kind, aside.kind)
    text = shorter(aside.text, 160)
    if aside.kind == "conversation.compacted":  # what follows is the summary
        text = text.partition(":")[0]
    return content((f"· {begin}: {text}" if text else f"· {begin}.", FAINT))


def report_text(report: Report) -> Content:
    """What came of a piece of work, or of a conversation."""
    if report.ended == "undrafted":
        return content(("· " + ended(report), FAINT))
    took = f"{duration(report.duration_ms)}, {report.cost}"
    sign = "✓" if report.status == "success" else "✗"
    parts: list[Part] = [
        f"{sign} ",
        (one_line(report.agent), "bold"),
        f" {one_line(report.how)} ",
        (f"({took})", FAINT),
    ]
    if report.summary:
        parts += ["\n  ", _indented(report.summary)]
    for name in ("changes", "issues", "questions"):
        for text in getattr(report, name):
            parts += [(f"\n  {name[:-1]}: ", FAINT), _indented(text)]
    return content(*parts)


def ended(report: Report) -> str:
    """What a conversation came to, in a sentence."""
    turns = count(report.turns, "turn")
    why = "" if report.status in {"", "asked"} else f" ({one_line(report.status)})"
    took = duration(report.duration_ms)
    name = one_line(report.agent)
    return f"{name} is undrafted{why}: {turns}, {report.cost}, {took}."


def _indented(text: str) -> str:
    return shown(text.strip()).replace("\n", "\n  ")
