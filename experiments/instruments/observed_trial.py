"""What diagnostics may read of a trial while it trains."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor

from analysis.record.files import Replacing
from components.model import Decoder
from experiments.data import Batch, Vocabulary
from experiments.objective import Objective


class ValueRecorder(Protocol):
    """Where a diagnostic records the values of the measures that it declares."""

    folder: Path
    replace: Replacing  # how a diagnostic writes files of its own into the folder

    def record(self, name: str, value: Tensor) -> None:
        """A value of a measure at the current step."""
        ...

    def series(self, name: str) -> Tensor:
        """All values of a measure so far, in order of steps; float64."""
        ...


class ObservedTrial(Protocol):
    """A trial as its diagnostics see it: they read it and record values, and change nothing.

    `tokens` counts the tokens so far; `validated` is the step of the last validation; `batch` is the last batch
    of this process in training.
    """

    model: Decoder
    objective: Objective
    vocabulary: Vocabulary
    batch: Batch
    tokens: int
    validated: int

    @property
    def recorder(self) -> ValueRecorder:
        """Where values are recorded."""
        ...

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        ...

    @property
    def step(self) -> int:
        """Optimizer steps so far."""
        ...

    @property
    def steps(self) -> int:
        """Optimizer steps of the whole trial."""
        ...

    @property
    def micro_batches(self) -> int:
        """Batches per optimizer step of each process."""
        ...

    @property
    def world(self) -> int:
        """Processes that train this trial together."""
        ...

    @property
    def clip(self) -> float | None:
        """The limit of the gradient norm; None without one."""
        ...

    @property
    def precision(self) -> str:
        """Lightning's word for the precision, such as `bf16-mixed`."""
        ...

    def autocast(self) -> AbstractContextManager[None]:
        """The context of a forward pass in this precision."""
        ...

    def held_out(self, length: int) -> list[Batch]:
        """The validation set in sequences of this length, on the device of the model."""
        ...

    def gradient_norms(self) -> Tensor:
        """‖g‖₂ of each parameter before clipping, in the order of `model.parameters()`."""
        ...
