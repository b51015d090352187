"""One iteration: state, sample, prompt, mind, parse; all that came of it in one append."""

from hashlib import sha256
from random import Random
from typing import NamedTuple, Protocol

from commands.gatherer import Gatherer
from commands.handle import Done, handle
from commands.minds.mind import Addressed, Mind, MindFailed, Reply, Request
from commands.recording import RecordIteration
from commands.world import World
from domain.actors import Actor
from domain.errors import NothingAwaits, Refused
from domain.events import MindInvoked
from domain.events.thinking import Outcome, packed
from domain.ids import ExchangeId, SessionId
from domain.log import Log
from domain.protocol.copies import without_copies
from domain.protocol.dialects import prompt_text
from domain.protocol.observe import observe, thoughts_limit
from domain.protocol.output import Output, Unparseable
from domain.protocol.parse import parse
from domain.protocol.prompts import examples, system_prompt
from domain.protocol.view import View
from domain.sampling import Memory, sample
from domain.session import Session


class Watcher(Protocol):
    """Somebody who looks on while a mind works."""

    def asked(self, request: Request) -> None:
        """The mind is about to be asked."""
        ...

    def heard(self, piece: str) -> None:
        """A piece of the reply streamed in."""
        ...

    def answered(self, reply: Reply | MindFailed) -> None:
        """The reply is there, or will not come."""
        ...

    def recorded(self, done: Done) -> None:
        """The iteration is in the log."""
        ...


class Unwatched:
    """Nobody looks on."""

    def asked(self, request: Request) -> None:
        """Nothing."""

    def heard(self, piece: str) -> None:
        """Nothing."""

    def answered(self, reply: Reply | MindFailed) -> None:
        """Nothing."""

    def recorded(self, done: Done) -> None:
        """Nothing."""


class Prepared(NamedTuple):
    """An iteration that is ready to be asked for."""

    view: View
    request: Request
    invocation: MindInvoked
    """With everything but the outcome."""
    exchange: ExchangeId


def prepare(
    session: Session, mind: Addressed, user_time: str, memory: Memory | None = None
) -> Prepared:
    """Draw a sample, render the prompt, and note all that is needed to do so again.

    Args:
        session: the state that is shown.
        mind: who will be asked.
        user_time: the user's local time, ISO 8601 with offset.
        memory: what lies beyond the pool, where thoughts may be called back from there.

    Raises:
        NothingAwaits: there is nothing to answer.
    """
    asked = session.dialogue.awaiting
    if asked is None:
        raise NothingAwaits(session.id)
    config, dialect = session.config, mind.dialect
    seed = Random(f"{session.seed}/{session.id}/{session.upcoming}").getrandbits(32)  # noqa: S311
    drawn = sample(session.pool, thoughts_limit(session), seed, memory)
    view = observe(session, drawn, user_time)
    system = system_prompt(dialect)
    prompt = prompt_text(view, dialect)
    request = Request(
        system=system.text,
        examples=examples(dialect),
        prompt=prompt,
        max_tokens=config.token_limit,
        temperature=config.temperature,
        seed=seed,
        timeout=config.timeout,
        iteration=session.upcoming,
    )
    invocation = MindInvoked(
        iteration=session.upcoming,
        based_on=session.version,
        model=mind.name,
        protocol=session.protocol,
        dialect=dialect,
        system_hash=system.sha256,
        prompt_hash=sha256(prompt.encode("utf-8", "surrogatepass")).digest(),
        sampled=tuple(t.version for t in drawn.thoughts),
        recalled=tuple((r.thought.version, r.caller, r.chance) for r in drawn.recalled),
        seed=seed,
        user_time=user_time,
        outcome="ok",
    )
    return Prepared(view, request, invocation, asked.exchange)


def iterate(
    log: Log,
    session: SessionId,
    mind: Mind,
    world: World,
    *,
    seen: bool,
    watcher: Watcher | None = None,
    gatherer: Gatherer | None = None,
) -> Done:
    """Ask the mind once and record what came of it, whatever came of it.

    Nothing that a provider was paid for is lost: a reply that can't be read, a stream that broke
    and a call that the user interrupted are in the log with what had arrived.

    Raises:
        NothingAwaits: there is nothing to answer.
        MindUnavailable: something has to be set up first; nothing was asked or recorded.
        KeyboardInterrupt: the user broke off; recorded before it is passed on.
    """
    watcher = watcher or Unwatched()
    user_time = world.local_time().isoformat(timespec="seconds")
    state = log.state(session)
    prepared = prepare(state, mind, user_time, _memory(gatherer, state))
    by = world.actor if seen else None
    actor = Actor("mind", mind.name)
    heard: list[str] = []

    def listen(piece: str) -> None:
        heard.append(piece)
        watcher.heard(piece)

    def record(wish: RecordIteration) -> Done:
        done = handle(log, session, wish, world, by=actor, command_id=command_id)
        if gatherer is not None:
            gatherer.recorded(done)
        return done

    def failed(error: str, partial: str, latency_ms: int, attempts: int = 1) -> Done:
        invocation = _failed(prepared, error, partial, latency_ms, attempts)
        return record(RecordIteration(invocation=invocation, exchange=prepared.exchange))

    watcher.asked(prepared.request)
    began, command_id, reply = world.now(), world.command_id(), None
    try:
        reply = mind.reply(prepared.request, listen)
        done = record(_in_company(understood(prepared, reply, by), gatherer, log.state(session)))
    except MindFailed as failure:
        watcher.answered(failure)
        done = failed(failure.sentence, failure.partial, failure.latency_ms, failure.attempts)
        watcher.recorded(done)
        if not failure.retryable:
            raise
        return done
    except Refused:
        raise
    except (KeyboardInterrupt, Exception) as error:
        # under the same id: if it is in the log already, this changes nothing
        if reply is not None:
            record(understood(prepared, reply, by))
        else:
            broke_off = isinstance(error, KeyboardInterrupt)
            why = "The user broke off." if broke_off else f"Something broke ({error!r})."
            waited = (world.now() - began) // 1000
            watcher.recorded(failed(why, "".join(heard), waited))
        raise
    watcher.answered(reply)
    watcher.recorded(done)
    return done


def understood(prepared: Prepared, reply: Reply, seen_by: Actor | None) -> RecordIteration:
    """What a reply means, as a wish to record it."""
    output = parse(reply.text, cut=reply.finish == "length")
    if isinstance(output, Output) and prepared.invocation.dialect == "compact":
        output = without_copies(output, prepared.view, prepared.request.examples)
    invocation = _answered(prepared.invocation, reply, output)
    if isinstance(output, Unparseable):
        return RecordIteration(invocation=invocation, exchange=prepared.exchange)
    return RecordIteration(
        invocation=invocation,
        exchange=prepared.exchange,
        texts=output.thoughts,
        draft=output.draft,
        confidence=output.confidence,
        working=output.working,
        seen_by=seen_by,
    )


def _memory(gatherer: Gatherer | None, state: Session) -> Memory | None:
    """What thoughts may be called back from, where the settings say so."""
    recalls = state.config.sampling == "recall"
    return gatherer.memory(state) if gatherer is not None and recalls else None


def _in_company(wish: RecordIteration, gatherer: Gatherer | None, now: Session) -> RecordIteration:
    return wish if gatherer is None else gatherer.with_company(wish, now, wish.texts)


def _answered(blank: MindInvoked, reply: Reply, output: Output | Unparseable) -> MindInvoked:
    outcome: Outcome = "ok"
    if isinstance(output, Unparseable):
        outcome = "unparseable"
    elif output.skip:
        outcome = "skipped"
    return blank.model_copy(
        update={
            "outcome": outcome,
            "error": output.reason if isinstance(output, Unparseable) else None,
            "answered_by": reply.model,
            "raw": packed(reply.text),
            "repairs": output.repairs,
            "tokens_in": reply.tokens_in,
            "tokens_out": reply.tokens_out,
            "cost_usd": reply.cost_usd,
            "latency_ms": reply.latency_ms,
            "attempts": reply.attempts,
            "finish": reply.finish,
        }
    )


def _failed(
    prepared: Prepared, error: str, partial: str, latency_ms: int, attempts: int = 1
) -> MindInvoked:
    return prepared.invocation.model_copy(
        update={
            "outcome": "failed",
            "error": error,
            "raw": packed(partial) if partial else None,
            "latency_ms": latency_ms,
            "attempts": attempts,
        }
    )
