"""Results of other programs: any table with an arm, a seed and a step in each row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.record.study_file import ArmRecord, StudyRecord
from analysis.record.words import unknown_word
from analysis.tables.columns import Trials
from analysis.tables.endpoints import reducer, refuse_unknown_names
from analysis.tables.results import Results


@dataclass(frozen=True)
class FrameResults(Results):
    """A study whose histories are rows of one table."""

    rows: pd.DataFrame

    def read_columns(self, *measures: str) -> pd.DataFrame:
        """These columns of the table, of the complete trials."""
        complete = self.complete[["arm", "seed"]]
        return self.rows[["arm", "seed", "step", "tokens", *measures]].merge(complete, on=["arm", "seed"])

    def _endpoint_value(self, trial: Mapping[str, object], measure: str, reduction: str) -> float:
        if measure == "diverged":
            return float(trial["status"] == "diverged")
        rows = self.rows[(self.rows.arm == trial["arm"]) & (self.rows.seed == trial["seed"])]
        values = rows.sort_values("step")[measure].dropna()
        if trial["status"] != "finished" or values.empty:
            return float("nan")
        return float(reducer(reduction)(values))


def results_from_frame(
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
    """The results of a study whose histories are rows of one table.

    `arm` names the column that says which arm a row is of, or several columns, which are then factors; `endpoints` maps
    columns to reductions (`final`, `median`, …); `baseline` is the arm to compare with, by default the first. A trial
    counts as diverged if its value is not finite at the last of its steps at which any trial has one.

    Raises ValueError for a column, an arm, an endpoint or a reduction that does not exist, and for several values of an
    endpoint at one step of a trial.

    >>> last_year = pd.DataFrame({"model": ["a", "a", "b", "b"], "run": [0, 1, 0, 1], "loss": [2.0, 2.2, 1.9, 2.1]})
    >>> results = results_from_frame(last_year.assign(step=10), arm="model", seed="run", endpoints={"loss": "final"})
    >>> {arm: values.mean().round(3).item() for arm, values in results.endpoints["loss"].items()}
    {'a': 2.1, 'b': 2.0}
    """
    factors = [arm] if isinstance(arm, str) else list(arm)
    _refuse_empty_columns(frame, [*factors, seed, step], list(endpoints))
    labels = frame[factors[0]].astype(str) if isinstance(arm, str) else _arm_labels(frame, factors)
    rows = frame.assign(arm=labels, seed=_seed_numbers(frame[seed]), step=frame[step])
    _refuse_repeated_values(rows, list(endpoints))
    if "tokens" not in rows:
        rows = rows.assign(tokens=np.nan)
    arms = list(dict.fromkeys(rows.arm))
    if baseline is not None:
        if baseline not in arms:
            raise ValueError(unknown_word("arm", baseline, arms))
        arms.sort(key=lambda label: label != baseline)
    margin, expect = dict(margin or {}), dict(expect or {})
    refuse_unknown_names(endpoints, margin, expect, list(endpoints), arms)
    first_rows = frame.assign(label=labels).drop_duplicates("label").set_index("label")
    levels = {label: {factor: str(first_rows[factor][label]) for factor in factors} for label in arms}
    study = StudyRecord(
        name="table", question="", source="", command="", report="", budget="none", factors=factors, trials=(),
        endpoints=dict(endpoints), expect=expect, margin=margin, seeds=sorted(rows.seed.unique()),
        arms={label: ArmRecord(levels[label], parameters=0, flops=0.0, code="", settings={}) for label in arms},
    )  # fmt: skip
    undeclared = {"unit": "", "better": "neither", "reduction": "final", "repeats": "exactly", "about": ""}
    measures = pd.DataFrame(undeclared, index=list(endpoints))
    return FrameResults(Path(), study, _trials_table(rows, list(endpoints)), measures, {}, rows)


def _refuse_empty_columns(frame: pd.DataFrame, keys: Sequence[str], endpoints: Sequence[str]) -> None:
    """Raises ValueError for a column that does not exist, an endpoint without a value, and a key with a gap."""
    for column in (*keys, *endpoints):
        if column not in frame:
            raise ValueError(unknown_word("column", column, map(str, frame.columns)))
        empty = int(frame[column].isna().sum())
        if empty == len(frame) or (empty and column not in endpoints):
            raise ValueError(f"the column {column!r} is empty in {empty} of {len(frame)} rows")


def _refuse_repeated_values(rows: pd.DataFrame, endpoints: Sequence[str]) -> None:
    for column in endpoints:
        if rows.dropna(subset=[column]).duplicated(["arm", "seed", "step"]).any():
            problem = f"{column} has several values for one arm, seed and step"
            raise ValueError(f"{problem}; drop repeated rows, or name all columns that make arms")


def _seed_numbers(seeds: pd.Series) -> pd.Series:
    """Seeds as they are if they are whole numbers, otherwise numbered in the order of their names."""
    numbers = pd.to_numeric(seeds, errors="coerce")
    if numbers.notna().all() and (numbers % 1 == 0).all():
        return numbers.astype(int)
    return seeds.astype(str).rank(method="dense").astype(int)


def _arm_labels(frame: pd.DataFrame, factors: Sequence[str]) -> pd.Series:
    levels = [f"{factor}=" + frame[factor].astype(str) for factor in factors]
    return pd.concat(levels, axis=1).agg(", ".join, axis=1)


def _trials_table(rows: pd.DataFrame, endpoints: list[str]) -> pd.DataFrame:
    ordered, trials = rows.sort_values("step", kind="stable"), rows[["arm", "seed"]].drop_duplicates()
    last_values = pd.DataFrame({measure: _last_values(ordered, measure) for measure in endpoints})
    last_values = last_values.reindex(pd.MultiIndex.from_frame(trials))
    status = np.where(np.isfinite(last_values.astype(float)).all(axis=1), "finished", "diverged")
    table = last_values.index.to_frame(index=False)
    table = table.assign(status=status, ended=status, trial=table.arm + " " + table.seed.astype(str))
    unknown = dict.fromkeys(("parameters", "tokens", "cpu_seconds", "peak_memory_mb", "others_on_device"), np.nan)
    return Trials.check(table.assign(**unknown))


def _last_values(ordered: pd.DataFrame, measure: str) -> pd.Series:
    """Each trial's value at the last of its steps at which any trial has one: logs may be sparse, and end in NaN."""
    logged = ordered.groupby("step")[measure].transform(lambda values: values.notna().any())
    return ordered[logged].groupby(["arm", "seed"], sort=False)[measure].last(skipna=False)
