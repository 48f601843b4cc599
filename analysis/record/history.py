"""The history of a trial: every measured value by optimizer step, one row per step.

While a trial runs, rows go to a stream `history.<attempt>.arrow`, which can be read after a crash; at the end they
become `history.parquet`. Each column carries the declaration of its measure. Pages carry checksums, so that a damaged
table is noticed instead of read.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from analysis.record.files import DamagedFile, Replacing, reading, replacing
from analysis.record.layout import HISTORY, STREAMS


def read_history(folder: Path) -> pa.Table | None:
    """A trial's history so far: the finished table, or what a stream holds up to where it was torn.

    Of several streams, the one that was written to last. Raises DamagedFile for a table that cannot be read.
    """
    batches: list[pa.RecordBatch] = []
    if not (folder / HISTORY).exists() and (streams := list(folder.glob(STREAMS))):
        batches = list(stream_batches(max(streams, key=_modified)))
    if (folder / HISTORY).exists():  # perhaps only by now
        return read_columns(folder)
    return pa.Table.from_batches(batches) if batches else None


def _modified(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:  # sealed or set aside by now
        return -1


def read_columns(folder: Path, wanted: Iterable[str] | None = None) -> pa.Table:
    """These measures of a complete trial, as far as it recorded them; all without a choice. Raises DamagedFile."""
    path = folder / HISTORY
    with reading(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
        names = set(file.schema_arrow.names)
        return file.read(columns=None if wanted is None else [name for name in wanted if name in names])


def history_columns(folder: Path) -> list[str]:
    """What a finished trial has recorded, without reading it. Raises DamagedFile."""
    with reading(folder / HISTORY):
        return pq.read_schema(folder / HISTORY).names


def last_recorded_step(folder: Path) -> int | None:
    """The last step on record, of a trial that runs or is complete; None before the first. Raises DamagedFile."""
    history = read_history(folder)
    return history["step"][-1].as_py() if history is not None and len(history) else None


def last_sealed_step(folder: Path) -> int:
    """The last step of a complete trial's history, out of the file's footer. Raises DamagedFile."""
    path = folder / HISTORY
    if not path.exists():
        raise DamagedFile(path, "it is missing")
    with reading(path):
        stat = path.stat()
        return _last_step(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=1 << 14)
def _last_step(path: Path, modified: int, size: int) -> int:
    """Cached until the file changes, since every command asks this of every trial."""
    footer = pq.read_metadata(path)
    column = footer.schema.names.index("step")
    groups = [footer.row_group(number).column(column).statistics for number in range(footer.num_row_groups)]
    return max(group.max for group in groups)


def seal_history(folder: Path, stream: Path, replace: Replacing = replacing) -> None:
    """Turn an attempt's stream into the finished table, whole or not at all."""
    table = pa.Table.from_batches(stream_batches(stream))
    with replace(folder / HISTORY) as part:
        pq.write_table(table.combine_chunks(), part, write_page_checksum=True)
    stream.unlink()


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
    except (pa.ArrowException, OSError):  # the end is not written yet: the trial runs, or was killed
        return


def declared_measures(folder: Path) -> dict[str, dict[str, str]]:
    """The declaration of each measure of a complete trial, by the measure's name. Raises DamagedFile."""
    with reading(folder / HISTORY):
        fields = [field for field in pq.read_schema(folder / HISTORY) if field.metadata]
    return {field.name: {key.decode(): value.decode() for key, value in field.metadata.items()} for field in fields}
