"""What was said: messages and accepted answers, and the message that awaits one."""

from collections.abc import Sequence
from typing import NamedTuple

from markdown_it import MarkdownIt
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Markdown, Static

from cli.tui.following import Following
from cli.tui.shapes import Turn
from cli.tui.texts import FAINT, content, shown
from domain.sentences import count


def parser() -> MarkdownIt:
    """Markdown in which HTML is plain text: nothing that was written is left out."""
    return MarkdownIt("gfm-like").disable(["html_block", "html_inline"])


class Written(Markdown):
    """A text of the mind's, as Markdown; what a terminal would obey is made visible."""

    def __init__(self, text: str) -> None:
        super().__init__(shown(text), parser_factory=parser, open_links=False)


def _message(exchange: str, text: str) -> Static:
    said = content(("you  ", "bold"), (exchange, FAINT), f"\n{shown(text)}")
    return Static(said, classes="mine", markup=False)


class Awaiting(NamedTuple):
    """The message that has no answer yet, and how that stands."""

    exchange: str
    text: str
    stands: str
    """One sentence."""


class Said(Vertical):
    """One exchange: the message, and the answer below it."""

    def __init__(self, turn: Turn) -> None:
        super().__init__()
        self.turn = turn

    def compose(self) -> ComposeResult:
        """The message, who answered, the answer."""
        turn = self.turn
        yield _message(turn.exchange, turn.message)
        of = f", of {count(turn.drafts, 'draft')}" if turn.drafts else ""
        chosen = f"draft {turn.index}{of}" if turn.index else ""
        yield Static(content(("mind  ", "bold"), (chosen, FAINT)), classes="who")
        yield Written(turn.answer)


class Asked(Vertical):
    """The message that awaits an answer."""

    def __init__(self, awaiting: Awaiting) -> None:
        super().__init__()
        self.awaiting = awaiting

    def compose(self) -> ComposeResult:
        """The message, and how it stands."""
        yield _message(self.awaiting.exchange, self.awaiting.text)
        yield Static(content((self.awaiting.stands, FAINT)), id="stands", markup=False)


class Transcript(Following):
    """All exchanges of a session that were fetched."""

    def __init__(self) -> None:
        super().__init__("transcript", "Transcript")
        self._turns: tuple[Turn, ...] = ()
        self._awaiting: Awaiting | None = None

    @property
    def held(self) -> int:
        """How many exchanges are shown."""
        return len(self._turns)

    async def put(self, turns: Sequence[Turn], awaiting: Awaiting | None) -> None:
        """Show these; what is there already stays as it is."""
        turns = tuple(turns)
        known, before = self._turns, self._awaiting
        if (turns, awaiting) == (known, before):
            return
        self._turns, self._awaiting = turns, awaiting
        with self.app.batch_update():
            if turns[: len(known)] == known and (known or not self.children):
                await self.mount_all(
                    [Said(turn) for turn in turns[len(known) :]],
                    before=next(iter(self.query(Asked)), None),
                )
            else:
                await self.remove_children(Said)
                await self.mount_all([Said(turn) for turn in turns], before=self._asked())
                if len(turns) > len(known) and known and turns[-len(known) :] == known:
                    self.children[len(turns) - len(known)].scroll_visible(animate=False, top=True)
            await self._put_awaiting(before, awaiting)

    def _asked(self) -> Asked | None:
        return next(iter(self.query(Asked)), None)

    async def _put_awaiting(self, before: Awaiting | None, now: Awaiting | None) -> None:
        shown_one = self._asked()
        if before == now and (shown_one is None) == (now is None):
            return
        if shown_one and now and before and before[:2] == now[:2]:
            shown_one.query_one("#stands", Static).update(content((now.stands, FAINT)))
            return
        if shown_one is not None:
            await shown_one.remove()
        if now is not None:
            await self.mount(Asked(now))
