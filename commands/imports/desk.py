"""Where conversations are written down: sessions, and branches for the ways that were left."""

from collections.abc import Iterator
from itertools import chain
from typing import Any, Literal, NamedTuple

from commands.imports import names, provenance
from commands.imports.files import Opened
from commands.imports.pages import KINDS, FreshPage, KnownPage, Parted
from commands.imports.pen import EARLIEST, Mark, Pen
from commands.imports.report import Imported, Report, What
from commands.imports.sources import Format
from commands.imports.talk import Branch, Conversation, Text, Turn
from commands.imports.texts import one_line
from commands.world import World
from domain.actors import SYSTEM, Actor
from domain.config import Config
from domain.dialogue import Asked, Dialogue
from domain.errors import SessionExists
from domain.events import (
    Caused,
    DraftEmitted,
    MessageSent,
    NoteAdded,
    SessionForked,
    SessionStarted,
    ThoughtAdded,
    ToolUsed,
)
from domain.ids import CommandId, SessionId, exchange_id
from domain.log import Log
from domain.protocol.prompts import PROTOCOL
from domain.recorded import BEGINNING, Head, Recorded

TITLE = 120
"""Characters of a title."""
LOOKED_AT = 50
"""Turns in which the first message is looked for, to make a title of."""

Page = FreshPage | KnownPage


class Options(NamedTuple):
    """How a file is imported."""

    name: str | None = None
    """The session's name; for a file with a single conversation."""
    prefix: str | None = None
    """What the names of all sessions begin with, before a slash."""
    settings: dict[str, Any] = {}  # noqa: RUF012 — never changed
    dry: bool = False
    """Only look: nothing is written."""


class _Family(NamedTuple):
    """A conversation, and the session that it became first."""

    conversation: Conversation
    trunk: SessionId


class _Start(NamedTuple):
    """Where a branch parts, and with what."""

    parent: SessionId
    version: int
    first: Turn


class Desk:
    """Where the conversations of a file are written down."""

    def __init__(
        self,
        log: Log,
        format_: Format,
        file: Opened,
        world: World,
        options: Options,
        config: Config,
        report: Report,
    ) -> None:
        self.log, self.format, self.file, self.world = log, format_, file, world
        self.options, self.config, self.report = options, config, report
        self.known = provenance.known(log)
        self.taken = set(log.sessions())
        self.now = world.now()
        self.user: Actor = world.actor

    def take(self, conversation: Conversation) -> None:
        """Write a conversation with its branches, or go on with what is there of it."""
        first, at, turns = _begun(conversation.turns())
        if first is None:
            self.report.leave_out("conversations without a message")
            return
        title = one_line(conversation.title or "", TITLE) or one_line(first, TITLE) or "Chat"
        key = (self.format, provenance.key_of(conversation))
        for session in self.known.sessions.get(key, []):
            if self._goes_on(conversation, session, title):
                return
        times = [time for time in (conversation.began, at) if time is not None]
        began = min((time for time in times if EARLIEST <= time <= self.now), default=None)
        self._begins(conversation, turns, title, key, began)

    def _begins(
        self,
        conversation: Conversation,
        turns: Iterator[Turn],
        title: str,
        key: tuple[str, str],
        began: int | None,
    ) -> None:
        """A session that is not here yet."""
        name = self.options.name or names.slug(title, began)
        if self.options.prefix:
            name = f"{self.options.prefix}/{name}"
        if self.options.name and name in self.taken:
            raise SessionExists(name)
        session = names.free(name, self.taken)
        if not self.options.dry:
            self.known.sessions.setdefault(key, []).append(session)
        clock = self.now if began is None else began
        page = FreshPage(self._log, session, BEGINNING, clock, self._draw(), begun=False)
        started = SessionStarted(
            title=title,
            config=self.config.model_dump(),
            protocol=PROTOCOL,
            seed=self.world.seed(),
        )
        page.put(Caused(started))
        page.put(Caused(self._provenance(conversation, further=False), by=SYSTEM))
        pen = self._pen(page, marking=any(True for _ in conversation.branches()))
        self._write(pen, turns)
        page.flush()
        self._tell(title, page, None)
        self._branch(_Family(conversation, session), page, title, pen.marks)

    def _goes_on(self, conversation: Conversation, session: SessionId, title: str) -> bool:
        """Compare with a session that is here; False if it is another conversation after all."""
        upto = provenance.PROVENANCE
        clock = self.log.pick(session, [upto])[0].at
        family = _Family(conversation, session)
        page = self._known_page(session, upto, clock, family, surely=conversation.surely)
        pen = self._pen(page, marking=any(True for _ in conversation.branches()))
        try:
            self._write(pen, conversation.turns())
        except Parted:
            return False
        page.flush()
        self._tell(title, page, None)
        self._branch(family, page, title, pen.marks)
        return True

    def _known_page(
        self,
        session: SessionId,
        after: int,
        clock: int,
        family: _Family,
        *,
        surely: bool = True,
    ) -> KnownPage:
        def go_on() -> FreshPage:
            state, onto = self.log.state(session), self.log.head(session)
            fresh = FreshPage(self._log, session, onto, state.at, self._draw(), begun=True)
            note = self._provenance(family.conversation, further=True)
            fresh.put(Caused(note, by=SYSTEM))
            return fresh

        def part(parent: SessionId, version: int) -> Page:
            node = f"after event {version} of {parent}"
            (before,) = self.log.pick(parent, [version])
            known = self.known.branch(self.log, family.trunk, node, parent, version)
            if known is not None:
                return self._known_page(known, version, before.at, family)
            child = names.free(f"{family.trunk}/source", self.taken)
            return self._fork("course", node, None, before, child)

        there = self.log.read(session, after=after, kinds=KINDS)
        own = filter(_imported, there)
        return KnownPage(session, own, clock, after, go_on, part, surely=surely)

    # branches

    def _branch(self, family: _Family, page: Page, title: str, marks: dict[int, Mark]) -> None:
        places = {node: (page, mark) for node, mark in marks.items()}
        for branch in family.conversation.branches():
            node = next((one for one in branch.above() if one in places), None)
            holder, mark = places[node] if node is not None else (page, _ROOT)
            turns = branch.turns(node)
            first = next(turns, None)
            if first is None:
                continue
            asks = first.role == "user" and not first.light
            version = mark.closed if asks and mark.closed is not None else mark.version
            parent = holder.holder(version)
            own, pen = self._begin_branch(branch, family, _Start(parent, version, first))
            self._write(pen, chain([first], turns))
            own.flush()
            self._tell(title, own, parent)
            for place, one in pen.marks.items():
                places.setdefault(place, (own, one))

    def _begin_branch(self, branch: Branch, family: _Family, start: _Start) -> tuple[Page, Pen]:
        """The page of a branch, which is there or not, and a pen that stands where it parts."""
        parent, version, first = start
        known = self.known.branch(self.log, family.trunk, branch.node, parent, version)
        child = known
        if child is None:
            child = names.free(f"{family.trunk}/branch", self.taken, first=1)
        what: Literal["answer", "question"] = "question" if branch.role == "user" else "answer"
        if known is None and self.options.dry:
            at = first.at or 0
            page: Page = FreshPage(None, child, Head(version, b""), at, self._draw(), begun=False)
            page.put(Caused(SessionForked(parent=parent, at_version=version, parent_hash=b"")))
            asked = Asked(exchange_id(1, 0), "", 1, version) if first.role == "mind" else None
            return page, self._pen(page, dialogue=Dialogue(asked))
        (before,) = self.log.pick(parent, [version])
        if known is not None:
            page = self._known_page(known, version, before.at, family)
        else:
            page = self._fork(what, branch.node, first.at, before, child)
        state = self.log.state(parent, version)
        return page, self._pen(page, state.upcoming, state.dialogue)

    def _fork(
        self,
        what: Literal["answer", "question", "course"],
        node: str,
        began: int | None,
        before: Recorded,
        session: SessionId,
    ) -> FreshPage:
        """A branch by reference, begun when its first turn was."""
        onto = self.log.head(before.session, before.version)
        forked = SessionForked(
            parent=before.session,
            at_version=before.version,
            parent_hash=onto.hash,
            reason=provenance.reason(what, node),
        )
        page = FreshPage(self._log, session, onto, before.at, self._draw(), begun=False)
        at = began if began is not None and before.at <= began <= self.now else None
        page.put(Caused(forked, before.version, at=at))
        return page

    # what they share

    @property
    def _log(self) -> Log | None:
        return None if self.options.dry else self.log

    def _draw(self) -> tuple[int, Actor, CommandId]:
        return self.now, self.user, self.world.command_id()

    def _pen(
        self,
        page: Page,
        iteration: int = 1,
        dialogue: Dialogue = Dialogue(),
        *,
        marking: bool = True,
    ) -> Pen:
        return Pen(
            page,
            self.report,
            self.user,
            self.format,
            self.now,
            iteration=iteration,
            dialogue=dialogue,
            marking=marking,
        )

    def _write(self, pen: Pen, turns: Iterator[Turn]) -> None:
        for turn in turns:
            pen.take(turn)
        pen.end()

    def _provenance(self, conversation: Conversation, *, further: bool) -> NoteAdded:
        text = provenance.note(self.format, self.file.name, conversation, further=further)
        return NoteAdded(text=text, iteration=0)

    def _tell(self, title: str, page: Page, parent: SessionId | None) -> None:
        """Report what came of a page, and of those behind it."""
        what: What = "new"
        fresh: Page | None = page
        if isinstance(page, KnownPage):
            fresh = page.behind
            if fresh is None or fresh.session != page.session:
                self.report.sessions.append(
                    Imported(page.session, "known", title, branch_of=parent)
                )
                if fresh is not None:
                    self._tell(title, fresh, page.session)
                return
            what = "longer"
        if not isinstance(fresh, FreshPage):
            raise TypeError("nothing is behind a page that nobody knows")
        counts = fresh.counts
        said = int(parent is None or what == "longer")  # where it came from
        self.report.sessions.append(
            Imported(
                fresh.session,
                what,
                title,
                events=fresh.events,
                exchanges=counts.get(MessageSent, 0),
                answers=counts.get(DraftEmitted, 0),
                tools=counts.get(ToolUsed, 0),
                thoughts=counts.get(ThoughtAdded, 0),
                notes=counts.get(NoteAdded, 0) - said,
                branch_of=parent,
            )
        )


_ROOT = Mark(provenance.PROVENANCE)
"""Where a branch begins that shares nothing with the way that the talk went."""


def _imported(recorded: Recorded) -> bool:
    """Whether an event may have come from an import."""
    return not isinstance(recorded.event, ThoughtAdded) or recorded.event.origin == "imported"


def _begun(turns: Iterator[Turn]) -> tuple[str | None, int | None, Iterator[Turn]]:
    """The first message, if anything was said at all; when that began; and all turns again."""
    seen: list[Turn] = []
    text: str | None = None
    for turn in turns:
        seen.append(turn)
        if turn.role == "note" or not any(_has_words(part) for part in turn.parts):
            continue
        text = text or ""
        if turn.role == "user" and not turn.light:
            text = next((p.text for p in turn.parts if isinstance(p, Text)), "")
            break
        if len(seen) > LOOKED_AT:
            break
    return text, next((turn.at for turn in seen if turn.at is not None), None), chain(seen, turns)


def _has_words(part: object) -> bool:
    return not isinstance(part, Text) or bool(part.text.strip())
