"""A results folder as tables."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, get_type_hints

import pandas as pd
import pyarrow.parquet as pq

from analysis.record.flatten import flatten
from analysis.record.history import declared_measures
from analysis.record.layout import HISTORY, results_of, trial_folder
from analysis.record.study_file import read_study
from analysis.record.summary import COMPLETE, read_summary
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

    def about(self, measure: str) -> list[str]:
        """The facets of a trial's meaning that a measure depends on; none where trials did not say."""
        declared = self.measures["about"].get(measure) if "about" in self.measures else None
        return declared.split() if isinstance(declared, str) else []

    @cached_property
    def meanings(self) -> dict[str, dict[str, str]]:
        """What each arm's complete trials say that their numbers are about: a value per facet."""
        found: dict[str, dict[str, set[str]]] = {}
        for trial in as_rows(self.trials[self.trials.ended.isin(COMPLETE)]):
            for facet, value in ((self.summary_of(trial["trial"]) or {}).get("meaning") or {}).items():
                found.setdefault(trial["arm"], {}).setdefault(facet, set()).add(value)
        return {arm: {facet: " / ".join(sorted(v)) for facet, v in facets.items()} for arm, facets in found.items()}

    def summary_of(self, trial: str) -> dict[str, Any] | None:
        """What a complete trial recorded about itself; None while it is not complete."""
        return read_summary(self.trial_folder(trial))

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
    for trial in trials.trial[trials.ended != "missing"].drop_duplicates():
        measures |= declared_measures(trial_folder(results_of(home), trial))
    columns = ["unit", "better", "reduction", "repeats", "about"]
    return Results(home, study, Trials.check(trials), pd.DataFrame.from_dict(measures, orient="index", columns=columns))


def reduced_value(folder: Path, measure: str, reduction: str) -> float:
    """A trial's endpoint; NaN if it never measured it."""
    reduce = reducer(reduction)
    with pq.ParquetFile(folder / HISTORY) as file:
        if measure not in file.schema_arrow.names:
            return float("nan")
        values = file.read(columns=[measure])[measure].to_pandas().dropna()
    return float(reduce(values)) if len(values) else float("nan")


def _history_columns(folder: Path, measures: Iterable[str]) -> pd.DataFrame:
    """A trial's steps, tokens and these measures, as far as it has them."""
    with pq.ParquetFile(folder / HISTORY) as file:
        there = set(file.schema_arrow.names)
        wanted = ["step", "tokens", *(name for name in measures if name in there)]
        return file.read(columns=wanted).to_pandas()


def arm_settings(arm: Mapping[str, Any]) -> dict[str, Any]:
    """An arm's settings as flat columns, without seeds and diagnostics."""
    return flatten({key: value for key, value in arm["settings"].items() if key not in NOT_SETTINGS})


def _trial_row(folder: Path, row: Mapping[str, Any], arm: Mapping[str, Any], excluded: Iterable[str]) -> dict[str, Any]:
    said = read_summary(folder) or {"status": "missing"}
    columns = {column: said.get(column) for column in (*get_type_hints(Trials), "diverged_step")}
    columns["ended"] = said["status"]
    columns["status"] = "excluded" if any(row["id"].startswith(str(id)) for id in excluded) else said["status"]
    return columns | {"trial": row["id"], "arm": row["arm"], "seed": row["seed"], **arm}
