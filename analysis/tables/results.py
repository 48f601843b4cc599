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
from analysis.record.plain import JsonValue
from analysis.record.study_file import ArmRecord, StudyRecord, TrialRecord, read_study
from analysis.record.summary import COMPLETE, TrialSummary, read_summary, trial_damage
from analysis.tables.columns import Trials, as_rows
from analysis.tables.endpoints import reducer

NOT_SETTINGS = ("diagnostic", "seed", "init_seed", "data_seed")
OF_SUMMARY = ("parameters", "tokens", "cpu_seconds", "peak_memory_mb", "others_on_device", "diverged_step")


@dataclass(frozen=True)
class Results:
    """A study and what its trials recorded.

    `study` is the study as it was run; `trials` a table of `analysis.tables.columns.Trials`; `measures` the unit,
    direction and reduction of every measure, by name; `summaries` the summary of every complete trial, by its id.
    """

    home: Path
    study: StudyRecord
    trials: pd.DataFrame
    measures: pd.DataFrame
    summaries: Mapping[str, TrialSummary]

    @property
    def arms(self) -> list[str]:
        """Labels, the baseline first."""
        return list(self.study.arms)

    @property
    def settings(self) -> list[str]:
        """The columns of `trials` that are settings: `norm`, `norm.eps`, `model.width`, …"""
        return sorted(set(self.trials.columns) - {*get_type_hints(Trials), "diverged_step"})

    @property
    def finished(self) -> pd.DataFrame:
        """The rows of `trials` that finished."""
        return self.trials[self.trials.status == "finished"]

    @property
    def complete(self) -> pd.DataFrame:
        """The rows of `trials` that finished or diverged."""
        return self.trials[self.trials.status.isin(COMPLETE)]

    def unit_of(self, measure: str) -> str:
        """A measure's unit; empty where it is a bare number."""
        unit = self.measures.unit.get(measure, "share of trials")
        return "" if unit == "1" else unit

    def about(self, measure: str) -> list[str]:
        """The facets of a trial's meaning that a measure depends on; none where no trial declared any."""
        declared = self.measures["about"].get(measure)
        return declared.split() if isinstance(declared, str) else []

    @cached_property
    def meanings(self) -> dict[str, dict[str, str]]:
        """What the values of each arm's complete trials are about: a value per facet; several are joined by " / "."""
        values: dict[str, dict[str, set[str]]] = {}
        for trial in as_rows(self.trials[self.trials.ended.isin(COMPLETE)]):
            summary = self.summaries.get(trial["trial"])
            for facet, value in (summary.meaning if summary else {}).items():
                values.setdefault(trial["arm"], {}).setdefault(facet, set()).add(value)
        return {
            arm: {facet: " / ".join(sorted(several)) for facet, several in facets.items()}
            for arm, facets in values.items()
        }

    def label_with_unit(self, measure: str) -> str:
        """A measure with its unit, as axes and columns name it."""
        unit = self.unit_of(measure)
        return f"{measure} ({unit})" if unit else measure

    def with_excluded(self) -> "Results":
        """The same results with the trials that the study excludes."""
        return replace(self, trials=self.trials.assign(status=self.trials.ended))

    def trial_folder(self, trial: str) -> Path:
        """The folder of a trial."""
        return trial_folder(results_of(self.home), trial)

    @cached_property
    def history(self) -> pd.DataFrame:
        """Every logged value of every complete trial: arm, seed, step, tokens, then a column per measure."""
        return self.read_columns(*self.measures.index)

    def read_columns(self, *measures: str) -> pd.DataFrame:
        """The history of some measures, which is quicker than of all; NaN where a trial never measured one."""
        tables = [
            _history_columns(self.trial_folder(row["trial"]), measures).assign(arm=row["arm"], seed=row["seed"])
            for row in as_rows(self.complete)
        ]
        columns = dict.fromkeys(("arm", "seed", "step", "tokens", *measures))
        table = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
        return table.reindex(columns=list(columns)).astype(dict.fromkeys(measures, float))

    @cached_property
    def endpoints(self) -> dict[str, pd.DataFrame]:
        """For each endpoint one number per trial, seeds by arms; NaN where a trial diverged or is missing."""
        return {
            measure: self.reduce_endpoint(measure, reduction) for measure, reduction in self.study.endpoints.items()
        }

    def reduce_endpoint(self, measure: str, reduction: str) -> pd.DataFrame:
        """One number per trial, seeds by arms; NaN where a trial diverged, is missing, or has no finite number.

        A trial that diverged or never measured it has not `solved` a task, and took all its steps (`steps_to_solve` is
        censored there). A measure that repeats only `alone` is NaN too where the trial shared its device, or may have.
        """
        values = {
            (row["arm"], row["seed"]): self._endpoint_value(row, measure, reduction) for row in as_rows(self.trials)
        }
        return pd.Series(values, dtype=float).unstack(0).reindex(columns=self.arms)

    def _endpoint_value(self, trial: Mapping[str, Any], measure: str, reduction: str) -> float:
        complete = trial["status"] in COMPLETE
        if measure == "diverged":
            return float(trial["status"] == "diverged") if complete else float("nan")
        value = float("nan")
        comparable = self.measures.repeats.get(measure) != "alone" or trial["others_on_device"] == 0
        if trial["status"] == "finished" and comparable:
            value = reduced_value(self.trial_folder(trial["trial"]), measure, reduction)
        if complete and math.isnan(value) and measure == "solved":
            return 0.0
        max_steps = trial.get("trainer.max_steps")
        if complete and math.isnan(value) and measure == "steps_to_solve" and isinstance(max_steps, int | float):
            return float(max_steps)
        return value if math.isfinite(value) else float("nan")


def read_results(home: Path) -> Results:
    """The study in a folder `results/studies/<name>`."""
    study, results = read_study(home), results_of(home)
    ids = dict.fromkeys(trial.id for trial in study.trials)
    summaries = {id: summary for id in ids if (summary := read_summary(trial_folder(results, id))) is not None}
    damages = {id: trial_damage(trial_folder(results, id)) for id in ids if id not in summaries}
    settings = {label: arm_settings(arm) for label, arm in study.arms.items()}
    rows = [
        _trial_row(trial, summaries.get(trial.id), damages.get(trial.id, ""), study.exclude) | settings[trial.arm]
        for trial in study.trials
    ]
    measures: dict[str, dict[str, str]] = {}
    for id in summaries:
        measures |= declared_measures(trial_folder(results, id))
    columns = ["unit", "better", "reduction", "repeats", "about"]
    declarations = pd.DataFrame.from_dict(measures, orient="index", columns=columns)
    return Results(home, study, Trials.check(pd.DataFrame(rows)), declarations, summaries)


def reduced_value(folder: Path, measure: str, reduction: str) -> float:
    """A trial's endpoint; NaN if the trial never measured it."""
    reduce = reducer(reduction)
    table = read_columns(folder, [measure])
    if measure not in table.column_names:
        return float("nan")
    values = table[measure].to_pandas().dropna()
    return float(reduce(values)) if len(values) else float("nan")


def _history_columns(folder: Path, measures: Iterable[str]) -> pd.DataFrame:
    """A trial's steps, tokens and those of these measures that it has."""
    return read_columns(folder, ["step", "tokens", *measures]).to_pandas()


def arm_settings(arm: ArmRecord) -> dict[str, JsonValue]:
    """An arm's settings as flat columns, without seeds and diagnostics."""
    return flatten({key: value for key, value in arm.settings.items() if key not in NOT_SETTINGS})


def _trial_row(
    trial: TrialRecord, summary: TrialSummary | None, damage: str, excluded: Iterable[str]
) -> dict[str, JsonValue]:
    ended = summary.status if summary is not None else "damaged" if damage else "missing"
    status = "excluded" if any(trial.id.startswith(id) for id in excluded) else ended
    measured = {column: getattr(summary, column, None) for column in OF_SUMMARY}
    return {"trial": trial.id, "arm": trial.arm, "seed": trial.seed, "status": status, "ended": ended} | measured
