"""What a trial measures, declared by what measures it."""

from dataclasses import asdict, dataclass
from typing import Literal

import pyarrow as pa


@dataclass(frozen=True)
class Measure:
    """A named number that a trial logs: its unit, which direction is better, and how a study reduces it.

    `repeats`: exactly, if the trial run again gives it again; roughly, if it depends on the machine; alone, if it
    depends on what else runs there too, so that trials can be compared only if each had its device to itself. `code`
    is a digest of the code that computes it; whoever trains fills it in. `about` names the facets of a trial's meaning
    that the number depends on: trials that differ in one of them measured different things under one name (nats per
    character, nats per word), which have no difference.
    """

    name: str
    unit: str
    better: Literal["lower", "higher", "neither"] = "neither"
    reduction: str = "final"
    repeats: Literal["exactly", "roughly", "alone"] = "exactly"
    code: str = ""
    about: tuple[str, ...] = ()

    def field(self) -> pa.Field:
        """The column, with the declaration as its metadata."""
        declared = {key: str(value) for key, value in asdict(self).items() if key != "name"}
        declared["about"] = " ".join(self.about)
        return pa.field(self.name, pa.float64(), metadata=declared)


# The facets of a trial's meaning: per which tokens, over which data or which scored sequences, in sequences of which
# length, under which objective; and of which part of a text.
TRAINED = ("vocabulary", "data", "context", "objective")  # of the loss in training and its gradients
VALIDATED = (
    "vocabulary",
    "validation",
    "context",
    "objective",
)  # of the loss over the validation set and its gradients
SPELLED = ("text", "objective")  # of bits per byte, whatever the tokens are

TRAINING = (
    Measure("train/loss", "nats/token", "lower", about=TRAINED),
    Measure("val/loss", "nats/token", "lower", about=VALIDATED),
    Measure("val/accuracy", "share of targets", "higher", about=VALIDATED),
    Measure("learning_rate", "1"),
)


BITS_PER_BYTE = Measure("val/bits_per_byte", "bits/byte", "lower", about=SPELLED)


SOLVING = (
    Measure("solved", "share of trials", "higher"),
    Measure("steps_to_solve", "steps", "lower"),
)


def training_measures(*, solvable: bool, spelled: bool) -> tuple[Measure, ...]:
    """What every trial measures; more where the data are a task that can be solved, or text whose bytes are known."""
    solving = SOLVING if solvable else ()
    return (*TRAINING, BITS_PER_BYTE, *solving) if spelled else (*TRAINING, *solving)
