"""A results folder as tables."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, get_type_hints

import pandas as pd

from analysis.record.flatten import flatten
from analysis.record.history import declared_measures, read_columns
from analysis.record.layout import results_of, trial_folder
from analysis.record.study_file import read_study
from analysis.record.summary import COMPLETE, read_summary, trial_damage
from analysis.tables.columns import Trials, as_rows
from analysis.tables.endpoints import reducer

NOT_SETTINGS = ("diagnostic", "seed", "init_seed", "data_seed")


@dataclass(frozen=True)
class Results:
    """A study and what its trials recorded.

    `study` is the study as it was run; `trials` a table of `analysis.tables.columns.Trials`; `measures` the unit,
    direction and reduction of every measure, by name.
    """

    home: Path
    study: Mapping[str, Any]
    trials: pd.DataFrame
    measures: pd.DataFrame

    @property
    def arms(self) -> list[str]:
        """Labels, the baseline first."""
        return list(self.study["arms"])

    @property
    def settings(self) -> list[str]:
        """The columns of `trials` that are settings: `norm`, `norm.eps`, `model.width`, …"""
        return sorted(set(self.trials.columns) - {*get_type_hints(Trials), "diverged_step"})

    def unit_of(self, measure: str) -> str:
        """A measure's unit; empty where it is a bare number."""
        unit = self.measures.unit.get(measure, "share of trials")
        return "" if unit == "1" else unit

    def label_with_unit(self, measure: str) -> str:
        """A measure with its unit, as axes and columns name it."""
        return f"{measure} ({unit})" if (unit := self.unit_of(measure)) else measure

    def with_excluded(self) -> "Results":
        """The same with the trials that the study excludes."""
        return replace(self, trials=self.trials.assign(status=self.trials.ended))

    def trial_folder(self, trial: str) -> Path:
        """Where a trial lies."""
        return trial_folder(results_of(self.home), trial)

    @cached_property
    def history(self) -> pd.DataFrame:
        """Every logged value of every complete trial: arm, seed, step, tokens, then a column for each measure."""
        return self.read_columns(*self.measures.index)

    def read_columns(self, *measures: str) -> pd.DataFrame:
        """The history of some measures, which is quicker than of all; NaN where a trial never measured one."""
        complete = as_rows(self.trials[self.trials.status.isin(COMPLETE)])
        found = [
            _history_columns(self.trial_folder(t["trial"]), measures).assign(arm=t["arm"], seed=t["seed"])
            for t in complete
        ]
        columns = dict.fromkeys(("arm", "seed", "step", "tokens", *measures))
        table = pd.concat(found, ignore_index=True) if found else pd.DataFrame()
        return table.reindex(columns=list(columns)).astype(dict.fromkeys(measures, float))

    @cached_property
    def endpoints(self) -> dict[str, pd.DataFrame]:
        """For each endpoint one number a trial, seeds by arms; NaN where a trial diverged or is missing."""
        return {
            measure: self.reduce_endpoint(measure, reduction) for measure, reduction in self.study["endpoints"].items()
        }

    def reduce_endpoint(self, measure: str, reduction: str) -> pd.DataFrame:
        """One number a trial, seeds by arms; NaN where a trial diverged, is missing, or has no finite one.

        Who diverged or never got there has not `solved` a task, and took all its steps (`steps_to_solve` is censored
        there). Of a measure that depends on what else runs on a device, NaN too where the trial shared it, or may have.
        """
        values = {(t["arm"], t["seed"]): self._endpoint_value(t, measure, reduction) for t in as_rows(self.trials)}
        return pd.Series(values, dtype=float).unstack(0).reindex(columns=self.arms)

    def _endpoint_value(self, trial: Mapping[str, Any], measure: str, reduction: str) -> float:
        if measure == "diverged":
            return float(trial["status"] == "diverged") if trial["status"] in COMPLETE else float("nan")
        never = {"solved": 0.0, "steps_to_solve": trial.get("trainer.max_steps")}.get(measure)
        value = float("nan")
        alone = self.measures.repeats.get(measure) != "alone" or trial["beside"] == 0
        if trial["status"] == "finished" and alone:
            value = reduced_value(self.trial_folder(trial["trial"]), measure, reduction)
        if trial["status"] in COMPLETE and never is not None and math.isnan(value):
            return float(never)
        return value if math.isfinite(value) else float("nan")


def read_results(home: Path) -> Results:
    """The study in a folder `results/studies/<name>`."""
    study = read_study(home)
    arms = {label: arm_settings(arm) for label, arm in study["arms"].items()}
    trials = pd.DataFrame(
        [
            _trial_row(trial_folder(results_of(home), row["id"]), row, arms[row["arm"]], study.get("exclude", {}))
            for row in study["trials"]
        ]
    )
    measures: dict[str, dict[str, str]] = {}
    for trial in trials.trial[trials.ended.isin(COMPLETE)].drop_duplicates():
        measures |= declared_measures(trial_folder(results_of(home), trial))
    columns = ["unit", "better", "reduction", "repeats"]
    return Results(home, study, Trials.check(trials), pd.DataFrame.from_dict(measures, orient="index", columns=columns))


def reduced_value(folder: Path, measure: str, reduction: str) -> float:
    """A trial's endpoint; NaN if it never measured it."""
    reduce = reducer(reduction)
    table = read_columns(folder, [measure])
    if measure not in table.column_names:
        return float("nan")
    values = table[measure].to_pandas().dropna()
    return float(reduce(values)) if len(values) else float("nan")


def _history_columns(folder: Path, measures: Iterable[str]) -> pd.DataFrame:
    """A trial's steps, tokens and these measures, as far as it has them."""
    return read_columns(folder, ["step", "tokens", *measures]).to_pandas()


def arm_settings(arm: Mapping[str, Any]) -> dict[str, Any]:
    """An arm's settings as flat columns, without seeds and diagnostics."""
    return flatten({key: value for key, value in arm["settings"].items() if key not in NOT_SETTINGS})


def _trial_row(folder: Path, row: Mapping[str, Any], arm: Mapping[str, Any], excluded: Iterable[str]) -> dict[str, Any]:
    summary = read_summary(folder) or {"status": "damaged" if trial_damage(folder) else "missing"}
    columns = {column: summary.get(column) for column in (*get_type_hints(Trials), "diverged_step")}
    columns["ended"] = summary["status"]
    columns["status"] = "excluded" if any(row["id"].startswith(str(id)) for id in excluded) else summary["status"]
    return columns | {"trial": row["id"], "arm": row["arm"], "seed": row["seed"], **arm}
