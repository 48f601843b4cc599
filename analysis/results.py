"""A results folder as tables."""

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import yaml

from analysis.frame import Trials
from analysis.reduction import reducer

NOT_SETTINGS = ("study", "runtime", "diagnostic", "label", "trial", "seed", "init_seed", "data_seed")


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

    @cached_property
    def history(self) -> pd.DataFrame:
        """Every logged value of every complete trial: arm, seed, step, tokens, then a column for each measure."""
        complete = self.trials[self.trials.status != "missing"]
        rows = [_history(self.home, t.trial).assign(arm=t.arm, seed=t.seed) for t in complete.itertuples()]
        return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame({"arm": [], "seed": [], "step": [], "tokens": []})

    def endpoint(self, measure: str, reduction: str) -> pd.DataFrame:
        """One number for each trial, seeds by arms; NaN where a trial diverged or is missing."""
        values = {(t.arm, t.seed): self._value(t, measure, reduction) for t in self.trials.itertuples()}
        table = pd.Series(values, dtype=float).unstack(0)
        return table.reindex(columns=self.arms)

    def _value(self, trial: Any, measure: str, reduction: str) -> float:
        if measure == "diverged":
            return float("nan") if trial.status == "missing" else float(trial.status == "diverged")
        return reduced(self.home.parents[1] / "trials" / trial.trial, measure, reduction) if trial.status == "finished" else float("nan")


def load(results: str | Path, study: str) -> Results:
    """The study called `study` in a results folder.

    Raises FileNotFoundError if it has none of that name, naming those it has.
    """
    studies = Path(results) / "studies"
    if not (studies / study / "study.yaml").exists():
        known = sorted(path.parent.name for path in studies.glob("*/study.yaml"))
        near = difflib.get_close_matches(study, known, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise FileNotFoundError(f"{results} has no study {study!r}{hint}; it has: {', '.join(known) or 'none'}")
    return opened(studies / study)


def opened(home: Path) -> Results:
    """The study in a folder `results/studies/<name>`."""
    study = yaml.safe_load((home / "study.yaml").read_text(encoding="utf-8"))
    trials = pd.DataFrame([_trial(home.parents[1] / "trials" / row["id"], row) for row in study["trials"]])
    measures: dict[str, dict[str, str]] = {}
    for trial in trials.trial[trials.status != "missing"].drop_duplicates():
        measures |= _measures(home.parents[1] / "trials" / trial)
    return Results(home, study, Trials.check(trials), pd.DataFrame.from_dict(measures, orient="index", columns=["unit", "better", "reduction"]))


def reduced(folder: Path, measure: str, reduction: str) -> float:
    """A trial's endpoint; NaN if it never measured it."""
    reduce = reducer(reduction)
    if measure not in pq.read_schema(folder / "history.parquet").names:
        return float("nan")
    values = pq.read_table(folder / "history.parquet", columns=[measure])[measure].to_pandas().dropna()
    return float(reduce(values)) if len(values) else float("nan")


def settings(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """A configuration as flat columns; a part's name stands under its kind.

    >>> settings({"norm": {"name": "rmsnorm", "eps": 1e-5}, "batch_size": 16})
    {'norm': 'rmsnorm', 'norm.eps': 1e-05, 'batch_size': 16}
    """
    flat: dict[str, Any] = {}
    for key, value in config.items():
        path = prefix if key == "name" and prefix else f"{prefix}.{key}".lstrip(".")
        flat |= settings(value, path) if isinstance(value, dict) else {path: value}
    return flat


def _trial(folder: Path, row: Mapping[str, Any]) -> dict[str, Any]:
    config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    path = folder / "summary.json"
    summary = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"status": "missing"}
    columns = {key: summary.get(key) for key in ("status", "parameters", "tokens", "cpu_seconds", "peak_memory_mb", "diverged_step")}
    asked = {key: value for key, value in config.items() if key not in NOT_SETTINGS}
    return {"trial": row["id"], "arm": row["arm"], "seed": row["seed"], **columns, **settings(asked)}


def _measures(folder: Path) -> dict[str, dict[str, str]]:
    fields = [field for field in pq.read_schema(folder / "history.parquet") if field.metadata]
    return {field.name: {key.decode(): value.decode() for key, value in field.metadata.items()} for field in fields}


def _history(home: Path, trial: str) -> pd.DataFrame:
    return pd.read_parquet(home.parents[1] / "trials" / trial / "history.parquet")
