"""A study as a notebook uses it: its tables, effects, verdicts and page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from analysis.findings.verdict import verdict_table, verdicts
from analysis.page.report import write_page
from analysis.record.study_file import find_study
from analysis.statistics.effects import paired_effects
from analysis.tables.columns import effects_frame
from analysis.tables.from_frame import FrameResults, results_from_frame
from analysis.tables.results import Results, read_results


@dataclass(frozen=True)
class Study:
    """A study with its results, and everything that follows from them."""

    results: Results

    @property
    def trials(self) -> pd.DataFrame:
        """One row per arm and seed: a table of `analysis.tables.columns.Trials`, then a column per setting."""
        return self.results.trials

    @property
    def history(self) -> pd.DataFrame:
        """Every logged value of every complete trial: arm, seed, step, tokens, then a column per measure."""
        return self.results.history

    @property
    def endpoints(self) -> dict[str, pd.DataFrame]:
        """Per endpoint a table of one number per trial, seeds by arms."""
        return self.results.endpoints

    def effects(self) -> pd.DataFrame:
        """Every arm against the baseline on every endpoint: `analysis.tables.columns.Effect` rows."""
        return effects_frame(paired_effects(self.results))

    def verdicts(self) -> pd.DataFrame:
        """The effects with the expectation, the judgement and a sentence to quote."""
        return verdict_table(verdicts(self.results))

    def report(self) -> Path:
        """Write the study's page into its folder; the path of the page.

        Raises ValueError for a study of a table, which has no folder.
        """
        if isinstance(self.results, FrameResults):
            raise ValueError(
                "a study of a table has no results folder to write a page into; use its tables and verdicts"
            )
        path, _ = write_page(self.results)
        return path


def load(results: str | Path, study: str) -> Study:
    """The study with this name, or whose folder has this name, in a results folder.

    Raises FileNotFoundError if there is none, naming the studies that exist.
    """
    return Study(read_results(find_study(results, study)))


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
) -> Study:
    """A study of a table of another program; `analysis.tables.from_frame.results_from_frame` describes the parameters.

    >>> last_year = pd.DataFrame({"model": ["a", "a", "b", "b"], "run": [0, 1, 0, 1], "loss": [2.0, 2.2, 1.9, 2.1]})
    >>> study = from_frame(last_year.assign(step=10), arm="model", seed="run", endpoints={"loss": "final"})
    >>> [round(x, 3) for x in study.effects().effect]
    [-0.1]
    """
    return Study(
        results_from_frame(
            frame,
            arm=arm,
            seed=seed,
            step=step,
            endpoints=endpoints,
            baseline=baseline,
            margin=margin,
            expect=expect,
        )
    )
