"""The history of a trial: every measured value, by optimizer step.

While a trial runs, rows go to `history.arrow`, a stream that still reads after a crash; at the end
they become `history.parquet`. Each column carries what analysis must know of its measure.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import torch
from torch import Tensor

from experiments.folder import whole
from experiments.measure import Measure

STREAM, TABLE = "history.arrow", "history.parquet"


class Recorder:
    """Collects values and writes them in rows, one for each optimizer step.

    Tensors are kept as they are until a flush, so that recording does not wait for the device.
    """

    def __init__(self, folder: Path, measures: Sequence[Measure], before: bytes | None = None, every: int = 50) -> None:
        axes = [pa.field("step", pa.int64()), pa.field("tokens", pa.int64())]
        self.folder, self.every = folder, every
        self.schema = pa.schema([*axes, *(measure.field() for measure in measures)])
        self.diverged: int | None = None
        self._known = {measure.name for measure in measures}
        self._rows: dict[int, dict[str, list[Tensor]]] = {}
        self._tokens: dict[int, int] = {}
        self._writer = pa.ipc.new_stream(str(folder / STREAM), self.schema)
        for batch in _batches(pa.BufferReader(before)) if before else ():
            self._writer.write_table(_as(self.schema, pa.Table.from_batches([batch])))

    def so_far(self) -> bytes:
        """Everything recorded until now, as a stream without its end."""
        self.flush()
        return (self.folder / STREAM).read_bytes()

    def series(self, name: str) -> Tensor:
        """All values of a measure so far, in order of steps; float64."""
        written = [batch[name].drop_null().to_pylist() for batch in _read(self.folder / STREAM)]
        waiting = [_mean(row[name]).item() for row in self._rows.values() if name in row]
        return torch.tensor([*(value for column in written for value in column), *waiting], dtype=torch.float64)

    def at(self, step: int, tokens: int) -> None:
        """Begin or go on with the row of this optimizer step, `tokens` seen with it; earlier rows are complete."""
        if step not in self._rows and len(self._rows) >= self.every:
            self.flush()
        self._rows.setdefault(step, defaultdict(list))
        self._tokens[step] = tokens

    def record(self, name: str, value: Tensor) -> None:
        """A value for the current row; several values of one name (micro-batches) are averaged."""
        if name not in self._known:
            raise KeyError(f"{name!r} was recorded but never declared as a measure; declared: {sorted(self._known)}")
        self._rows[next(reversed(self._rows))][name].append(value.detach())

    def flush(self) -> None:
        """Write all rows, and notice the first step whose loss is not finite; no row comes after that one."""
        rows, tokens, self._rows, self._tokens = self._rows, self._tokens, {}, {}
        cells = [(step, name, values) for step, row in rows.items() for name, values in row.items()]
        means = _numbers([_mean(values) for *_, values in cells])
        columns: dict[str, list[float | int | None]] = {name: [None] * len(rows) for name in self.schema.names}
        columns |= {"step": list(rows), "tokens": [tokens[step] for step in rows]}
        place = {step: i for i, step in enumerate(rows)}
        for (step, name, _), mean in zip(cells, means, strict=True):
            columns[name][place[step]] = mean
            if self.diverged is None and name.endswith("/loss") and not math.isfinite(mean):
                self.diverged = step
        table = pa.table(columns, schema=self.schema)
        self._writer.write_table(table if self.diverged is None else table.filter(pc.field("step") <= self.diverged))

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._rows:
            self.flush()
        self._writer.close()


def _mean(values: list[Tensor]) -> Tensor:
    """In float64 where the device has it."""
    together = torch.stack(values)
    return together.float().mean() if together.device.type == "mps" else together.double().mean()


def _numbers(values: list[Tensor]) -> list[float]:
    """Fetched from each device at once."""
    found: dict[int, float] = {}
    for device in {value.device for value in values}:
        places = [place for place, value in enumerate(values) if value.device == device]
        found |= zip(places, torch.stack([values[place] for place in places]).tolist(), strict=True)
    return [found[place] for place in range(len(values))]


def read(folder: Path) -> pa.Table | None:
    """A trial's history so far: the finished table, or what a stream holds up to where it was torn."""
    batches = [] if (folder / TABLE).exists() else list(_read(folder / STREAM))
    if (folder / TABLE).exists():  # perhaps only by now
        return pq.read_table(folder / TABLE)
    return pa.Table.from_batches(batches) if batches else None


def columns(folder: Path) -> list[str]:
    """What a finished trial has recorded, without reading it."""
    return pq.read_schema(folder / TABLE).names


def seal(folder: Path) -> None:
    """Turn the stream into the finished table, whole or not at all."""
    table = read(folder)
    assert table is not None, "a trial has at least the row of its first validation"
    with whole(folder / TABLE) as part:
        pq.write_table(table.combine_chunks(), part)
    (folder / STREAM).unlink()


def _as(schema: pa.Schema, table: pa.Table) -> pa.Table:
    """Rows with the columns of a schema, empty where they had none: diagnostics may have changed since."""
    rows = len(table)
    columns = {name: table[name] if name in table.column_names else pa.nulls(rows) for name in schema.names}
    return pa.table(columns).cast(schema)


def _read(stream: Path) -> Iterator[pa.RecordBatch]:
    try:
        with pa.OSFile(str(stream)) as file:
            yield from _batches(file)
    except OSError:  # not begun
        return


def _batches(file: pa.NativeFile) -> Iterator[pa.RecordBatch]:
    try:
        with pa.ipc.open_stream(file) as reader:
            yield from reader
    except (pa.ArrowInvalid, OSError):  # the end is not written yet: the trial runs, or was killed
        return
