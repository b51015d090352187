"""Turns become events: what a conversation of elsewhere is in the words of this log.

- A message of the user opens an exchange once the mind says something to it. Messages without an
  answer between them become one, with a blank line between; the last one stays open.
- Each answer to a message is a draft; the last one is accepted when the user goes on, and at the
  end of the source unless the mind was still at work.
- What the user never asked is answered to :data:`NO_QUESTION`; what the mind never said, though it
  used a tool or thought, is :data:`NO_ANSWER`. Both are by this program, and say so.
"""

from typing import NamedTuple, Protocol

from commands.imports.report import Report
from commands.imports.talk import Text, Thought, Tool, Turn
from commands.imports.texts import fitting, one_line
from domain.actors import SYSTEM, Actor
from domain.dialogue import Dialogue, digest
from domain.events import (
    Caused,
    DraftAccepted,
    DraftEmitted,
    Event,
    MessageSent,
    NoteAdded,
    ThoughtAdded,
    ToolUsed,
)
from domain.ids import ExchangeId

NO_QUESTION = "[no question in the source]"
NO_ANSWER = "[no answer in the source]"
WHILE_NOBODY_ANSWERED = "Not answered in the source: "

EARLIEST = 631_152_000_000_000
"""1990, µs since 1970: no chat is older, so an earlier time is none."""


class Page(Protocol):
    """Where events are written."""

    @property
    def clock(self) -> int:
        """When the newest event was; none can be earlier."""
        ...

    @property
    def version(self) -> int:
        """The version of the newest event."""
        ...

    def put(self, caused: Caused) -> int:
        """Record an event; its version."""
        ...


class Mark(NamedTuple):
    """Where a place of the source is in the session."""

    version: int
    closed: int | None = None
    """The version of the acceptance, where the user went on right there."""


class _Held(NamedTuple):
    text: str
    at: int | None
    nodes: tuple[int, ...]
    light: bool


class Pen:
    """Writes the turns of one conversation, from where a session stands."""

    def __init__(
        self,
        page: Page,
        report: Report,
        user: Actor,
        mind: str,
        now: int,
        *,
        iteration: int = 1,
        dialogue: Dialogue = Dialogue(),
        marking: bool = True,
    ) -> None:
        """Take up the pen.

        Args:
            page: where events are written.
            report: told what is changed or left out.
            user: who asked.
            mind: what an answer is by where the source names no model.
            now: the present; nothing can have happened later.
            iteration: the one that sees first what is written.
            dialogue: how the talk stands.
            marking: whether anybody asks for the marks.
        """
        self._page, self._report, self._user, self._now = page, report, user, now
        self._mind, self._iteration = mind, iteration
        self._newest = dialogue.newest
        self._held: list[_Held] = []
        self._late: list[tuple[str, int | None]] = []
        self._open: ExchangeId | None = None
        self._asked = self._drafts = 0
        self._latest: tuple[int, int] | None = None
        """Index and version of the newest draft."""
        self._busy = False
        """Whether the mind used a tool or thought since, so that more was to come."""
        self._said: dict[bytes, int] = {}
        """Drafts of the open exchange, by what they say."""
        self._marking = marking
        self.marks: dict[int, Mark] = {}
        """By place in the source."""
        self._behind: tuple[int, ...] = ()
        """The places whose turn was written last."""
        if dialogue.awaiting is not None:
            self._open, self._asked = dialogue.awaiting.exchange, dialogue.awaiting.version
            self._drafts = len(dialogue.drafts)
            latest = dialogue.latest_content
            self._latest = (latest.index, latest.version) if latest else None
            self._said = {draft.digest: draft.index for draft in dialogue.drafts}

    def take(self, turn: Turn) -> None:
        """Write a turn; one of the user waits for what the mind says to it."""
        if turn.role == "user":
            self._write_late()
            texts = [part.text for part in turn.parts if isinstance(part, Text)]
            self._held.append(_Held("\n\n".join(texts), turn.at, turn.nodes, turn.light))
            return
        if turn.role == "note":
            self._late += [(part.text, turn.at) for part in turn.parts if isinstance(part, Text)]
            if not self._held:
                self._write_late()
        else:
            self._answered(turn)
        if not self._held and turn.nodes:
            self._mark(turn.nodes)

    def end(self) -> None:
        """Nothing comes any more: the last answer is accepted unless the mind was at work."""
        if any(not one.light for one in self._held):
            self._ask()
        else:
            if not self._busy:
                self._accept()
            self._refuse_light()
            self._write_late()

    # what the user said

    def _ask(self) -> None:
        """Open an exchange with what was held; commands go along only where they are all."""
        self._close()
        told = [one for one in self._held if not one.light] or self._held
        if told is not self._held:
            self._held = [one for one in self._held if one.light]
            self._refuse_light()
        if len(told) > 1:
            self._report.change("messages without an answer, joined with the next", len(told) - 1)
        text = "\n\n".join(one.text for one in told)
        at = next((one.at for one in reversed(told) if one.at is not None), None)
        self._held = []
        self._send(text, at, self._user)
        self._mark(told[-1].nodes)
        self._write_late()

    def _refuse_light(self) -> None:
        for one in self._held:
            self._note(WHILE_NOBODY_ANSWERED + one.text, None)
        self._held = []

    def _write_late(self) -> None:
        """The notes that came while a message was held, which was there before them."""
        late, self._late = self._late, []
        for text, at in late:
            self._note(text, at)

    def _send(self, text: str, at: int | None, by: Actor) -> None:
        pieces = fitting(text, self._report) or [NO_QUESTION]
        self._open = self._newest = Dialogue(newest=self._newest).next_exchange(self._iteration)
        self._drafts, self._latest, self._busy, self._said = 0, None, False, {}
        sent = MessageSent(exchange=self._open, text=pieces[0], iteration=self._iteration)
        self._asked = self._put(sent, at, by)
        self._go_on(pieces[1:], self._asked, at, by)

    # what the mind said

    def _answered(self, turn: Turn) -> None:
        texts = [part.text for part in turn.parts if isinstance(part, Text)]
        pieces = fitting("\n\n".join(texts), self._report)
        if not pieces and all(isinstance(part, Text) for part in turn.parts):
            return
        if self._held:
            self._ask()
        elif self._open is None:
            self._report.change(f"answers without a question, to {NO_QUESTION}")
            self._send(NO_QUESTION, turn.at, SYSTEM)
        by = Actor("mind", one_line(turn.model or self._mind, 200) or self._mind)
        last = max((n for n, part in enumerate(turn.parts) if isinstance(part, Text)), default=-1)
        for place, part in enumerate(turn.parts):
            at = part.at or turn.at
            if isinstance(part, Thought):
                self._think(part, at, by)
            elif isinstance(part, Tool):
                self._use(part, at, by)
            elif place == last and pieces:
                self._draft(pieces, at, by)

    def _draft(self, pieces: list[str], at: int | None, by: Actor) -> None:
        same = digest(pieces[0])
        self._drafts += 1
        self._busy = False
        emitted = DraftEmitted(
            exchange=self._exchange(),
            index=self._drafts,
            text=pieces[0],
            iteration=self._iteration,
            repeats=self._said.get(same),
        )
        version = self._put(emitted, at, by, self._asked)
        self._said[same] = self._drafts
        self._latest = (self._drafts, version)
        self._go_on(pieces[1:], version, at, by)

    def _think(self, thought: Thought, at: int | None, by: Actor) -> None:
        self._busy = True
        for piece in fitting(thought.text, self._report):
            added = ThoughtAdded(
                text=piece, iteration=self._iteration, mind=by.name, origin="imported"
            )
            self._put(added, at, by, self._asked)

    def _use(self, tool: Tool, at: int | None, by: Actor) -> None:
        self._busy = True
        given = fitting(tool.input, self._report)
        back = fitting(tool.output, self._report) if tool.output is not None else [""]
        used = ToolUsed(
            exchange=self._exchange(),
            name=one_line(tool.name, 200) or "tool",
            arguments=given[0] if given else "",
            result=(back[0] if back else "") if tool.output is not None else None,
            failed=tool.failed,
        )
        version = self._put(used, at, by, self._asked)
        self._go_on([*given[1:], *back[1:]], version, at, by)

    def _close(self) -> None:
        """The user goes on: what is open is answered, or it is said that it never was."""
        if self._open is None:
            return
        if self._latest is None:
            self._report.change(f"messages without an answer, closed with {NO_ANSWER}")
            self._draft([NO_ANSWER], None, SYSTEM)
        self._accept()

    def _accept(self) -> None:
        """The newest draft is the answer, if there is one."""
        if self._open is None or self._latest is None:
            return
        index, version = self._latest
        accepted = DraftAccepted(exchange=self._open, index=index)
        closed = self._put(accepted, None, self._user, version)
        for node in self._behind:
            self.marks[node] = self.marks[node]._replace(closed=closed)
        self._open, self._latest, self._behind = None, None, ()

    # the rest

    def _note(self, text: str, at: int | None) -> None:
        for piece in fitting(text, self._report):
            self._put(NoteAdded(text=piece, iteration=self._iteration - 1), at, SYSTEM)

    def _go_on(self, pieces: list[str], version: int, at: int | None, by: Actor) -> None:
        """What did not fit into an event stands in notes about it."""
        for piece in pieces:
            note = NoteAdded(text=piece, about=(version,), iteration=self._iteration - 1)
            self._put(note, at, by, version)

    def _exchange(self) -> ExchangeId:
        if self._open is None:
            raise ValueError("a draft or a tool outside of an exchange")
        return self._open

    def _mark(self, nodes: tuple[int, ...]) -> None:
        if not self._marking:
            return
        for node in nodes:
            self.marks[node] = Mark(self._page.version)
        self._behind = nodes

    def _put(self, event: Event, at: int | None, by: Actor, cause: int | None = None) -> int:
        clock = self._page.clock
        if at is not None and not EARLIEST <= at <= self._now:
            self._report.change("times that can't be, taken as those of what was before")
            at = None
        if at is not None and at < clock:
            self._report.change("times that ran backwards, taken as those of what was before")
        return self._page.put(Caused(event, cause, by, max(clock, at or 0)))
