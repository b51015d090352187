"""Runs: one runner at a time, and the rules by which it stops."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import groupby
from typing import NamedTuple

from commands.command import Command, Decision
from commands.gatherer import Gatherer
from commands.handle import Done, handle
from commands.holder import is_alive, this_process
from commands.hooks.around import Around
from commands.hooks.hook import Hook
from commands.hooks.turn import Scene
from commands.iterate import Unwatched, Watcher, iterate
from commands.minds.mind import Mind, MindFailed
from commands.world import World
from domain.config import Config
from domain.errors import Broken, NothingAwaits, Refused, RunIsOver, SomeoneRuns
from domain.events import DraftAccepted, DraftEmitted, MindSignalled, RunStarted, RunStopped
from domain.events.runs import Mode, StopReason
from domain.ids import RunId, SessionId
from domain.log import Log
from domain.protocol.view import Presence
from domain.runs import Run
from domain.session import Session

MOST = 100
"""Iterations of a run that was not given a number."""


class StartRun(Command):
    """Take the session, so that no other runner interleaves."""

    run: RunId
    mode: Mode
    limit: int
    exact: bool
    holder: str
    now: int
    """Microseconds since 1970."""
    dead: str | None = None
    """The holder of a run that was found to be gone."""

    def decide(self, session: Session) -> Decision:
        """The claim; a dead runner's claim is closed first."""
        if session.dialogue.awaiting is None:
            raise NothingAwaits(session.id)
        other = session.work.run
        if other is not None:
            until = session.at + other.patience * 1_000_000
            if other.holder != self.dead and self.now < until:
                when = datetime.fromtimestamp(until / 1e6, UTC).astimezone()
                raise SomeoneRuns(session.id, other.holder, f"{when:%H:%M:%S}")
            yield RunStopped(run=other.id, reason="lost", iterations=other.iterations).because(
                other.version
            )
        config = session.config
        yield RunStarted(
            run=self.run,
            mode=self.mode,
            limit=self.limit,
            exact=self.exact,
            holder=self.holder,
            patience=int(config.timeout * config.attempts) + 60,
        )


class StopRun(Command):
    """Give the session back."""

    run: RunId
    reason: StopReason
    detail: str | None = None

    def decide(self, session: Session) -> Decision:
        """The end of the run, unless somebody else has ended it."""
        run = session.work.run
        if run is not None and run.id == self.run:
            yield RunStopped(
                run=self.run, reason=self.reason, iterations=run.iterations, detail=self.detail
            ).because(run.version)


class Stopped(NamedTuple):
    """How a run ended."""

    reason: StopReason
    iterations: int
    detail: str | None = None
    presences: tuple[Presence, ...] = ()
    """How present the user was, in the order in which that changed."""


def run_session(
    log: Log,
    session: SessionId,
    mind_for: Callable[[Config], Mind],
    world: World,
    *,
    mode: Mode = "observe",
    iterations: int | None = None,
    watcher: Watcher | None = None,
    stop_asked: Callable[[], bool] = lambda: False,
    gatherer: Gatherer | None = None,
    hooks: Sequence[Hook] = (),
    on_problem: Callable[[str], object] = lambda _: None,
) -> Stopped:
    """Iterate until a rule stops the run.

    Observing stops at any draft; both modes stop at true silence and at as many hard signals in a
    row as the settings say; a given number of iterations overrules these. A closed exchange, the
    budget and repeated failures end every run.

    Args:
        log: where the session lives.
        session: which session.
        mind_for: gives the mind of these settings, which may change during the run.
        world: time, chance and the present user.
        mode: ``observe`` marks drafts as seen, ``background`` leaves them unseen.
        iterations: exactly so many; otherwise at most 100.
        watcher: looks on.
        stop_asked: asked between iterations whether the user wants it to end.
        gatherer: gives thoughts their vectors and clusters; without one they wait.
        hooks: called around each iteration; what they do has effect at once.
        on_problem: told in one sentence which hook failed, and how.

    Raises:
        NothingAwaits, SomeoneRuns, MindUnavailable: nothing was run.
    """
    watcher = watcher or Unwatched()
    config = log.state(session).config
    mind = mind_for(config)  # before the claim: a missing key is no run
    around = Around(hooks, Scene(log, session, world, gatherer), on_problem)
    presences: list[Presence] = []
    with claimed(log, session, world, mode, iterations) as (run, close):

        def ended(reason: StopReason, detail: str | None = None) -> Stopped:
            return close(reason, detail)._replace(
                presences=tuple(presence for presence, _ in groupby(presences))
            )

        while True:
            state = log.state(session)
            held = state.work.run
            if held is None or held.id != run:
                raise RunIsOver(session)
            reason = _before(state, held, asked=stop_asked())
            if reason is not None:
                return ended(reason)
            if state.config != config:
                config = state.config
                mind = mind_for(config)
            try:
                if around.before(state):
                    continue  # that took its time: who knows what stands now
                presences.append(state.attention.presence)
                done = iterate(
                    log,
                    session,
                    mind,
                    world,
                    seen=mode == "observe",
                    watcher=watcher,
                    gatherer=gatherer,
                )
                around.after()
            except MindFailed as failure:
                around.after()
                return ended("failed", failure.sentence)
            except KeyboardInterrupt:
                return ended("interrupted")
            reason = _after(done, held)
            if reason is not None:
                return ended(reason, _detail(reason, done))


@contextmanager
def claimed(
    log: Log, session: SessionId, world: World, mode: Mode, iterations: int | None
) -> Iterator[tuple[RunId, Callable[[StopReason, str | None], Stopped]]]:
    """Hold a session while this lasts: the run, and how to give it back with a reason.

    Raises:
        NothingAwaits, SomeoneRuns: it can't be had.
    """
    run = RunId(world.command_id().hex())
    holder = log.state(session).work.run
    start = StartRun(
        run=run,
        mode=mode,
        limit=iterations or MOST,
        exact=iterations is not None,
        holder=this_process(),
        now=world.now(),
        dead=holder.holder if holder is not None and is_alive(holder.holder) is False else None,
    )
    handle(log, session, start, world)

    def close(reason: StopReason, detail: str | None) -> Stopped:
        before = log.state(session).work.run
        handle(log, session, StopRun(run=run, reason=reason, detail=detail), world)
        return Stopped(reason, before.iterations if before else 0, detail)

    try:
        yield run, close
    except RunIsOver:
        raise
    except KeyboardInterrupt:
        close("interrupted", None)
        raise
    except Exception as error:
        # an error of the log itself can't be written down; the next run finds this process gone
        with suppress(Broken):
            close("failed", error.sentence if isinstance(error, Refused) else repr(error))
        raise


def _before(session: Session, run: Run, *, asked: bool) -> StopReason | None:
    """Why the next iteration must not happen."""
    if session.dialogue.awaiting is None:
        return "accepted"
    if asked:
        return "interrupted"
    if run.iterations >= run.limit:
        return "limit"
    budget = session.config.budget_usd
    if budget is not None and session.work.cost_usd >= budget:
        return "budget"
    return None


def _after(done: Done, run: Run) -> StopReason | None:
    """Why this iteration was the last."""
    events, state = done.events, done.state
    now = state.work.run
    if any(isinstance(e, DraftAccepted) for e in events):
        return "accepted"
    if now is None or now.id != run.id:
        return None
    if now.failures >= state.config.failure_budget:
        return "failed"
    if run.exact:
        return None
    if run.mode == "observe" and any(isinstance(e, DraftEmitted) and not e.late for e in events):
        return "draft"
    if any(isinstance(e, MindSignalled) and e.signal == "silence" for e in events):
        return "true silence"
    if now.hard >= state.config.hard_signal_threshold:
        return "hard signal"
    return None


def _detail(reason: StopReason, done: Done) -> str | None:
    if reason != "failed":
        return None
    return next((e.error for e in done.events if hasattr(e, "error") and e.error), None)
