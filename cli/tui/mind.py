"""The mode for a mind: transcript, drafts, thoughts, the mind at work, and the past."""

from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content

from cli.client.client import CallFailed
from cli.tui.dialogs import AskName, Reading, diff_text
from cli.tui.drafts import Drafts, lines_of
from cli.tui.mind_view import ALL, EXCHANGES, Reader, View, touched_by
from cli.tui.mind_work import Work
from cli.tui.mode import Mode
from cli.tui.texts import content, duration, iterations_ago, money, one_line, shorter, tokens
from cli.tui.thoughts import Thoughts
from cli.tui.timeline import Timeline
from cli.tui.transcript import Transcript
from domain.sentences import count

PAST = "This is the past, which can only be read: /fork NAME branches off here, escape is now."


class MindMode(Mode):
    """One session, now or as of any event."""

    NAME = "mind"
    PLACEHOLDER = "Message the mind, or /help"
    KEYS: ClassVar[tuple[tuple[str, tuple[tuple[str, str], ...]], ...]] = (
        (
            "The mind",
            (
                ("ctrl+r", "let the mind work until it has a draft"),
                ("ctrl+g", "let it work in the background, leaving drafts unseen"),
                ("escape ctrl+x", "stop it"),
                ("ctrl+n f2", "to the drafts"),
                ("ctrl+l f3", "show or hide the timeline"),
            ),
        ),
        (
            "Drafts",
            (
                ("← →", "choose a newer or an older one"),
                ("a enter", "accept it"),
                ("d", "what changed since the one before it"),
                ("s", "mark it as seen"),
                ("↑ ↓", "scroll in it"),
            ),
        ),
        (
            "Timeline",
            (
                ("← → j k", "look at the event before or after"),
                ("pgup pgdn", "ten events back or on"),
                ("home end", "the first event; now"),
                ("f", "fork at this event"),
                ("enter", "return to now"),
            ),
        ),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+r", "run('observe')", "Run"),
        Binding("ctrl+g", "run('background')", "Background", show=False),
        Binding("ctrl+x", "stop", "Stop", priority=True),
        Binding("ctrl+n,f2", "drafts", "Drafts", priority=True),
        Binding("ctrl+l,f3", "timeline", "Timeline", priority=True),
    ]

    def __init__(self, session: str) -> None:
        super().__init__()
        self.view = View(session, None)
        self.reader = Reader(self)
        self.work = Work(self)
        self._subscription: Any = None
        self._heard: str | None = None
        """The session that the subscription is about."""

    @property
    def session(self) -> str:
        """The session that is worked on."""
        return self.view.session

    def panes(self) -> ComposeResult:
        """What was said, what is thought, what is drafted, what happened."""
        with Container(id="panes"):
            yield Transcript()
            yield Thoughts()
            yield Drafts()
        yield Timeline()

    # what is shown

    def title_line(self) -> Content:
        """Session, what it does, iteration, costs, presence, model."""
        seen, now = self.reader.seen, self.reader.now
        if seen is None or now is None:
            return content(" │ ", one_line(self.session))
        doing = "running" if self.work.running and self.view.at is None else seen.state
        took = duration(self.work.latency) if self.work.latency else None
        parts = [
            doing.capitalize(),
            f"Iteration {seen.iteration}",
            money(seen.cost_usd, seen.unknown_costs),
        ]
        # the name of the session gets what the rest leaves
        room = self.size.width - len(" │ ".join([self.state_of_connection, "", *parts])) - 2
        parts.insert(0, shorter(seen.session, max(room, 8)))
        status = f" “{shorter(seen.status_text, 30)}”" if seen.status_text else ""
        below = [
            f"You: {seen.presence}{status}",
            f"{tokens(seen.tokens_in)} in, {tokens(seen.tokens_out)} out",
            *([took] if took else []),
            shorter(seen.model, 30, keep="end"),
        ]
        return content(" │ ", " │ ".join(parts), "\n", " │ ".join(below))

    def banner(self) -> Content | None:
        """Which moment is looked at, unless it is now."""
        if self.view.at is None:
            return None
        line, seen, now = self.query_one(Timeline), self.reader.seen, self.reader.now
        ago = ""
        if seen is not None and now is not None and seen.version == self.view.at:
            ago = f", {iterations_ago(now.iteration - seen.iteration)}"
        where = f"Looking at event {self.view.at} of {line.last}{ago}"
        return content((where, "bold"), ": f forks here, enter returns to now")

    async def look(self, session: str, version: int | None) -> None:
        """Look at a session, at a moment of it or now."""
        other = session != self.session
        self.view = View(session, version)
        line = self.query_one(Timeline)
        if other:
            self.reader.forget()
            await self.query_one(Drafts).put(())  # none of them can be accepted here
            line.forget()
            self.work = Work(self)
            await self._subscribe()
        if version is not None:
            self.tell("")
            await self.query_one(Drafts).write(None)
            line.display = True
            line.focus()
        line.look(version)
        self.draw_title()
        self.reader.want(*ALL)

    def be_now(self) -> None:
        """The moment that is looked at turned out to be the newest."""
        self.view = View(self.session, None)
        self.query_one(Timeline).look(None)

    async def on_mount(self) -> None:
        """Show everything, and hear what happens."""
        self.draw_title()
        self.tell("")
        await self.caught_up()
        status = await self.chat.attempt(self.chat.call("status", session=self.session))
        if status and status["presence"] == "absent" and not self.notice:
            self.tell("The mind takes you for absent: /signal reviewing says that you are here.")

    async def caught_up(self) -> None:
        """Read everything anew."""
        self.reader.want(*ALL)
        if self._heard != self.session:
            await self.chat.attempt(self._subscribe())

    async def _subscribe(self) -> None:
        """Hear of this session, and of another one no more: in this order, to miss nothing."""
        session, before = self.session, self._subscription
        answer = await self.chat.call("subscribe", session=session)
        self._subscription, self._heard = answer["subscription"], session
        if before is not None:
            await self.chat.call("unsubscribe", subscription=before)

    async def told(self, method: str, params: dict[str, Any]) -> None:
        """Show what an event touches, and how an iteration goes on."""
        if method == "run_progress":
            await self.work.told(params)
        elif method == "cut_off" and params.get("subscription") == self._subscription:
            # such as a store that was put back: what it holds now is shown from now on
            self._subscription = self._heard = None
            self.tell(params.get("reason") or "", refused=True)
            await self.caught_up()
        elif method == "event" and params.get("session") == self.session:
            touched = touched_by(params.get("kind") or "")
            self.reader.want(*(touched if self.view.at is None else ("status", "timeline")))

    # what is done

    def only_now(self) -> bool:
        """Whether it is now; else say why nothing can be done."""
        if self.view.at is not None:
            self.tell(PAST, refused=True)
        return self.view.at is None

    async def say(self, text: str) -> bool:
        """Send a message, and let the mind work."""
        if not self.only_now():
            return False
        try:
            await self.chat.call("message", session=self.session, text=text)
        except CallFailed as failed:
            if failed.error != "AnswerFirst":
                raise
            self.tell(self._answer_first(), refused=True)
            return False
        self.query_one(Transcript).follow()
        self.reader.want("status", "history", "drafts")
        if not self.work.running:
            self.work.begin("observe")
        return True

    def _answer_first(self) -> str:
        if not any(not draft.signal for draft in self.reader.drafts):
            return "The last message still awaits its drafts: ctrl+r lets the mind work."
        number = count(len(self.reader.drafts), "draft")
        return f"Accept a draft first, of {number}: ctrl+n and a, or /accept. Your text stays here."

    async def accept(self, index: int | None) -> None:
        """Make a draft the answer.

        Raises:
            CallFailed: it can't be.
        """
        if self.only_now():
            done = await self.chat.call("accept", session=self.session, index=index)
            self.tell(f"Draft {done['index']} is the answer.")
            self.reader.want("status", "history", "drafts")
            self.query_one(Transcript).follow()
            self.prompt.focus()

    async def fork(self, name: str) -> None:
        """Branch off at the moment that is looked at, and go on there.

        Raises:
            CallFailed: it can't be.
        """
        await self.chat.call("fork", **self.view.params, name=name)
        await self.switch(name)
        self.tell(f"{name} is a branch of its own: what you do here leaves the other as it is.")

    async def switch(self, name: str) -> None:
        """Go to another session, also for other commands that name none.

        Raises:
            CallFailed: there is none of that name.
        """
        await self.chat.call("switch", session=name)
        await self.look(name, None)
        self.prompt.focus()

    # keys

    async def pressed_escape(self) -> bool:
        """Stop the run, or return to now."""
        if self.view.at is not None:
            await self.look(self.session, None)
            return False
        if self.busy:
            await self.chat.attempt(self.work.stop())
            return True
        return False

    def pressed_enter(self) -> None:
        """Return to now."""
        if self.view.at is not None:
            self.run_worker(self.look(self.session, None))

    async def action_stop(self) -> None:
        """Stop the run."""
        await self.chat.attempt(self.work.stop())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Ctrl+x cuts, where there is nothing to stop."""
        del parameters
        return self.busy if action == "stop" else True

    @property
    def busy(self) -> bool:
        """Whether the mind is at work, for this app or for another."""
        now = self.reader.now
        return self.work.running or (now is not None and now.state == "running")

    def action_run(self, mode: str) -> None:
        """Let the mind work."""
        if self.only_now():
            self.work.begin("background" if mode == "background" else "observe")

    def action_drafts(self) -> None:
        """Go to the drafts."""
        drafts = self.query_one(Drafts)
        if drafts.display:
            drafts.focus()
        else:
            self.tell("There is no draft to choose from.")

    def action_timeline(self) -> None:
        """Show the timeline, or hide it and return to now."""
        line = self.query_one(Timeline)
        line.display = not line.display
        if line.display:
            line.focus()
            self.reader.want("timeline")
        else:
            self.prompt.focus()
            if self.view.at is not None:
                self.call_later(self.look, self.session, None)

    @on(Timeline.Moved)
    async def _moved(self, event: Timeline.Moved) -> None:
        if event.version != self.view.at:
            await self.look(self.session, event.version)

    @on(Timeline.Forked)
    def _fork_here(self) -> None:
        line = self.query_one(Timeline)
        question = f"A branch of {one_line(self.session)} at event {line.cursor}. Its name:"

        def named(name: str | None) -> None:
            if name:
                self.chat.begin(lambda: self.fork(name))

        self.chat.push_screen(AskName(question), named)

    @on(Drafts.Accepted)
    def _accepted(self, event: Drafts.Accepted) -> None:
        self.chat.begin(lambda: self.accept(event.index))

    @on(Drafts.Seen)
    def _seen(self, event: Drafts.Seen) -> None:
        if self.only_now():
            self.chat.begin(
                lambda: self.chat.call("seen", session=self.session, indexes=[event.index])
            )

    @on(Drafts.Compared)
    def _compared(self, event: Drafts.Compared) -> None:
        if event.older == event.newer:
            self.tell("There is no draft before this one to compare it with.")
        else:
            self.chat.begin(lambda: self._diff(event.older, event.newer))

    async def _diff(self, older: int, newer: int) -> None:
        found = await self.chat.call("draft_diff", **self.view.params, a=older, b=newer)
        title = f"From draft {older} to draft {newer}"
        await self.chat.push_screen(Reading(title, diff_text(lines_of(found["lines"]))))

    @on(Transcript.WantsMore)
    def _more(self) -> None:
        if self.query_one(Transcript).held >= self.reader.exchanges:
            self.reader.exchanges += EXCHANGES
            self.reader.want("history")
