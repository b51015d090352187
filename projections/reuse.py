"""What of each prompt is the same as in the one before: what a provider's cache can use again.

Nothing of it is stored: both prompts are rendered again from the states that they were based on.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, islice, pairwise
from typing import NamedTuple

from domain.context import Context
from domain.events import (
    ArtifactExcluded,
    ArtifactLinked,
    ContextCompacted,
    ExchangeRouted,
    MindInvoked,
)
from domain.ids import SessionId
from domain.lives import LIVES, touched
from domain.log import Log
from domain.protocol.observe import context_of
from domain.protocol.view import ArtifactSeen
from domain.recorded import Recorded
from projections.prompts import Reprompt, reprompt, sections
from projections.window import Counted, by_estimate


class Change(NamedTuple):
    """Why artifacts were shown otherwise than before."""

    what: str
    """``fact 412``."""
    how: str
    """``came``, ``changed`` or ``left``."""
    why: str
    """The kind of the event that did it (``fact.learned``), or what was decided without one."""
    version: int | None = None
    """Of that event."""


class Reuse(NamedTuple):
    """A prompt beside the one before."""

    version: int
    """Of the invocation."""
    iteration: int
    model: str
    dialect: str
    memory_tokens: int
    """Of the artifacts, as they stand in the prompt."""
    hit: bool | None
    """Whether they stood there in the same bytes before; None without a prompt before."""
    chars: int
    """Of the whole prompt, without what the mind is told before it."""
    tokens: int
    same_chars: int
    """How many of them, from the beginning on, are the same as before; none for another mind."""
    same_tokens: int
    another_mind: bool = False
    """Whether another mind was asked than before, or it was told something else first."""
    changes: tuple[Change, ...] = ()
    matches: bool = True
    """Whether the prompt is what was read then, to the letter: not where something was redacted."""


class _Prompt(NamedTuple):
    recorded: Recorded
    invoked: MindInvoked
    again: Reprompt
    context: Context


def reuses(
    log: Log,
    session: SessionId,
    *,
    upto: int | None = None,
    limit: int | None = 20,
    counted: Counted = by_estimate,
) -> list[Reuse]:
    """The newest prompts, oldest first, each beside the one before it.

    Args:
        log: where the session lives.
        session: which session.
        upto: as of this version.
        limit: how many; None for all.
        counted: counts tokens.
    """
    newest = log.read(session, upto=upto, kinds=["mind.invoked"], newest_first=True, page=32)
    chosen = list(islice(newest, None if limit is None else limit + 1))
    begins = limit is None or len(chosen) <= limit
    prompts = (_rendered(log, session, recorded) for recorded in reversed(chosen))
    pairs = pairwise(chain([None] if begins else [], prompts))
    return [_beside(before, now, log, counted) for before, now in pairs if now is not None]


def _rendered(log: Log, session: SessionId, recorded: Recorded) -> _Prompt:
    invoked = recorded.event
    if not isinstance(invoked, MindInvoked):
        raise TypeError(f"{invoked.kind} is no invocation")
    state = log.state(session, invoked.based_on)
    again = reprompt(log, session, recorded, state)
    return _Prompt(recorded, invoked, again, context_of(state, again.view))


def _beside(before: _Prompt | None, now: _Prompt, log: Log, counted: Counted) -> Reuse:
    memory, text = _memory(now), now.again.text
    comparable = before is not None and _same_mind(before, now)
    same = text[: _alike(before.again.text, text)] if before is not None and comparable else ""
    of_memory, of_all, of_same = counted([memory, text, same])
    hit = None if before is None else _memory(before) == memory
    changes = () if before is None or hit else tuple(_changes(log, before, now))
    invoked = now.invoked
    return Reuse(
        now.recorded.version,
        invoked.iteration,
        invoked.model,
        invoked.dialect,
        of_memory,
        hit,
        len(text),
        of_all,
        len(same),
        of_same,
        before is not None and not comparable,
        changes,
        now.again.matches,
    )


def _memory(prompt: _Prompt) -> str:
    return sections(prompt.again.text).get("memory", "")


def _same_mind(one: _Prompt, other: _Prompt) -> bool:
    a, b = one.invoked, other.invoked
    return (a.model, a.system_hash) == (b.model, b.system_hash)


def _changes(log: Log, before: _Prompt, now: _Prompt) -> Iterator[Change]:
    """What happened to the artifacts of either prompt in between."""
    had = {one.id: one for one in before.again.view.memory}
    has = {one.id: one for one in now.again.view.memory}
    if had == has:
        yield Change("artifacts", "changed", "the dialect shows them otherwise")
        return
    session = now.recorded.session
    between = list(
        log.read(session, after=before.invoked.based_on, upto=now.invoked.based_on, kinds=LIVES)
    )
    absent = {left.what: left.why for left in now.context.left_out}
    for id_ in sorted(had.keys() | has.keys()):
        old, new = had.get(id_), has.get(id_)
        if old != new:
            yield _change(old, new, between, absent)


def _change(
    old: ArtifactSeen | None,
    new: ArtifactSeen | None,
    between: Sequence[Recorded],
    absent: dict[str, str],
) -> Change:
    one = new or old
    if one is None:
        raise TypeError("an artifact that neither prompt shows")
    what = f"{one.type} {one.id}"
    how = "came" if old is None else "left" if new is None else "changed"
    told = [r for r in between if r.version == one.id or _tells(r, one.id)]
    excluded = any(isinstance(r.event, ArtifactExcluded) for r in told)
    if new is None and what in absent and not excluded:
        return Change(what, how, absent[what])
    if told:
        event = told[0] if old is None else told[-1]
        return Change(what, how, event.event.kind, event.version)
    return Change(what, how, "there is room for it" if old is None else "nothing is known")


def _tells(recorded: Recorded, artifact: int) -> bool:
    """Whether an event changes what an artifact says, or whether it is shown."""
    event = recorded.event
    unchanging = isinstance(event, ExchangeRouted | ArtifactLinked | ContextCompacted)
    return not unchanging and artifact in touched(event)


def _alike(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))
