"""The history of a trial: every measured value by optimizer step, one row per step.

While a trial runs, rows go to `history.arrow`, a stream that can be read after a crash; at the end they become
`history.parquet`. Each column carries the declaration of its measure.
"""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from analysis.record.files import replacing
from analysis.record.layout import HISTORY, STREAM


def read_history(folder: Path) -> pa.Table | None:
    """A trial's history so far: the finished table, or what a stream holds up to where it was torn."""
    batches = [] if (folder / HISTORY).exists() else list(stream_batches(folder / STREAM))
    if (folder / HISTORY).exists():  # perhaps only by now
        return pq.read_table(folder / HISTORY)
    return pa.Table.from_batches(batches) if batches else None


def history_columns(folder: Path) -> list[str]:
    """What a finished trial has recorded, without reading it."""
    return pq.read_schema(folder / HISTORY).names


def seal_history(folder: Path) -> None:
    """Turn the stream into the finished table, whole or not at all."""
    table = read_history(folder)
    assert table is not None, "a trial has at least the row of its first validation"
    with replacing(folder / HISTORY) as part:
        pq.write_table(table.combine_chunks(), part)
    (folder / STREAM).unlink()


def stream_batches(stream: Path) -> Iterator[pa.RecordBatch]:
    """The complete batches of a stream; none if the file does not exist yet."""
    try:
        with pa.OSFile(str(stream)) as file:
            yield from complete_batches(file)
    except OSError:  # not begun
        return


def complete_batches(file: pa.NativeFile) -> Iterator[pa.RecordBatch]:
    """The batches up to the end of the stream, or up to where it was cut."""
    try:
        with pa.ipc.open_stream(file) as reader:
            yield from reader
    except (pa.ArrowInvalid, OSError):  # the end is not written yet: the trial runs, or was killed
        return


def declared_measures(folder: Path) -> dict[str, dict[str, str]]:
    """The declaration of each measure of a complete trial, by the measure's name."""
    fields = [field for field in pq.read_schema(folder / HISTORY) if field.metadata]
    return {field.name: {key.decode(): value.decode() for key, value in field.metadata.items()} for field in fields}
