"""What a trial measures, declared by what measures it."""

from dataclasses import asdict, dataclass
from enum import StrEnum

import pyarrow as pa


class Better(StrEnum):
    """Which direction of a measure is an improvement."""

    lower = "lower"
    higher = "higher"
    neither = "neither"


@dataclass(frozen=True)
class Measure:
    """A named number that a trial logs: its unit, which direction is better, and how a study reduces it."""

    name: str
    unit: str
    better: Better = Better.neither
    reduction: str = "final"

    def field(self) -> pa.Field:
        """The column, with the declaration as its metadata."""
        declared = {key: str(value) for key, value in asdict(self).items() if key != "name"}
        return pa.field(self.name, pa.float64(), metadata=declared)


TRAINING = (
    Measure("train/loss", "nats/token", Better.lower),
    Measure("val/loss", "nats/token", Better.lower),
    Measure("learning_rate", "1"),
)
