"""What a trial measures, declared by what measures it."""

from dataclasses import asdict, dataclass
from typing import Literal

import pyarrow as pa


@dataclass(frozen=True)
class Measure:
    """A named number that a trial logs: its unit, which direction is better, and how a study reduces it.

    `repeats`: exactly, if the trial run again gives it again; roughly, if it depends on the machine; alone, if it
    depends on what else runs there too, so that trials can be compared only if each had its device to itself.
    """

    name: str
    unit: str
    better: Literal["lower", "higher", "neither"] = "neither"
    reduction: str = "final"
    repeats: Literal["exactly", "roughly", "alone"] = "exactly"

    def field(self) -> pa.Field:
        """The column, with the declaration as its metadata."""
        declared = {key: str(value) for key, value in asdict(self).items() if key != "name"}
        return pa.field(self.name, pa.float64(), metadata=declared)


TRAINING = (
    Measure("train/loss", "nats/token", "lower"),
    Measure("val/loss", "nats/token", "lower"),
    Measure("val/accuracy", "share of targets", "higher"),
    Measure("learning_rate", "1"),
)
SOLVING = (
    Measure("solved", "share of trials", "higher"),
    Measure("steps_to_solve", "steps", "lower"),
)


def always(solved_at: float | None) -> tuple[Measure, ...]:
    """What every trial measures; `solved` and `steps_to_solve` where the data are a task that can be solved."""
    return TRAINING if solved_at is None else TRAINING + SOLVING
