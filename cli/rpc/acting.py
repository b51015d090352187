"""What the user says and does: message, think, accept, seen, signal, run, stop_run."""

from pydantic import Field

from cli.attention import attend_to
from cli.presence import presence_of
from cli.rpc.functions import in_store
from cli.rpc.method import Method, Params, Peer, Result
from cli.rpc.runs import Wish
from cli.rpc.service import Service
from cli.wiring import Desk, gatherer_for
from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft, MarkSeen
from commands.presence import SetSignal
from commands.runs import MOST, Stopped
from commands.thinking import InjectThought
from domain.errors import NothingAwaits
from domain.events import DraftSeen
from domain.events.runs import Mode
from domain.texts import checked_text
from projections.history import History


class Act(Params):
    """Something that is done in a session, now."""

    session: str | None = None
    """Which one; the one that the store is set to by default."""


def _attended(at: Desk, before: int) -> tuple[str, ...]:
    """Artifacts are looked for in what was said; what that left, in sentences."""
    remarks: list[str] = []
    attend_to(at, before, say=remarks.append)
    return tuple(remark.strip() for remark in remarks)


# message


class Said(Act):
    """A message to the mind."""

    text: str


class Sent(Result):
    """The exchange that has begun."""

    session: str
    exchange: str
    version: int
    remarks: tuple[str, ...]
    """What became of artifacts, in sentences."""


def message(service: Service, asked: Said) -> Sent:
    """Send a message to the mind."""
    at = service.desk(asked.session)
    before = at.state.version
    state = at.do(SendMessage(text=asked.text)).state
    awaiting = state.dialogue.awaiting
    if awaiting is None:
        raise NothingAwaits(at.session)  # never: the state is that right behind the message
    return Sent(
        session=at.session,
        exchange=awaiting.exchange,
        version=awaiting.version,
        remarks=_attended(at, before),
    )


# think


class Thinking(Act):
    """A thought for the mind's pool."""

    text: str


class InPool(Result):
    """The thought in the pool."""

    id: int
    """The version of its event."""
    cluster: int | None
    """None while it stands alone."""
    remarks: tuple[str, ...]
    """What did not work, as that it has no vector yet."""


def think(service: Service, asked: Thinking) -> InPool:
    """Put a thought of your own into the mind's pool."""
    at = service.desk(asked.session)
    remarks: list[str] = []
    text = checked_text(asked.text, "thought")
    wish = InjectThought(text=text, by=str(at.world.actor))
    gatherer = gatherer_for(at.log, remarks.append)
    placed = at.do(gatherer.with_company(wish, at.state, [text])).state.pool.active[-1]
    return InPool(id=placed.version, cluster=placed.cluster, remarks=tuple(remarks))


# accept


class Accepting(Act):
    """Which draft is to be the answer."""

    index: int | None = Field(None, ge=1)
    """The latest one with content by default."""


class Accepted(Result):
    """The closed exchange."""

    session: str
    exchange: str
    index: int
    text: str
    """The answer."""
    version: int
    remarks: tuple[str, ...]
    """What became of artifacts, in sentences."""


def accept(service: Service, asked: Accepting) -> Accepted:
    """Make a draft the answer; by default the latest one with content."""
    at = service.desk(asked.session)
    before = at.state.version
    done = at.do(AcceptDraft(index=asked.index))
    turn = History(at.log, at.session, done.state.version).newest(1)[0]
    return Accepted(
        session=at.session,
        exchange=turn.exchange,
        index=turn.index,
        text=turn.answer,
        version=turn.version,
        remarks=_attended(at, before),
    )


# seen


class Marking(Act):
    """Which drafts were read."""

    indexes: tuple[int, ...] = ()
    """All of them by default."""


class Seen(Result):
    """The drafts that were marked just now."""

    indexes: tuple[int, ...]


def seen(service: Service, asked: Marking) -> Seen:
    """Mark drafts as read, which the mind is told."""
    at = service.desk(asked.session)
    done = at.do(MarkSeen(indexes=asked.indexes))
    marked = (e.indexes for e in done.events if isinstance(e, DraftSeen))
    return Seen(indexes=tuple(index for indexes in marked for index in indexes))


# signal


class Signalling(Act):
    """How present the user is; what is left out stays as it was."""

    presence: str | None = None
    """`absent`, `reviewing` or `engaged`, or the beginning of one."""
    status: str | None = None
    clear: bool = False
    """Take the status back."""


class Presence(Result):
    """How present the user is."""

    presence: str
    status_text: str


def signal(service: Service, asked: Signalling) -> Presence:
    """Tell the mind how present you are; without anything, tell what it was told."""
    wanted = presence_of(asked.presence)
    at = service.desk(asked.session)
    state = at.state
    if wanted is not None or asked.status is not None or asked.clear:
        status = "" if asked.clear else asked.status
        time = at.world.local_time()
        state = at.do(SetSignal(presence=wanted, status=status, time=time)).state
    return Presence(presence=state.attention.presence, status_text=state.attention.status)


# run, stop_run


class Running(Act):
    """How the mind is to work."""

    mode: Mode = "observe"
    """`observe` marks drafts as seen and stops at any; `background` does neither."""
    iterations: int | None = Field(None, ge=1, le=10_000)
    """Exactly so many; else as long as the mind has something to say."""


class Ended(Result):
    """How a run ended."""

    session: str
    reason: str
    """`draft`, `true silence`, `hard signal`, `limit`, `interrupted`, `accepted`, `budget` …"""
    iterations: int
    detail: str | None
    """Of a run that failed: why."""
    remarks: tuple[str, ...]
    """What became of artifacts where a draft was accepted by itself."""


async def _run(service: Service, asked: Running) -> Ended:
    at = await service.aside(service.desk, asked.session)
    before = (await service.aside(at.log.head, at.session)).version
    stopped = await service.runs.run(Wish(at.session, asked.mode, asked.iterations))
    remarks: tuple[str, ...] = ()
    if stopped.reason == "accepted":
        remarks = await service.aside(_attended, at, before)
    return _ended(at, stopped, remarks)


def _ended(at: Desk, stopped: Stopped, remarks: tuple[str, ...]) -> Ended:
    return Ended(
        session=at.session,
        reason=stopped.reason,
        iterations=stopped.iterations,
        detail=stopped.detail,
        remarks=remarks,
    )


class Stopping(Result):
    """Whether there was a run to stop."""

    asked: bool
    """False where no run of this server is at work in the session."""


def stop_run(service: Service, asked: Act) -> Stopping:
    """Stop the run of a session now; what the mind has said so far is kept in the log."""
    return Stopping(asked=service.runs.stop(service.desk(asked.session).session))


def methods(service: Service) -> list[Method]:
    """The methods of this file."""

    async def run(_: Peer, asked: Running) -> Result:
        return await _run(service, asked)

    summary = (
        f"Let the mind work until a rule stops it, at most {MOST} iterations; answers at the end."
    )
    return [
        in_store(service, message),
        in_store(service, think),
        in_store(service, accept),
        in_store(service, seen),
        in_store(service, signal),
        Method("run", summary, Running, Ended, run),
        in_store(service, stop_run),
    ]
