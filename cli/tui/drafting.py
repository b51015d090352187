"""The mode for a drafted agent: what was said, what it does, who else is at work."""

from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content

from cli.client.client import CallFailed, State
from cli.tui.agent_list import Agents
from cli.tui.agent_places import Place
from cli.tui.agent_shapes import Draft, Exchange, Member, Report
from cli.tui.agent_talk import Talk
from cli.tui.agent_transcript import Conversation, ended, place_of, whole
from cli.tui.dialogs import Reading
from cli.tui.mode import Mode
from cli.tui.soon import Soon
from cli.tui.texts import FAINT, content, one_line, shorter
from domain.sentences import count

if TYPE_CHECKING:
    from cli.tui.app import ChatApp

TURNS = 30
"""Prompts that are fetched at first, and each time somebody scrolls to the top."""

MOST_TURNS = 200
"""As many as can be asked for at once."""

NEWEST = 8
"""Prompts that are read again when something has happened."""

NOBODY = "Nobody is drafted: /draft ROLE drafts somebody to talk with, /roles lists the roles."

_TELLING = frozenset({"turn", "answer", "error", "lifecycle", "result"})
"""Notices after which figures, workers or what the log has are others."""


class DraftMode(Mode):
    """A conversation with one agent, and the agents that it sent out."""

    NAME = "agent"
    PLACEHOLDER = "Message the agent, or /help"
    CSS_PATH = "agent.tcss"
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 — as Textual has them
        (0, "-narrow"),
        (81, "-medium"),
        (120, "-wide"),
    ]
    KEYS: ClassVar[tuple[tuple[str, tuple[tuple[str, str], ...]], ...]] = (
        (
            "The agent",
            (
                ("ctrl+o f4", "to the mind; the agent goes on"),
                ("escape ctrl+x", "stop the answer; what waits is answered next,"),
                ("", "unless /withdraw takes it back"),
                ("ctrl+l f3", "show or hide the agents at work"),
            ),
        ),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+x", "stop", "Stop", priority=True),
        Binding("ctrl+l,f3", "agents", "Agents", priority=True),
        Binding("ctrl+o,f4", "app.enter('mind')", "Mind", priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.draft: Draft | None = None
        """The active one."""
        self.place = Place()
        """What the next one is drafted for."""
        self.sent: tuple[str, ...] = ()
        """Workers that were sent out by hand, the newest first."""
        self.talk = Talk("")
        self._members: tuple[Member, ...] = ()
        self._reports: dict[str, Report] = {}
        self._turns = TURNS
        self._lost = self._stoppable = False
        self._wanted = 0
        self._reading = Soon(self, self._read)
        self._drawing = Soon(self, self._draw)

    def panes(self) -> ComposeResult:
        """The conversation, and the agents beside it."""
        with Horizontal(id="beside"):
            yield Conversation()
            yield Agents()

    # what is shown

    def title_line(self) -> Content:
        """Who is drafted, how full its context is, its turns, what they cost."""
        draft = self.draft
        if draft is None:
            return content(f" | No draft | Agents: {len(self._members)}")
        whom = f" | Draft: {one_line(draft.role)}"
        figures = f"Context: {draft.context} | Turns: {draft.turns} | {draft.cost}"
        room = self.size.width - len(self.state_of_connection) - 2
        between = " | " if len(whom) + 3 + len(figures) <= room else "\n"
        return content(whom, between, figures)

    def on_mount(self) -> None:
        """Begin to listen."""
        self.chat.client.on_state(self._reached)
        self.add_class("-listed")
        self.draw_title()
        self.tell("")
        self.want(self._turns)

    def _reached(self, state: State, _: str) -> None:
        if state == "reconnecting":
            self._lost = True
            self.talk.missed()

    async def caught_up(self) -> None:
        """Read everything anew: something may have been missed."""
        self.want(self._turns)
        self.draw_title()

    @property
    def settled(self) -> bool:
        """Whether everything that was wanted is shown."""
        return not self._reading.busy and not self._drawing.busy

    def want(self, turns: int = NEWEST) -> None:
        """Read figures, agents and the newest turns, soon."""
        self._wanted = max(self._wanted, turns)
        if self.is_mounted:
            self._reading.ask()

    async def _read(self) -> None:
        turns, self._wanted = self._wanted, 0
        if self.chat.client.state == "connected":
            await self.chat.attempt(self._look(turns))
        self._drawing.ask()

    async def _look(self, turns: int) -> None:
        status = await self.chat.call("get_draft_status")
        rows = (await self.chat.call("list_agents"))["agents"]
        session = status.get("session") if status["active"] else None
        if session is not None:
            self._follow(Draft.of(session))
        elif self.draft is not None:
            await self.over(self.draft.agent)
        mine = self.draft.agent if self.draft is not None else ""
        self._members = tuple(m for m in map(Member.of, rows) if m.agent != mine)
        if self.talk.agent:
            await self._read_turns(turns)
        there = {member.agent for member in self._members}
        for name in self._workers():
            if name not in there and name not in self._reports:
                await self.report_of(name)

    def _follow(self, draft: Draft) -> None:
        """This is the active draft from now on."""
        self.draft = draft
        if self.place.project is None:
            self.place = Place(draft.project, draft.task)
        if draft.agent != self.talk.agent:
            self.talk, self._turns = Talk(draft.agent), TURNS

    async def _read_turns(self, count: int) -> None:
        """Read the newest turns; after a loss of the connection, all that are newer than known."""
        talk, known = self.talk, self.talk.oldest
        count = MOST_TURNS if self._lost else TURNS if known is None else min(count, MOST_TURNS)
        self._lost = False
        read = await self.chat.call("agent_transcript", agentId=talk.agent, count=count)
        wanted = read["turns"]
        if count == MOST_TURNS > self._turns and known is not None:
            wanted = [turn for turn in wanted if turn["prompt"] >= known]
        talk.read(wanted)

    def _workers(self) -> list[str]:
        """Those whose reports are waited for."""
        return [*self.sent, *_sent_out(self.talk.exchanges)]

    async def report_of(self, agent: str) -> Report | None:
        """How an agent ended, from now on shown where that is told; None while it is there."""
        report = Report.of(await self.chat.call("get_agent", agentId=agent))
        if report is not None:
            self._reports[agent] = report
        return report

    async def over(self, agent: str) -> None:
        """The draft has ended, here or elsewhere: say what it came to.

        Raises:
            CallFailed: nobody can say.
        """
        self.draft = None
        report = await self.report_of(agent)
        if report is not None:
            self.tell(f"{ended(report)} ctrl+o goes to the mind.")
        self.want()

    async def _draw(self) -> None:
        exchanges = self.talk.exchanges
        hint = content((NOBODY if self.draft is None else _hint(self.draft), FAINT))
        await self.query_one(Conversation).put(self.talk.agent, exchanges, self._reports, hint)
        gone = [self._reports[name] for name in self._workers() if name in self._reports]
        self.query_one(Agents).put(self._members, gone)
        self.draw_title()
        if self._stoppable != self.busy:
            self._stoppable = self.busy
            self.refresh_bindings()

    # what is told

    async def told(self, method: str, params: dict[str, Any]) -> None:
        """Show an answer as it comes; read again what the log has to say."""
        if method == "channel_message":
            kind, ours = params["type"], params.get("sessionId") == self.talk.agent
            self.talk.hear(params)
            if kind in _TELLING or (kind == "prompt" and not ours):
                self.want()
            if ours:
                self._drawing.ask()  # pieces may be as small as a letter
                self._say_elsewhere(kind)
            elif kind == "result" and params["sessionId"] not in _sent_out(self.talk.exchanges):
                name, said = one_line(params["sessionId"]), shorter(params.get("content") or "", 90)
                self.chat.tell(f"{name} reports: {said} /report {name} shows all of it.")
        elif method == "context_compacted" and params.get("sessionId") == self.talk.agent:
            self.talk.compacted(params.get("preTokens"))
            self.want()
        elif method in {"draft_status", "pool_status"}:
            self.want()

    def _say_elsewhere(self, kind: str) -> None:
        """Let whoever looks at another mode know that there is something to read."""
        said = {"answer": "has answered", "error": "has no answer"}.get(kind)
        if said is not None and self.chat.mode is not self:
            self.chat.tell(f"{one_line(self.talk.agent)} {said}: ctrl+o goes there.")

    # what is done

    async def say(self, text: str) -> bool:
        """Say something to the agent; it waits for its turn if another prompt is answered."""
        if self.draft is None:
            self.tell(NOBODY, refused=True)
            return False
        draft = self.draft.agent
        await self.chat.call("submit_prompt", sessionId=draft, content=text)
        self.query_one(Conversation).follow()
        return True

    async def stop(self) -> None:
        """Stop the answer that the agent is at.

        Raises:
            CallFailed: it is at none, or can't be asked now.
        """
        self.tell("Stopping…")
        asked = {"sessionId": self.talk.agent, "turn": self.talk.turn}
        done = await self.chat.call("stop_turn", **(asked if self.draft is not None else {}))
        stopped = done["outcome"] == "stopped"
        how = "Stopped." if stopped else "It had ended before it could be stopped."
        self.tell(f"{how} What waited is answered now." if done["waiting"] else how)
        self.want()

    async def look_at(self, agent: str, version: int) -> None:
        """Go to what was said to an agent at a moment: here, or, of others, in a page to read.

        Raises:
            CallFailed: nobody can say.
        """
        if self.draft is not None and agent == self.draft.agent:
            await self.chat.enter(self.NAME)
            self._turns = MOST_TURNS
            self.query_one(Conversation).seek(version)
            self.want(MOST_TURNS)
            return
        report = await self.report_of(agent)
        read = await self.chat.call("agent_transcript", agentId=agent, count=MOST_TURNS)
        found = [Exchange.of(turn) for turn in read["turns"]]
        reports = {agent: report} if report is not None else {}
        pages = [whole(one, agent, reports) for one in found]
        there = place_of(version, [one.prompt for one in found]) or 0
        await self.chat.push_screen(Reading(f"Said to {agent}", *pages, at=there))

    async def drafted(self, data: dict[str, Any]) -> None:
        """Somebody was drafted: go there."""
        draft = Draft.of(data)
        self.place = Place(draft.project, draft.task)
        self._follow(draft)
        await self.chat.enter(self.NAME)

    # keys

    async def pressed_escape(self) -> bool:
        """Stop the turn that goes on."""
        if self.busy:
            self.chat.begin(self.stop)
        return self.busy

    def action_stop(self) -> None:
        """Stop the turn that goes on."""
        self.chat.begin(self.stop)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Ctrl+x cuts, where there is nothing to stop."""
        del parameters
        return self.busy if action == "stop" else True

    @property
    def busy(self) -> bool:
        """Whether the drafted agent is answering."""
        return self.draft is not None and self.talk.running

    def action_agents(self) -> None:
        """Show the list of agents, or hide it."""
        self.toggle_class("-listed-anyway" if self.has_class("-narrow") else "-listed")

    @on(Conversation.WantsMore)
    def _more(self) -> None:
        if self.query_one(Conversation).held >= self._turns < MOST_TURNS:
            self._turns += TURNS
            self.want(self._turns)


def _hint(draft: Draft) -> str:
    place = f"{one_line(draft.project)}/{one_line(draft.task)}"
    return f"{one_line(draft.agent)} is there for {place}: say what it is to do."


def _sent_out(exchanges: list[Exchange]) -> list[str]:
    """Agents that were sent out or drafted in a conversation, the newest first; each once."""
    names = (
        aside.agent
        for one in reversed(exchanges)
        for aside in reversed(one.asides)
        if aside.kind.startswith("worker.") and aside.agent
    )
    return list(dict.fromkeys(names))


async def found_at_start(chat: "ChatApp", mode: DraftMode) -> None:
    """Go on with a draft that is there already; where nobody can say, there is none."""
    try:
        status = await chat.call("get_draft_status")
    except CallFailed:
        return
    if status["active"]:
        await chat.enter(mode.NAME)
        agent = one_line(status["session"]["sessionId"])
        mode.tell(f"{agent} is still drafted, the conversation goes on. ctrl+o goes to the mind.")


def standing(draft: Draft, waiting: int) -> str:
    """What ``/context`` says."""
    used = f"{draft.tokens:,}" if draft.tokens else "?"
    window = f"{draft.window:,}" if draft.window else "?"
    figures = [count(draft.turns, "turn"), draft.cost, shorter(draft.model, 40, keep="end")]
    if waiting:
        figures.insert(1, f"{waiting} wait")
    return f"Context: {used} of {window} tokens, {draft.context}. {', '.join(figures)}."
