"""From a ref to a version: index look-ups and binary searches, never a scan of a history."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import islice

from domain.errors import AmbiguousRef, NoSuchMoment
from domain.events import DraftEmitted, MessageSent, MindInvoked, SessionLabelled
from domain.ids import SessionId
from domain.lives import BRINGING_KINDS, brought
from domain.log import Log
from domain.nearest import nearest
from domain.recorded import Recorded
from domain.refs import (
    AtArtifact,
    AtDraft,
    AtExchange,
    AtHead,
    AtIteration,
    AtLabel,
    AtTime,
    AtVersion,
    Back,
    Ref,
)

NAMED = 5
"""At most so many moments are named where the one asked for is not there, or is several."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def resolve(log: Log, session: SessionId, ref: Ref, *, upto: int | None = None) -> int:
    """The version that a ref names.

    Args:
        log: where the session lives.
        session: which session.
        ref: the name of a moment.
        upto: the version that is taken for the head; None is the newest.

    Raises:
        NoSuchSession: there is no such session.
        NoSuchMoment: the session has no such moment; the sentence names the nearest.
        AmbiguousRef: it has several; the sentence names them.
    """
    head = log.head(session, upto).version
    match ref:
        case AtHead():
            return head
        case AtVersion(version):
            return _within(session, version, head, str(version))
        case Back(events):
            return _within(session, head - events, head, f"~{events}")
        case AtIteration(iteration):
            return _iteration(log, session, head, iteration)
        case AtExchange(exchange, draft):
            return _exchange(log, session, head, exchange, draft)
        case AtDraft(index):
            return _newest_draft(log, session, head, index)
        case AtArtifact(what, version):
            return _artifact(log, session, head, what, version)
        case AtLabel(label):
            return _label(log, session, head, label)
        case AtTime(time):
            return _time(log, session, head, time)


def _within(session: SessionId, version: int, head: int, ref: str) -> int:
    if 1 <= version <= head:
        return version
    raise NoSuchMoment(session, ref, ["1", str(head)] if head > 1 else ["1"])


def _iteration(log: Log, session: SessionId, head: int, iteration: int) -> int:
    def number(recorded: Recorded) -> int:
        return recorded.event.iteration if isinstance(recorded.event, MindInvoked) else 0

    found = _first(log, session, head, "mind.invoked", lambda r: number(r) >= iteration)
    if found is None or number(found) != iteration:
        newest = log.newest(session, ["mind.invoked"], upto=head)
        near = dict.fromkeys(f"iter:{number(r)}" for r in (found, newest) if r)
        raise NoSuchMoment(session, f"iter:{iteration}", near)
    return _end_of_append(log, session, head, found)


def _end_of_append(log: Log, session: SessionId, head: int, start: Recorded) -> int:
    """The last event that was recorded by the same wish."""
    last = start.version
    for recorded in log.read(session, after=start.version, upto=head, page=32):
        if recorded.command != start.command:
            break
        last = recorded.version
    return last


def find_exchange(
    log: Log, session: SessionId, exchange: str, *, upto: int | None = None
) -> Recorded:
    """The message that began an exchange: by its id, or by ``exc_24`` where that is enough.

    Raises:
        NoSuchMoment, AmbiguousRef: there is none of that name, or several.
    """
    return _asked(log, session, log.head(session, upto).version, exchange)


def _asked(log: Log, session: SessionId, head: int, exchange: str, draft: str = "") -> Recorded:
    wanted = _numbers(exchange)
    found = _first(log, session, head, "message.sent", lambda r: _numbers(_id(r)) >= wanted)
    if found is None or _numbers(_id(found))[: len(wanted)] != wanted:
        raise NoSuchMoment(session, exchange + draft, _near(log, session, head, found))
    if len(wanted) == 1:  # as exchanges are picked from other branches, several begin at once
        messages = log.read(
            session, after=found.version, upto=head, kinds=["message.sent"], page=NAMED - 1
        )
        more = [r for r in islice(messages, NAMED - 1) if _numbers(_id(r))[:1] == wanted]
        if more:
            raise AmbiguousRef(exchange + draft, [_id(r) + draft for r in (found, *more)])
    return found


def _exchange(log: Log, session: SessionId, head: int, exchange: str, draft: int | None) -> int:
    index = "" if draft is None else f":{draft}"
    asked = _asked(log, session, head, exchange, index)
    if draft is not None:
        return _draft(log, session, head, asked, draft, _id(asked) + index)
    closings = log.read(session, after=asked.version, upto=head, kinds=["draft.accepted"], page=1)
    closing = next(closings, None)
    return closing.version if closing else head


def _id(recorded: Recorded) -> str:
    return recorded.event.exchange if isinstance(recorded.event, MessageSent) else ""


def _numbers(exchange: str) -> tuple[int, ...]:
    """The iteration and the counter of an exchange's id, by which messages are in order."""
    return tuple(int(part) for part in exchange.split("_")[1:])


def _near(log: Log, session: SessionId, head: int, behind: Recorded | None) -> list[str]:
    """The exchanges on both sides of one that is not there, and the newest."""
    upto = behind.version - 1 if behind else head
    before = log.newest(session, ["message.sent"], upto=upto) if upto else None
    newest = log.newest(session, ["message.sent"], upto=head)
    return list(dict.fromkeys(_id(r) for r in (before, behind, newest) if r))


def _newest_draft(log: Log, session: SessionId, head: int, index: int) -> int:
    asked = log.newest(session, ["message.sent"], upto=head)
    if asked is None:
        raise NoSuchMoment(session, f"draft:{index}", [])
    return _draft(log, session, head, asked, index, f"draft:{index}")


def _draft(log: Log, session: SessionId, head: int, asked: Recorded, index: int, ref: str) -> int:
    having: list[str] = []
    kinds, later = ("draft.emitted", "message.sent"), 0
    for recorded in log.read(session, after=asked.version, upto=head, kinds=kinds, page=64):
        event = recorded.event
        if isinstance(event, MessageSent):
            later += 1
            if later == 2:  # a late draft may come while the next exchange is open, not after it
                break
        elif isinstance(event, DraftEmitted) and event.exchange == _id(asked):
            if event.index == index:
                return recorded.version
            having.append(f"{ref.rpartition(':')[0]}:{event.index}")
    raise NoSuchMoment(session, ref, having[-3:])


def _artifact(log: Log, session: SessionId, head: int, what: str, version: int) -> int:
    def of(recorded: Recorded | None) -> str | None:
        artifact = brought(recorded.event, recorded.version) if recorded else None
        return artifact.type if artifact is not None else None

    found = next(iter(log.pick(session, [version])), None) if 1 <= version <= head else None
    if of(found) is not None and what in {of(found), "artifact"}:
        return version
    newest = log.newest(session, BRINGING_KINDS, upto=head)
    near = dict.fromkeys(f"{of(r)}:{r.version}" for r in (found, newest) if r and of(r))
    raise NoSuchMoment(session, f"{what}:{version}", near)


def _label(log: Log, session: SessionId, head: int, label: str) -> int:
    having: list[str] = []
    kinds = ["session.labelled"]
    for recorded in log.read(session, upto=head, kinds=kinds, newest_first=True):
        event = recorded.event
        if isinstance(event, SessionLabelled) and not recorded.redacted:
            if event.label == label:
                return event.version
            having.append(event.label)
    raise NoSuchMoment(session, f"@{label}", (f"@{n}" for n in nearest(label, having, NAMED)))


def _time(log: Log, session: SessionId, head: int, time: datetime) -> int:
    found: dict[int, str] = {}
    for at, written in _readings(time):
        version = _until(log, session, head, at)
        if version:
            found.setdefault(version, written)
    if not found:
        raise NoSuchMoment(session, time.isoformat(), ["1"])
    if len(found) > 1:
        raise AmbiguousRef(time.isoformat(), list(found.values()))
    return next(iter(found))


def _readings(time: datetime) -> list[tuple[int, str]]:
    """What a time may mean, in µs since 1970: on a local clock that goes back, an hour is twice."""
    try:
        readings = [time.replace(fold=fold).astimezone() for fold in (0, 1)]
    except (ValueError, OverflowError, OSError):  # at the ends of the calendar
        return [(2**62 if time.year > 1970 else -1, time.isoformat())]
    first, second = readings
    # where it goes forward instead, an hour is never: the second reading would be the earlier one
    wanted = readings if time.tzinfo is None and first < second else [first]
    return [((r - _EPOCH) // timedelta(microseconds=1), r.isoformat()) for r in wanted]


def _until(log: Log, session: SessionId, head: int, at: int) -> int:
    """The last version that is not after a time; 0 where all are."""
    low, high = 0, head  # invariant: version low is not after `at`, version high + 1 is
    while low < high:
        middle = (low + high + 1) // 2
        recorded = log.newest(session, None, upto=middle)
        if recorded is not None and recorded.at <= at:
            low = middle
        else:
            high = middle - 1
    return low


def _first(
    log: Log, session: SessionId, head: int, kind: str, reached: Callable[[Recorded], bool]
) -> Recorded | None:
    """The first event of a kind for which ``reached`` holds, where it holds from there on."""
    best: Recorded | None = None
    low, high = 1, head
    while low <= high:
        middle = (low + high) // 2
        event = log.newest(session, [kind], upto=middle)
        if event is not None and reached(event):
            best, high = event, event.version - 1
        else:
            low = middle + 1
    return best
