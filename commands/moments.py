"""From a ref to a version: index look-ups and binary searches, never a scan of a history."""

from collections.abc import Callable
from datetime import datetime

from domain.errors import NoSuchMoment
from domain.events import DraftEmitted, MessageSent, MindInvoked, SessionLabelled
from domain.ids import SessionId
from domain.log import Log
from domain.recorded import Recorded
from domain.refs import (
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


def resolve(log: Log, session: SessionId, ref: Ref) -> int:
    """The version that a ref names.

    Raises:
        NoSuchSession: there is no such session.
        NoSuchMoment: the session has no such moment; the sentence names the nearest.
    """
    head = log.head(session).version
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
            asked = log.newest(session, ["message.sent"])
            if asked is None:
                raise NoSuchMoment(session, f"draft:{index}", [])
            return _draft(log, session, asked, index, f"draft:{index}")
        case AtLabel(label):
            return _label(log, session, label)
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
        newest = log.newest(session, ["mind.invoked"])
        near = [f"iter:{number(newest)}"] if newest else []
        raise NoSuchMoment(session, f"iter:{iteration}", near)
    return _end_of_append(log, session, found)


def _end_of_append(log: Log, session: SessionId, start: Recorded) -> int:
    """The last event that was recorded by the same wish."""
    last = start.version
    for recorded in log.read(session, after=start.version, page=32):
        if recorded.command != start.command:
            break
        last = recorded.version
    return last


def _exchange(log: Log, session: SessionId, head: int, exchange: str, draft: int | None) -> int:
    wanted = int(exchange.split("_")[1])

    def number(recorded: Recorded) -> int:
        return recorded.event.iteration if isinstance(recorded.event, MessageSent) else 0

    found = _first(log, session, head, "message.sent", lambda r: number(r) >= wanted)
    near: list[str] = []
    if found is not None:
        for asked in log.read(session, after=found.version - 1, kinds=["message.sent"], page=4):
            if not isinstance(asked.event, MessageSent) or asked.event.iteration != wanted:
                near += [asked.event.exchange] if isinstance(asked.event, MessageSent) else []
                break
            if asked.event.exchange == exchange:
                if draft is not None:
                    return _draft(log, session, asked, draft, f"{exchange}:{draft}")
                closing = next(
                    iter(log.read(session, after=asked.version, kinds=["draft.accepted"], page=1)),
                    None,
                )
                return closing.version if closing else head
            near.append(asked.event.exchange)
    newest = log.newest(session, ["message.sent"])
    if newest is not None and isinstance(newest.event, MessageSent):
        near.append(newest.event.exchange)
    raise NoSuchMoment(session, exchange, dict.fromkeys(near))


def _draft(log: Log, session: SessionId, asked: Recorded, index: int, ref: str) -> int:
    having: list[str] = []
    exchange = asked.event.exchange if isinstance(asked.event, MessageSent) else ""
    kinds, later = ("draft.emitted", "message.sent"), 0
    for recorded in log.read(session, after=asked.version, kinds=kinds, page=64):
        event = recorded.event
        if isinstance(event, MessageSent):
            later += 1
            if later == 2:  # a late draft may come while the next exchange is open, not after it
                break
        elif isinstance(event, DraftEmitted) and event.exchange == exchange:
            if event.index == index:
                return recorded.version
            having.append(f"{ref.rpartition(':')[0]}:{event.index}")
    raise NoSuchMoment(session, ref, having[-3:])


def _label(log: Log, session: SessionId, label: str) -> int:
    having: list[str] = []
    for recorded in log.read(session, kinds=["session.labelled"], newest_first=True):
        event = recorded.event
        if isinstance(event, SessionLabelled):
            if event.label == label:
                return event.version
            having.append(f"@{event.label}")
    raise NoSuchMoment(session, f"@{label}", list(dict.fromkeys(having))[:3])


def _time(log: Log, session: SessionId, head: int, time: datetime) -> int:
    try:
        at = int(time.astimezone().timestamp() * 1_000_000)
    except (ValueError, OverflowError, OSError):  # at the ends of the calendar
        at = 2**62 if time.year > 1970 else -1
    low, high = 0, head  # invariant: version low is not after `at`, version high + 1 is
    while low < high:
        middle = (low + high + 1) // 2
        recorded = log.newest(session, None, upto=middle)
        if recorded is not None and recorded.at <= at:
            low = middle
        else:
            high = middle - 1
    if not low:
        raise NoSuchMoment(session, time.isoformat(), ["1"])
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
