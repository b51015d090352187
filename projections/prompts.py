"""Prompts rendered again: the exact text that an iteration was shown, and whether it is still that.

A prompt is a function of the state that it is based on and of what the invocation recorded: the
sample, the user's time, the dialect. So it is not stored but rendered anew, and its hash proves it.
"""

from collections.abc import Iterator
from hashlib import sha256
from typing import NamedTuple, TypeGuard, get_args

from domain.events import MessageSent, MindInvoked, SignalChanged, ThoughtAdded
from domain.ids import SessionId
from domain.lives import touched
from domain.log import Log
from domain.pool import Thought
from domain.protocol.dialects import prompt_text
from domain.protocol.observe import observe
from domain.protocol.prompts import Dialect, system_prompt
from domain.protocol.view import View
from domain.recorded import Recorded
from domain.sampling import Recalled, Sample
from domain.session import Session

_WORDS = (
    *("effort.opened", "effort.resolved", "fact.learned", "event.noted", "context.compacted"),
    *("artifact.edited", "artifact.imported", "artifact.recalled"),
)
"""What gives artifacts the words that a mind reads."""


class Reprompt(NamedTuple):
    """What an iteration was shown, rendered again from the log."""

    text: str
    view: View
    matches: bool
    """Whether its sha256 is the recorded one: this is what the mind read, to the letter."""
    system_matches: bool
    """Whether the system prompt and examples of this version are those that it was told."""


def reprompt(
    log: Log, session: SessionId, recorded: Recorded, state: Session | None = None
) -> Reprompt:
    """Render the prompt of an invocation again.

    Args:
        log: where the session lives.
        session: the session that is looked at; the invocation may be an ancestor's.
        recorded: the ``mind.invoked`` event.
        state: the state at its ``based_on``, where the caller has it; loaded otherwise.

    Raises:
        TypeError: ``recorded`` is no invocation.
    """
    invoked = recorded.event
    if not isinstance(invoked, MindInvoked):
        raise TypeError(f"{invoked.kind} is no invocation")
    if state is None:
        state = log.state(session, invoked.based_on)
    view = observe(state, _sample(log, session, state, invoked), invoked.user_time)
    text = prompt_text(view, invoked.dialect)
    return Reprompt(
        text,
        view,
        prompt_hash(text) == invoked.prompt_hash,
        system_hash(invoked.dialect) == invoked.system_hash,
    )


def prompt_hash(text: str) -> bytes:
    """The sha256 by which an invocation knows its prompt."""
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def system_hash(dialect: str) -> bytes | None:
    """The sha256 of what this version tells a mind of a dialect beforehand; None if unknown."""
    return system_prompt(dialect).sha256 if _is_known(dialect) else None


def sections(prompt: str) -> dict[str, str]:
    """The blocks of a prompt by name, in its order; ``awaiting`` is one beside ``dialogue``."""
    found: dict[str, list[str]] = {}
    name = ""
    # nobody's text reaches a column where structure is read
    for line in prompt.removesuffix("\n").split("\n"):
        if line and not line.startswith(" "):
            name = line.partition(":")[0]
        elif line == "  awaiting:" and name == "dialogue":
            name = "awaiting"
        found.setdefault(name, []).append(line)
    return {name: "".join(f"{line}\n" for line in lines) for name, lines in found.items()}


def redacted(log: Log, session: SessionId, recorded: Recorded) -> list[Recorded]:
    """What was taken away since, of all that the prompt of an invocation was made from.

    The reason why a prompt can no longer be rendered as it was, where there is one; read only
    as far back as the pool, the dialogue and the artifacts of that moment reach. In order of
    versions.
    """
    invoked = recorded.event
    if not isinstance(invoked, MindInvoked):
        raise TypeError(f"{invoked.kind} is no invocation")
    state = log.state(session, invoked.based_on)
    sources = (
        *log.pick(session, invoked.sampled),
        *_pool(log, session, state),
        *_dialogue(log, session, state),
        *_artifacts(log, session, state),
        *_signals(log, session, state),
    )
    gone = {recorded.version: recorded for recorded in sources if recorded.redacted}
    return [gone[version] for version in sorted(gone)]


def _pool(log: Log, session: SessionId, state: Session) -> Iterator[Recorded]:
    """The thoughts of the pool: one that was not drawn counts in the size of its cluster."""
    active = state.pool.active
    # a pool that is not full may lack one that came before all the others
    first = active[0].version if len(active) >= state.config.active_pool_size else 1
    return log.read(session, after=first - 1, upto=state.version, kinds=["thought.added"])


def _dialogue(log: Log, session: SessionId, state: Session) -> Iterator[Recorded]:
    """The messages and drafts that the mind may be shown."""
    dialogue = state.dialogue
    past = [exchange for exchange in dialogue.history if not exchange.pruned]
    asked = {exchange.id for exchange in past}
    if dialogue.awaiting is not None:
        asked.add(dialogue.awaiting.exchange)
    kinds = ["message.sent"]
    for recorded in log.read(session, upto=state.version, kinds=kinds, newest_first=True, page=16):
        event = recorded.event
        if isinstance(event, MessageSent) and event.exchange in asked:
            yield recorded
            asked.remove(event.exchange)
        if not asked:
            break
    drafts = [exchange.draft_version for exchange in past]
    yield from log.pick(session, [*drafts, *(draft.version for draft in dialogue.drafts)])


def _artifacts(log: Log, session: SessionId, state: Session) -> Iterator[Recorded]:
    """What gave the artifacts on the shelf their words: one without room may have been shown."""
    held = {artifact.id for artifact in state.shelf.artifacts}
    if not held:
        return
    for r in log.read(session, after=min(held) - 1, upto=state.version, kinds=_WORDS):
        if r.version in held or not held.isdisjoint(touched(r.event)):
            yield r


def _signals(log: Log, session: SessionId, state: Session) -> Iterator[Recorded]:
    """The signals that the mind is shown: the newest of each iteration."""
    kinds, held = ["signal.changed"], {signal.iteration for signal in state.attention.signals}
    for recorded in log.read(session, upto=state.version, kinds=kinds, newest_first=True, page=8):
        event = recorded.event
        if isinstance(event, SignalChanged) and event.iteration in held:
            yield recorded
            held.remove(event.iteration)
        if not held:
            break


def _sample(log: Log, session: SessionId, state: Session, invoked: MindInvoked) -> Sample:
    """The thoughts that were drawn: of the pool, or called back from beyond it."""
    having = {thought.version: thought for thought in state.pool.active}
    beyond = [version for version in invoked.sampled if version not in having]
    for r in log.pick(session, beyond) if beyond else ():
        if isinstance(r.event, ThoughtAdded):
            e = r.event
            having[r.version] = Thought(r.version, e.text, e.iteration, e.mind, e.origin)
    recalled = (
        Recalled(having[version], caller, chance)
        for version, caller, chance in invoked.recalled
        if version in having
    )
    drawn = (having[version] for version in invoked.sampled if version in having)
    return Sample(tuple(drawn), tuple(recalled))


def _is_known(dialect: str) -> TypeGuard[Dialect]:
    return dialect in get_args(Dialect)
