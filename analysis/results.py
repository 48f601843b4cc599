"""A results folder as tables."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, get_type_hints

import pandas as pd
import pyarrow.parquet as pq
import yaml

from analysis.frame import Trials, rows
from analysis.reduction import reducer, unknown
from analysis.settings import settings

HISTORY = "history.parquet"
ENDED = ("finished", "diverged")
NOT_SETTINGS = ("diagnostic", "seed", "init_seed", "data_seed")


@dataclass(frozen=True)
class Results:
    """A study and what its trials recorded.

    `study` is the study as it was run; `trials` a table of `analysis.frame.Trials`; `measures` the unit,
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

    def unit(self, measure: str) -> str:
        """A measure's unit; empty where it is a bare number."""
        unit = self.measures.unit.get(measure, "share of trials")
        return "" if unit == "1" else unit

    def labelled(self, measure: str) -> str:
        """A measure with its unit, as axes and columns name it."""
        return f"{measure} ({unit})" if (unit := self.unit(measure)) else measure

    def whole(self) -> "Results":
        """The same with the trials that the study excludes."""
        return replace(self, trials=self.trials.assign(status=self.trials.ended))

    def folder(self, trial: str) -> Path:
        """Where a trial lies."""
        return self.home.parents[1] / "trials" / trial

    @cached_property
    def history(self) -> pd.DataFrame:
        """Every logged value of every complete trial: arm, seed, step, tokens, then a column for each measure."""
        return self.recorded(*self.measures.index)

    def recorded(self, *measures: str) -> pd.DataFrame:
        """The history of some measures, which is quicker than of all; NaN where a trial never measured one."""
        complete = rows(self.trials[self.trials.status.isin(ENDED)])
        found = [_columns(self.folder(t["trial"]), measures).assign(arm=t["arm"], seed=t["seed"]) for t in complete]
        columns = dict.fromkeys(("arm", "seed", "step", "tokens", *measures))
        table = pd.concat(found, ignore_index=True) if found else pd.DataFrame()
        return table.reindex(columns=list(columns)).astype(dict.fromkeys(measures, float))

    @cached_property
    def endpoints(self) -> dict[str, pd.DataFrame]:
        """For each endpoint one number a trial, seeds by arms; NaN where a trial diverged or is missing."""
        return {measure: self.endpoint(measure, reduction) for measure, reduction in self.study["endpoints"].items()}

    def effects(self) -> pd.DataFrame:
        """Every arm against the baseline on every endpoint: a table of `analysis.frame.Effects`."""
        from analysis.effect import effects  # which stands on this module

        return effects(self)

    def verdicts(self) -> pd.DataFrame:
        """The effects with what was expected of each, the judgement and a sentence to quote."""
        from analysis.verdict import frame, verdicts  # which stand on this module

        return frame(verdicts(self))

    def endpoint(self, measure: str, reduction: str) -> pd.DataFrame:
        """One number a trial, seeds by arms; NaN where a trial diverged, is missing, or has no finite one.

        Who diverged or never got there has not `solved` a task, and took all its steps (`steps_to_solve` is censored
        there). Of a measure that depends on what else runs on a device, NaN too where the trial shared it, or may have.
        """
        values = {(t["arm"], t["seed"]): self._value(t, measure, reduction) for t in rows(self.trials)}
        return pd.Series(values, dtype=float).unstack(0).reindex(columns=self.arms)

    def _value(self, trial: Mapping[str, Any], measure: str, reduction: str) -> float:
        if measure == "diverged":
            return float(trial["status"] == "diverged") if trial["status"] in ENDED else float("nan")
        never = {"solved": 0.0, "steps_to_solve": trial.get("trainer.max_steps")}.get(measure)
        value = float("nan")
        alone = self.measures.repeats.get(measure) != "alone" or trial["beside"] == 0
        if trial["status"] == "finished" and alone:
            value = reduced(self.folder(trial["trial"]), measure, reduction)
        if trial["status"] in ENDED and never is not None and math.isnan(value):
            return float(never)
        return value if math.isfinite(value) else float("nan")


def load(results: str | Path, study: str) -> Results:
    """The study called `study`, by its folder or by its own name, in a results folder.

    Raises FileNotFoundError if it has none of that name, naming those it has.
    """
    return opened(found(results, study))


def names(results: str | Path) -> list[str]:
    """The folders of all studies. Raises FileNotFoundError if there is none."""
    there = sorted(path.parent.name for path in Path(results).glob("studies/*/study.yaml"))
    if not Path(results).exists():
        raise FileNotFoundError(f"there is no folder {Path(results).absolute()}; name another: --results FOLDER")
    if not there:
        raise FileNotFoundError(f"{Path(results).absolute()} holds no study; name another folder: --results FOLDER")
    return there


def found(results: str | Path, study: str) -> Path:
    """The folder of a study, by its own name or by its folder's.

    Raises FileNotFoundError if there is none of that name, naming those there are.
    """
    homes = {name: Path(results, "studies", name) for name in names(results)}
    if study in homes:
        return homes[study]
    named = {read_study(home)["name"]: home for home in homes.values()}
    if study not in named:
        raise FileNotFoundError(f"{results}: {unknown('study', study, homes)}")
    return named[study]


def read_study(home: Path) -> dict[str, Any]:
    """The study as it was run."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # a thousand trials take the other seconds
    return yaml.load((home / "study.yaml").read_text(encoding="utf-8"), Loader=loader)


def opened(home: Path) -> Results:
    """The study in a folder `results/studies/<name>`."""
    study = read_study(home)
    arms = {label: own_settings(arm) for label, arm in study["arms"].items()}
    trials = pd.DataFrame(
        [
            _trial(home.parents[1] / "trials" / row["id"], row, arms[row["arm"]], study.get("exclude", {}))
            for row in study["trials"]
        ]
    )
    measures: dict[str, dict[str, str]] = {}
    for trial in trials.trial[trials.ended != "missing"].drop_duplicates():
        measures |= _measures(home.parents[1] / "trials" / trial)
    columns = ["unit", "better", "reduction", "repeats"]
    return Results(home, study, Trials.check(trials), pd.DataFrame.from_dict(measures, orient="index", columns=columns))


def summary(folder: Path) -> dict[str, Any] | None:
    """What a complete trial says of itself; None while it is not."""
    path = folder / "summary.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def reduced(folder: Path, measure: str, reduction: str) -> float:
    """A trial's endpoint; NaN if it never measured it."""
    reduce = reducer(reduction)
    with pq.ParquetFile(folder / HISTORY) as file:
        if measure not in file.schema_arrow.names:
            return float("nan")
        values = file.read(columns=[measure])[measure].to_pandas().dropna()
    return float(reduce(values)) if len(values) else float("nan")


def _columns(folder: Path, measures: Iterable[str]) -> pd.DataFrame:
    """A trial's steps, tokens and these measures, as far as it has them."""
    with pq.ParquetFile(folder / HISTORY) as file:
        there = set(file.schema_arrow.names)
        wanted = ["step", "tokens", *(name for name in measures if name in there)]
        return file.read(columns=wanted).to_pandas()


def own_settings(arm: Mapping[str, Any]) -> dict[str, Any]:
    """An arm's settings as flat columns, without seeds and diagnostics."""
    return settings({key: value for key, value in arm["settings"].items() if key not in NOT_SETTINGS})


def _trial(folder: Path, row: Mapping[str, Any], arm: Mapping[str, Any], excluded: Iterable[str]) -> dict[str, Any]:
    said = summary(folder) or {"status": "missing"}
    columns = {column: said.get(column) for column in (*get_type_hints(Trials), "diverged_step")}
    columns["ended"] = said["status"]
    columns["status"] = "excluded" if any(row["id"].startswith(str(id)) for id in excluded) else said["status"]
    return columns | {"trial": row["id"], "arm": row["arm"], "seed": row["seed"], **arm}


def _measures(folder: Path) -> dict[str, dict[str, str]]:
    fields = [field for field in pq.read_schema(folder / HISTORY) if field.metadata]
    return {field.name: {key.decode(): value.decode() for key, value in field.metadata.items()} for field in fields}
