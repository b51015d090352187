"""Taking content out of the log for good: the one change that a stored row can undergo."""

from collections.abc import Mapping, Sequence
from hashlib import sha256

from commands.eventlog.chain import HASH_LENGTH
from commands.eventlog.lineage import Lineage
from commands.eventlog.recorder import Recorder
from commands.eventlog.wire import EventMapper
from domain.errors import NoSuchMoment, NoSuchSession
from domain.events import Caused, EventRedacted
from domain.ids import SessionId
from domain.recorded import Draw, Head


def redact(
    recorder: Recorder,
    mapper: EventMapper,
    lineage: Lineage,
    targets: Mapping[SessionId, Sequence[int]],
    reason: str,
    draw: Draw,
) -> None:
    """Put stubs in the place of events and record that, all of it or nothing.

    Args:
        recorder: where the rows are.
        mapper: reads and writes them.
        lineage: knows what each stream was born as.
        targets: versions by the stream that holds them.
        reason: why.
        draw: when, who and which wish.

    Raises:
        NothingChanges: one of them is redacted already, or holds no content.
        NoSuchSession, NoSuchMoment: one of them is not there.
    """
    with recorder.writing(next(iter(targets))) as cursor:
        for stream, versions in targets.items():
            newest = recorder.rows(cursor, stream, 0, 2**62, 1, newest_first=True)
            if not newest:
                raise NoSuchSession(stream)
            last = newest[0]
            rows = sorted(recorder.rows_at(cursor, stream, versions), key=lambda row: row[1])
            if len(rows) != len(set(versions)):
                raise NoSuchMoment(stream, ", ".join(map(str, versions)), [str(last[1])])
            events, stubs = [], []
            for row in rows:
                stub, digest = mapper.stub(row)
                stubs.append((row[2], row[4][:HASH_LENGTH] + stub))
                redacted = EventRedacted(
                    version=row[1],
                    what=row[3],
                    digest=digest,
                    stub=sha256(stub).digest(),
                    reason=reason,
                )
                events.append(Caused(redacted, row[1]))
            sealed, _ = mapper.sealed(
                Head(last[1], last[4][:HASH_LENGTH]),
                stream,
                draw._replace(events=events, at=max(draw.at, mapper.recorded(last).at)),
                lineage.birth(stream).name,
            )
            recorder.insert_within(cursor, sealed)
            recorder.replace_within(cursor, stubs)
