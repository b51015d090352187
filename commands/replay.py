"""Counterfactuals: a branch in which the user's past is lived again under other settings.

What is to be done is read from the source (``relived``), and what has been done from the branch
(``reliving``): each step is a wish whose id follows from the replay and the step, so a replay that
ended in the middle, in whatever way, goes on exactly where it was.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from datetime import datetime
from functools import lru_cache
from types import TracebackType
from typing import Literal, NamedTuple, Self

from commands.gatherer import Gatherer
from commands.handle import Done, handle
from commands.hooks.turn import Prompted
from commands.iterate import Watcher, iterate
from commands.minds.mind import Mind, MindFailed
from commands.relived import Act, Ask, Step, all_there, as_wish, setting, steps
from commands.reliving import Replay
from commands.runs import Stopped, claimed
from commands.world import World
from domain.actors import Actor
from domain.config import Config
from domain.errors import Refused, RunIsOver
from domain.events import (
    Caused,
    ConfigChanged,
    DraftAccepted,
    MessageSent,
    MindInvoked,
    ReplayBegun,
    SessionForked,
)
from domain.events.runs import Mode, StopReason
from domain.ids import CommandId, RunId, SessionId
from domain.log import Log
from domain.recorded import Draw
from domain.session import Session

Reason = Literal["done", "no draft", "interrupted", "budget", "failed"]


class NothingToLive(Refused):
    """Nobody said anything in that part of the history."""


def begin_replay(
    log: Log,
    source: SessionId,
    branch: SessionId,
    world: World,
    *,
    after: int | None = None,
    upto: int | None = None,
    settings: Mapping[str, str] | None = None,
    mind_for: Callable[[Config], Mind] | None = None,
    gatherer: Gatherer | None = None,
) -> None:
    """Branch off and note what is to be lived again, with the settings, in a single append.

    Args:
        log: where the source lives.
        source: the session whose user acts again.
        branch: the new session's name.
        world: time, chance and the present user.
        after: the version behind which it branches off; just before the first message, if None.
        upto: the last event that is lived again; the newest one, if None.
        settings: what is other than it was, whatever the source sets it to later.
        mind_for: tried with the new settings, so that a missing key begins nothing.
        gatherer: gives the pool new vectors where another model makes them.

    Raises:
        SessionExists: the branch's name is taken.
        NothingToLive, Gone: there is nothing to live again, or a part of it was redacted.
        NoSuchSession, NoSuchMoment, BadSetting, MindUnavailable: nothing was begun.
    """
    end = log.head(source, upto).version
    start = _before_first_message(log, source) if after is None else after
    onto = log.head(source, start)
    wanted = steps(log, source, start, end)
    if not any(isinstance(step.what, Act) for step in wanted):
        raise NothingToLive(
            f"The user of session {source!r} did nothing behind event {start} and up to event"
            f" {end} that could be lived again: choose another part (--from REF, --until REF)."
        )
    all_there(source, wanted)
    state = log.state(source, start)
    chosen, config = _settings(state, settings or {}, wanted, gatherer)
    if mind_for is not None:
        mind_for(config)
    forked = SessionForked(parent=source, at_version=start, parent_hash=onto.hash)
    begun = ReplayBegun(source=source, after=start, upto=end)
    events = [Caused(forked, start), Caused(begun, start + 1)]
    events += [e if e.cause is not None else e._replace(cause=start + 2) for e in chosen]
    at = max(world.now(), state.at)
    log.begin(branch, onto, Draw(events, at, world.actor, world.command_id()))


def _before_first_message(log: Log, source: SessionId) -> int:
    first = next(iter(log.read(source, kinds=["message.sent"], page=1)), None)
    if first is None or first.version < 2:
        raise NothingToLive(
            f"Session {source!r} has no message that could be sent again: choose another one"
            " (--session SOURCE)."
        )
    return first.version - 1


def _settings(
    state: Session, settings: Mapping[str, str], wanted: Iterable[Step], gatherer: Gatherer | None
) -> tuple[list[Caused], Config]:
    """The settings as events; also one that is as it was, where the source gives it up later."""
    acts = (step.what.event for step in wanted if isinstance(step.what, Act))
    given_up = {event.key for event in acts if isinstance(event, ConfigChanged)}
    made: list[Caused] = []
    for key, text in settings.items():
        new = state.config.read(key, text)
        old = getattr(state.config, key)
        wish = setting(state, key, new, gatherer)
        if new != old or key in given_up:
            decided = list(wish.decide(state)) or [ConfigChanged(key=key, old=old, new=new)]
            made += [e if isinstance(e, Caused) else Caused(e) for e in decided]
        state = state._replace(config=state.config.changed(key, new))
    return made, state.config


class Ended(NamedTuple):
    """How far a replay has come, and why no further."""

    reason: Reason
    source: SessionId
    after: int
    upto: int
    steps: int
    lived: int
    """So many of the steps are behind us."""
    iterations: int
    """So often the mind was asked, this time and before."""
    detail: str | None = None


def go_on(
    log: Log,
    branch: SessionId,
    mind_for: Callable[[Config], Mind],
    world: World,
    *,
    watcher: Watcher | None = None,
    stop_asked: Callable[[], bool] = lambda: False,
    gatherer: Gatherer | None = None,
    on_act: Callable[[Act, Done], object] = lambda _, __: None,
) -> Ended:
    """Take the steps that a replay still has before it, whatever ended it before.

    The mind is shown the times of then. An iteration in which no mind could answer is asked for
    again; as many failures in a row as the settings say, and the budget, end a replay as they end
    a run. Where the source accepted a draft, the branch accepts its own latest one with content.

    Args:
        log: where the branch lives.
        branch: a session in which a replay was begun.
        mind_for: gives the mind of these settings, which may change on the way.
        world: time, chance and the present user.
        watcher: looks on.
        stop_asked: asked between steps whether the user wants it to end.
        gatherer: gives thoughts their vectors and clusters; without one they wait.
        on_act: told of each act of the user that was lived again.

    Raises:
        NoReplay, Gone, Strayed: it can't go on.
        SomeoneRuns, RunIsOver: another runner holds the branch.
        MindUnavailable, BadSetting: something has to be set up first.
    """
    replay = Replay(log, branch)
    with _Claim(log, branch, world) as claim:
        # a mind may be a model in memory: it is made anew only where the settings change
        kept = lru_cache(maxsize=1)(mind_for)
        doer = _Doer(log, branch, replay, claim, kept, world, watcher, gatherer, on_act)
        doer.take_over()
        end: _End | None = None
        while end is None:
            step = replay.at_hand()
            if step is None:
                end = _End("done")
            elif stop_asked():
                end = _End("interrupted")
            elif isinstance(step.what, Ask):
                end = doer.ask(step.what)
            else:
                end = doer.act(step.what)
        claim.give_back(_STOPS[end.reason], end.detail)
    replay.catch_up()
    return Ended(
        end.reason,
        replay.source,
        replay.after,
        replay.upto,
        len(replay.steps),
        replay.lived,
        replay.iterations,
        end.detail,
    )


class _End(NamedTuple):
    reason: Reason
    detail: str | None = None


_STOPS: dict[Reason, StopReason] = {
    "done": "limit",
    "no draft": "limit",
    "interrupted": "interrupted",
    "budget": "budget",
    "failed": "failed",
}


class _Claim:
    """Holds the branch from the first iteration of an exchange to its last."""

    def __init__(self, log: Log, branch: SessionId, world: World) -> None:
        self._log, self._branch, self._world = log, branch, world
        self._stack = ExitStack()
        self._held: tuple[RunId, Callable[[StopReason, str | None], Stopped]] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def take(self, mode: Mode, limit: int) -> bool:
        """Hold the branch; tells whether it was not held before.

        Raises:
            SomeoneRuns: another runner holds it.
            RunIsOver: another runner took it from us.
        """
        if self._held is None:
            claim = claimed(self._log, self._branch, self._world, mode, limit)
            self._held = self._stack.enter_context(claim)
            return True
        run = self._log.state(self._branch).work.run
        if run is None or run.id != self._held[0]:
            raise RunIsOver(self._branch)
        return False

    def give_back(self, reason: StopReason, detail: str | None = None) -> None:
        """Let go of the branch, if it is held."""
        if self._held is not None:
            self._held[1](reason, detail)
            self._stack.close()
            self._held = None


class _Then(NamedTuple):
    """The world in which a step is taken: as it is, but for the time that the mind is shown."""

    world: World
    command: CommandId
    time: datetime

    @property
    def actor(self) -> Actor:
        return self.world.actor

    def now(self) -> int:
        return self.world.now()

    def local_time(self) -> datetime:
        return self.time

    def command_id(self) -> CommandId:
        return self.command

    def seed(self) -> int:
        return self.world.seed()


class _Doer(NamedTuple):
    """Takes steps."""

    log: Log
    branch: SessionId
    replay: Replay
    claim: _Claim
    mind_for: Callable[[Config], Mind]
    world: World
    watcher: Watcher | None
    gatherer: Gatherer | None
    on_act: Callable[[Act, Done], object]

    def take_over(self) -> None:
        """Make sure that no other runner holds the branch, before anything is done in it.

        A claim is void when nothing has happened for some time, and what we do happens.
        """
        state = self.log.state(self.branch)
        if self.replay.at_hand() and state.work.run and state.dialogue.awaiting:
            run = state.work.run
            self.claim.take(run.mode, max(self.replay.asks_ahead, 1))

    def act(self, act: Act) -> _End | None:
        """What the user did is done again."""
        event, replay = act.event, self.replay
        if isinstance(event, ConfigChanged) and event.key in replay.chosen:
            replay.pass_by()
            return None
        if isinstance(event, DraftAccepted | MessageSent):
            self.claim.give_back("limit")
        state = self.log.state(self.branch)
        if isinstance(event, DraftAccepted) and _has_no_draft(state):
            return _End("no draft", self._no_draft(event))
        wish = as_wish(act, state, replay.exchanges, self.world.actor, self.gatherer)
        if wish is None:
            replay.pass_by()
            return None
        prompted = Prompted(wish=wish, cause=replay.cause)
        done = handle(self.log, self.branch, prompted, self.world, command_id=replay.command_id)
        if not done.events:
            replay.pass_by()
            return None
        self.on_act(act, done)
        return None

    def ask(self, ask: Ask) -> _End | None:
        """The mind is asked for one iteration."""
        log, branch, replay = self.log, self.branch, self.replay
        state = log.state(branch)
        if state.dialogue.awaiting is None:  # it was accepted automatically
            replay.pass_by()
            return None
        config = state.config
        if config.budget_usd is not None and state.work.cost_usd >= config.budget_usd:
            return _End("budget")
        mind = self.mind_for(config)  # before the claim: a missing key is no run
        if self.claim.take("observe" if ask.seen else "background", replay.asks_ahead):
            return None  # that took its time: who knows what stands now
        then = _Then(self.world, replay.command_id, _time(ask.user_time, self.world))
        try:
            done = iterate(
                log,
                branch,
                mind,
                then,
                seen=ask.seen,
                watcher=self.watcher,
                gatherer=self.gatherer,
            )
        except MindFailed as failure:
            return _End("failed", failure.sentence)
        except KeyboardInterrupt:
            return _End("interrupted")
        if not done.events:
            replay.pass_by()
            return None
        return _exhausted(done)

    def _no_draft(self, event: DraftAccepted) -> str:
        exchange = self.replay.exchanges.get(event.exchange, event.exchange)
        return (
            f"Session {self.replay.source!r} accepted a draft here ({event.exchange}), and"
            f" {self.branch!r} has none with content ({exchange}): let the mind find one"
            f" (mind run --session {self.branch}), then go on (mind replay --continue"
            f" {self.branch})."
        )


def _has_no_draft(state: Session) -> bool:
    dialogue = state.dialogue
    return dialogue.awaiting is not None and dialogue.latest_content is None


def _exhausted(done: Done) -> _End | None:
    """Whether there were too many failures in a row, as in any run."""
    run, budget = done.state.work.run, done.state.config.failure_budget
    if run is None or run.failures < budget:
        return None
    told = (e.error for e in done.events if isinstance(e, MindInvoked) and e.error)
    return _End("failed", next(told, None))


def _time(text: str, world: World) -> datetime:
    """The time that the mind was shown then; that of now, where it can't be read."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return world.local_time()
