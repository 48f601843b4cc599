"""Results from elsewhere: any table with an arm, a seed and a step in each row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.frame import Trials
from analysis.reduction import reducer, refuse_unknown, unknown
from analysis.results import ENDED, Results


@dataclass(frozen=True)
class Table(Results):
    """A study whose histories are rows of one table."""

    rows: pd.DataFrame

    def recorded(self, *measures: str) -> pd.DataFrame:
        """These columns of the table, of the trials that are there."""
        ended = self.trials.loc[self.trials.status.isin(ENDED), ["arm", "seed"]]
        return self.rows[["arm", "seed", "step", "tokens", *measures]].merge(ended, on=["arm", "seed"])

    def _value(self, trial: Mapping[str, object], measure: str, reduction: str) -> float:
        if measure == "diverged":
            return float(trial["status"] == "diverged")
        own = self.rows[(self.rows.arm == trial["arm"]) & (self.rows.seed == trial["seed"])]
        values = own.sort_values("step")[measure].dropna()
        return float(reducer(reduction)(values)) if trial["status"] == "finished" and len(values) else float("nan")


def from_frame(
    frame: pd.DataFrame,
    *,
    arm: str | Sequence[str] = "arm",
    seed: str = "seed",
    step: str = "step",
    endpoints: Mapping[str, str],
    baseline: str | None = None,
    margin: Mapping[str, float] | None = None,
    expect: Mapping[str, Mapping[str, str]] | None = None,
) -> Results:
    """A study out of a table: `.effects()`, and all that figures and verdicts take.

    `arm` names the column that says which arm a row is of, or several columns, which are then factors; `endpoints` maps
    columns to reductions (`final`, `median`, …); `baseline` is the arm to compare with, by default the first. A trial
    counts as diverged if its value is not finite at the last of its steps at which any trial has one.

    Raises ValueError for a column, an arm, an endpoint or a reduction that is not there, and for several values of an
    endpoint at one step of a trial.

    >>> last_year = pd.DataFrame({"model": ["a", "a", "b", "b"], "run": [0, 1, 0, 1], "loss": [2.0, 2.2, 1.9, 2.1]})
    >>> study = from_frame(last_year.assign(step=10), arm="model", seed="run", endpoints={"loss": "final"})
    >>> [round(x, 3) for x in study.effects().effect]
    [-0.1]
    """
    factors = [arm] if isinstance(arm, str) else list(arm)
    for column in (*factors, seed, step, *endpoints):
        if column not in frame:
            raise ValueError(unknown("column", column, map(str, frame.columns)))
        empty = int(frame[column].isna().sum())
        if empty == len(frame) or (empty and column not in endpoints):
            raise ValueError(f"the column {column!r} is empty in {empty} of {len(frame)} rows")
    labels = frame[factors[0]].astype(str) if isinstance(arm, str) else _labels(frame, factors)
    own = frame.assign(arm=labels, seed=_numbers(frame[seed]), step=frame[step])
    for column in endpoints:
        if own.dropna(subset=[column]).duplicated(["arm", "seed", "step"]).any():
            several = f"{column} has several values for one arm, seed and step"
            raise ValueError(f"{several}; drop rows that come twice, or name all columns that make arms")
    own = own if "tokens" in own else own.assign(tokens=np.nan)
    arms = list(dict.fromkeys(own.arm))
    if baseline is not None and baseline not in arms:
        raise ValueError(unknown("arm", baseline, arms))
    refuse_unknown({"endpoints": endpoints, "margin": margin or {}, "expect": expect or {}}, list(endpoints), arms)
    arms.sort(key=lambda label: label != baseline if baseline else 0)
    first = frame.assign(label=labels).drop_duplicates("label").set_index("label")
    study = {
        "name": "table", "question": "", "source": "", "endpoints": dict(endpoints), "margin": dict(margin or {}),
        "expect": {label: dict(wished) for label, wished in (expect or {}).items()}, "factors": factors,
        "seeds": sorted(own.seed.unique()), "budget": "none",
        "arms": {a: {"levels": {f: str(first[f][a]) for f in factors}} for a in arms},
    }  # fmt: skip
    declared = {"unit": "", "better": "neither", "reduction": "final", "repeats": "exactly"}
    measures = pd.DataFrame(declared, index=list(endpoints))
    return Table(Path(), study, _trials(own, list(endpoints)), measures, own)


def _numbers(seeds: pd.Series) -> pd.Series:
    """Seeds as they are if they are whole numbers, else numbered in the order of their names."""
    numbers = pd.to_numeric(seeds, errors="coerce")
    whole = numbers.notna().all() and (numbers % 1 == 0).all()
    return numbers.astype(int) if whole else seeds.astype(str).rank(method="dense").astype(int)


def _labels(frame: pd.DataFrame, factors: Sequence[str]) -> pd.Series:
    named = (f"{factor}=" + frame[factor].astype(str) for factor in factors)
    return pd.concat(list(named), axis=1).agg(", ".join, axis=1)


def _trials(own: pd.DataFrame, endpoints: list[str]) -> pd.DataFrame:
    ordered, trials = own.sort_values("step", kind="stable"), own[["arm", "seed"]].drop_duplicates()
    ended = pd.DataFrame({measure: _last(ordered, measure) for measure in endpoints})
    last = ended.reindex(pd.MultiIndex.from_frame(trials))
    status = np.where(np.isfinite(last.astype(float)).all(axis=1), "finished", "diverged")
    made = last.index.to_frame(index=False).assign(
        status=status, ended=status, trial=lambda t: t.arm + " " + t.seed.astype(str)
    )
    return Trials.check(
        made.assign(parameters=np.nan, tokens=np.nan, cpu_seconds=np.nan, peak_memory_mb=np.nan, beside=np.nan)
    )


def _last(ordered: pd.DataFrame, measure: str) -> pd.Series:
    """Each trial's value at the last of its steps at which any trial has one: logs may be sparse, and end in NaN."""
    logged = ordered.groupby("step")[measure].transform(lambda values: values.notna().any())
    return ordered[logged].groupby(["arm", "seed"], sort=False)[measure].last(skipna=False)
