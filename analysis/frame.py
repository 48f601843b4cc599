"""Tables that know their columns' types and units."""

from typing import Annotated, Any, get_type_hints

import pandas as pd


class Frame:
    """Subclass with annotated columns; `Annotated[float, "seeds"]` gives the unit."""

    @classmethod
    def check(cls, frame: pd.DataFrame) -> pd.DataFrame:
        """The declared columns first, in order and typed, then all others. Raises ValueError if one is missing."""
        types = get_type_hints(cls)
        if absent := types.keys() - set(frame.columns):
            raise ValueError(f"{cls.__name__} lacks the columns {sorted(absent)}; it has {sorted(frame.columns)}")
        others = [column for column in frame.columns if column not in types]
        return frame[[*types, *others]].astype(types)


class Trials(Frame):
    """One row for each arm and seed of a study; after these columns, one for each setting, by its key.

    `status` is finished, diverged, missing or excluded (by the study); `ended` what it would be if none were excluded;
    `beside` how many other trials may have run on its device meanwhile.
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
    beside: Annotated[float, "trials"]


class Effects(Frame):
    """One row for each arm and endpoint: the arm's endpoint minus the baseline's, paired by seed.

    `pairs` seeds have both; over these `baseline` and `level` are the means, in `unit`, `effect` is their difference,
    `low` to `high` its 95 % t-interval, `bca_low` to `bca_high` that of a bootstrap from 20 pairs on, `deviation` the
    standard deviation of the differences. `p` is of the paired t-test, `p_holm` corrected over the table, `p_sign_flip`
    exact, up to 16 pairs. `detectable` is the smallest effect that so many pairs show with a chance of 80 % after the
    correction, `seeds` how many would show this one, `saved` how many times more seeds unpaired arms would take.
    `identical`: the two are the same in every pair. NaN where something is not defined, as an interval of one pair.
    """

    arm: str
    endpoint: str
    unit: str
    pairs: Annotated[int, "seeds"]
    baseline: float
    level: float
    effect: float
    low: float
    high: float
    bca_low: float
    bca_high: float
    deviation: float
    p: float
    p_holm: float
    p_sign_flip: float
    detectable: float
    seeds: float
    saved: float
    identical: bool


def rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Each row as a dictionary by column."""
    return [{str(column): value for column, value in row.items()} for row in frame.to_dict("records")]
