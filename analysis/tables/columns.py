"""Tables that know their columns' types and units."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from math import nan
from typing import Annotated, Any, get_type_hints

import pandas as pd


class TypedFrame:
    """Subclass with annotated columns; `Annotated[float, "seeds"]` gives the unit."""

    @classmethod
    def check(cls, frame: pd.DataFrame) -> pd.DataFrame:
        """The declared columns first, in order and typed, then all others. Raises ValueError if one is missing."""
        types = get_type_hints(cls)
        if absent := types.keys() - set(frame.columns):
            raise ValueError(f"{cls.__name__} lacks the columns {sorted(absent)}; it has {sorted(frame.columns)}")
        others = [column for column in frame.columns if column not in types]
        return frame[[*types, *others]].astype(types)


class Trials(TypedFrame):
    """One row for each arm and seed of a study; after these columns, one for each setting, by its key.

    `status` is finished, diverged, missing, damaged or excluded (by the study); `ended` is the status without
    exclusions; `others_on_device` counts the other trials that may have run on its device meanwhile.
    """

    trial: str
    arm: str
    seed: int
    status: str
    ended: str
    parameters: Annotated[float, "weights"]
    tokens: Annotated[float, "tokens"]
    cpu_seconds: Annotated[float, "s"]
    peak_memory_mb: Annotated[float, "MB"]
    others_on_device: Annotated[float, "trials"]


@dataclass(frozen=True, kw_only=True)
class PairedEffect:
    """The difference of an arm's endpoint from the baseline's, paired by seed; NaN where a value is not defined.

    many pairs detect with 80 % power after the correction, `seeds_needed` the number of seeds that detect this effect,
    and `pairing_gain` how many times more seeds unpaired arms would need. `identical`: all differences are 0.
    `incomparable` is the reason why the two means measure different things, so that there is no effect and no test;
    it is empty where they can be compared.
    """

    pairs: Annotated[int, "seeds"]
    baseline_mean: float
    arm_mean: float
    effect: float
    low: float = nan
    high: float = nan
    bca_low: float = nan
    bca_high: float = nan
    sd_of_differences: float = nan
    p: float = nan
    p_holm: float = nan
    p_sign_flip: float = nan
    detectable: float = nan
    seeds_needed: float = nan
    pairing_gain: float = nan
    identical: bool = False
    incomparable: str = ""


@dataclass(frozen=True, kw_only=True)
class Effect(PairedEffect):
    """A `PairedEffect` of one arm on one endpoint, in a unit."""

    arm: str
    endpoint: str
    unit: str


def effects_frame(effects: Iterable[Effect]) -> pd.DataFrame:
    """One row per effect: arm, endpoint, unit, then the columns of `PairedEffect`."""
    columns = ["arm", "endpoint", "unit", *(column.name for column in fields(PairedEffect))]
    frame = pd.DataFrame([asdict(effect) for effect in effects], columns=columns)
    return frame.astype(get_type_hints(Effect))


def as_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Each row as a dictionary by column."""
    return [{str(column): value for column, value in row.items()} for row in frame.to_dict("records")]
