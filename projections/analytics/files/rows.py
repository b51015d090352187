"""Rows of plain values as one Parquet file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO

from domain.errors import BadSetting

if TYPE_CHECKING:
    import pyarrow as pa

AT_ONCE = 4096
"""Rows of one row group: some hold whole texts."""

Value = str | int | float | bool | datetime | None


def write_rows(
    columns: Sequence[tuple[str, str]],
    rows: Iterable[Sequence[Value]],
    sink: BinaryIO,
    about: Mapping[str, str],
) -> int:
    """Write rows, compressed with zstd; how many they were.

    Args:
        columns: names and types: text, int, float, bool, or time, which is UTC to the microsecond.
        rows: values in the order of the columns.
        sink: where to write.
        about: what else the file says of itself, in the metadata of its schema.

    Raises:
        BadSetting: Parquet can't be written here, or not without any column.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 — half a second that only Parquet costs
        import pyarrow.parquet as pq  # noqa: PLC0415 — as above
    except ImportError:
        raise BadSetting(
            'Parquet needs pyarrow (pip install "logosphere[analysis]"): or name a .csv or .jsonl.'
        ) from None
    if not columns:
        raise BadSetting("There is no row and no column to write: name another file, as .jsonl.")
    types = {
        "text": pa.string(),
        "int": pa.int64(),
        "float": pa.float64(),
        "bool": pa.bool_(),
        "time": pa.timestamp("us", "UTC"),
    }
    schema = pa.schema([(name, types[type_]) for name, type_ in columns], metadata=dict(about))
    count = 0
    with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        for batch in _batches(schema, rows):
            writer.write_batch(batch)
            count += batch.num_rows
    return count


def _batches(schema: "pa.Schema", rows: Iterable[Sequence[Value]]) -> "Iterator[pa.RecordBatch]":
    import pyarrow as pa  # noqa: PLC0415 — as above

    waiting = iter(rows)
    while some := list(islice(waiting, AT_ONCE)):
        columns = zip(*some, strict=True)
        arrays = [
            pa.array(map(_valid, values), field.type)
            for field, values in zip(schema, columns, strict=True)
        ]
        yield pa.record_batch(arrays, schema=schema)


def _valid(value: Value) -> Value:
    """Text as valid Unicode: half a surrogate pair is in no file."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
