"""Answers in files of columns: Parquet and Arrow, batch by batch as they come."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO

from domain.errors import BadQuery
from projections.analytics.asking.sandbox import Batches

if TYPE_CHECKING:
    import pyarrow as pa


def prepare() -> None:
    """Import what the writers need, before a limit of memory would count it."""
    import pyarrow.parquet  # noqa: PLC0415, F401 — half a second that only these formats cost


def write_parquet(answer: Batches, sink: BinaryIO) -> int:
    """Write one Parquet file, compressed with zstd; how many rows it has.

    Raises:
        BadQuery: it has a column of a type that Parquet has not; BadQuery and QueryStopped also as
            the batches do.
    """
    import pyarrow as pa  # noqa: PLC0415 — as above
    import pyarrow.parquet as pq  # noqa: PLC0415

    rows = 0
    try:
        writer = pq.ParquetWriter(sink, answer.schema, compression="zstd")
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        raise BadQuery(f"Parquet can't hold this answer ({error}): cast it in the query.") from None
    with writer:
        for batch in answer.batches:
            writer.write_batch(batch)
            rows += batch.num_rows
    return rows


def write_arrow(answer: Batches, sink: BinaryIO, *, stream: bool) -> int:
    """Write Arrow IPC, a file or a stream for a pipe; how many rows. Raises as the batches do."""
    import pyarrow as pa  # noqa: PLC0415 — as above

    rows = 0
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(sink, answer.schema) as writer:
        for batch in answer.batches:
            writer.write_batch(batch)
            rows += batch.num_rows
    return rows


def limited(answer: Batches, most: int | None) -> Batches:
    """At most so many rows of an answer."""
    return answer if most is None else Batches(answer.schema, _up_to(most, answer.batches))


def _up_to(most: int, batches: "Iterable[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
    for batch in batches:
        yield batch.slice(0, most)
        most -= batch.num_rows
        if most <= 0:
            return
