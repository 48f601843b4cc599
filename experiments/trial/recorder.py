"""Record values while a trial runs, one row per optimizer step."""

import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Tensor

from analysis.record.files import Replacing, replacing
from analysis.record.history import complete_batches, stream_batches
from analysis.record.layout import stream_path
from analysis.record.measure import Measure


class Recorder:
    """Collects values and writes them in rows, one for each optimizer step.

    Tensors are kept as they are until a flush, so that recording does not wait for the device. `attempt` names the
    stream, and `replace` gives other files of the trial their names, if the attempt may still write.
    """

    def __init__(
        self, folder: Path, measures: Sequence[Measure], before: bytes | None = None, every: int = 50,
        *, attempt: str = "", replace: Replacing = replacing,
    ) -> None:  # fmt: skip
        axes = [pa.field("step", pa.int64()), pa.field("tokens", pa.int64())]
        self.folder, self.every, self.replace = folder, every, replace
        self.stream = stream_path(folder, attempt)
        self.schema = pa.schema([*axes, *(measure.field() for measure in measures)])
        self.diverged: int | None = None
        self.is_alarmed = False
        self._known = {measure.name for measure in measures}
        self._rows: dict[int, dict[str, list[Tensor]]] = {}
        self._tokens: dict[int, int] = {}
        self._finite: dict[int, list[Tensor]] = {}
        self._writer = pa.ipc.new_stream(str(self.stream), self.schema)
        for batch in complete_batches(pa.BufferReader(before)) if before else ():
            self._writer.write_table(_with_schema(self.schema, pa.Table.from_batches([batch])))

    def stream_bytes(self) -> bytes:
        """Everything recorded until now, as a stream without its end."""
        self.flush()
        return self.stream.read_bytes()

    def series(self, name: str) -> Tensor:
        """All values of a measure so far, in order of steps; float64."""
        written = [batch[name].drop_null().to_pylist() for batch in stream_batches(self.stream)]
        waiting = [_mean(row[name]).item() for row in self._rows.values() if name in row]
        return torch.tensor([*(value for column in written for value in column), *waiting], dtype=torch.float64)

    def begin_step(self, step: int, tokens: int) -> None:
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
        if name.endswith("/loss"):
            self.require_finite(value)

    def require_finite(self, value: Tensor) -> None:
        """A number that means divergence at the current step unless it is finite.

        On a CPU, which has it already, `is_alarmed` tells at once; elsewhere the next flush finds the step.
        """
        self._finite.setdefault(next(reversed(self._rows)), []).append(value.detach())
        if value.device.type == "cpu" and not math.isfinite(value):
            self.is_alarmed = True

    def _first_diverged(self) -> int | None:
        """The first step since the last flush at which some required number was not finite."""
        required, self._finite, self.is_alarmed = self._finite, {}, False
        numbers = [(step, value) for step, values in required.items() for value in values]
        ends = zip(numbers, _fetch([_mean([value]) for _, value in numbers]), strict=True)
        return min((step for (step, _), value in ends if not math.isfinite(value)), default=None)

    def flush(self) -> None:
        """Write all rows up to the first step at which a loss or gradient is not finite, which is `diverged`."""
        rows, tokens, self._rows, self._tokens = self._rows, self._tokens, {}, {}
        if self.diverged is None:
            self.diverged = self._first_diverged()
        cells = [(step, name, values) for step, row in rows.items() for name, values in row.items()]
        means = _fetch([_mean(values) for *_, values in cells])
        columns: dict[str, list[float | int | None]] = {name: [None] * len(rows) for name in self.schema.names}
        columns |= {"step": list(rows), "tokens": [tokens[step] for step in rows]}
        place = {step: i for i, step in enumerate(rows)}
        for (step, name, _), mean in zip(cells, means, strict=True):
            columns[name][place[step]] = mean
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


def same_code(stream: bytes, measures: Sequence[Measure]) -> bool:
    """Whether what a stream has recorded of these measures so far comes from the code that they come from now."""
    with pa.ipc.open_stream(pa.BufferReader(stream)) as reader:
        before = {field.name: (field.metadata or {}).get(b"code", b"").decode() for field in reader.schema}
    return all(before.get(measure.name, measure.code) == measure.code for measure in measures)


def _mean(values: list[Tensor]) -> Tensor:
    """In float64 where the device has it."""
    together = torch.stack(values)
    return together.float().mean() if together.device.type == "mps" else together.double().mean()


def _fetch(values: list[Tensor]) -> list[float]:
    """Fetched from each device at once."""
    fetched: dict[int, float] = {}
    for device in {value.device for value in values}:
        places = [place for place, value in enumerate(values) if value.device == device]
        fetched |= zip(places, torch.stack([values[place] for place in places]).tolist(), strict=True)
    return [fetched[place] for place in range(len(values))]


def _with_schema(schema: pa.Schema, table: pa.Table) -> pa.Table:
    """Rows with the columns of a schema, empty where they had none: diagnostics may have changed since."""
    rows = len(table)
    columns = {name: table[name] if name in table.column_names else pa.nulls(rows) for name in schema.names}
    return pa.table(columns).cast(schema)
