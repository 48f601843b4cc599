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
    """One row for each arm and endpoint: the arm's endpoint minus the baseline's, paired by seed."""

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
