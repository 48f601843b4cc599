"""Several studies on one page: their verdicts, their effects side by side, what differs between their baselines."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.findings.disclosures import disclosures, not_shown
from analysis.findings.verdict import Verdict, headline, verdict_table, verdicts, worst_judgement
from analysis.page.compare import baseline_differences, shared_trials
from analysis.page.plots import forest_plot, svg
from analysis.page.render import render
from analysis.record.files import write_text
from analysis.statistics.effects import holm_corrected
from analysis.statistics.summary import trial_environments
from analysis.tables.columns import as_rows
from analysis.tables.results import Results

LONGEST = 100  # characters of a file's name


@dataclass(frozen=True)
class JudgedStudy:
    """A study and its verdicts."""

    results: Results

    @property
    def folder(self) -> str:
        """Where it lies beside the others; a name that no other has."""
        return self.results.home.name

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """One for each arm and endpoint."""
        return verdicts(self.results)

    def row(self) -> dict[str, Any]:
        """The study in a few words."""
        states = self.results.trials.drop_duplicates("trial").status.value_counts().to_dict()
        said = {"folder": self.folder, "study": self.results.study, "states": states}
        return said | {"headline": headline(self.results, self.verdicts), "worst": worst_judgement(self.verdicts)}

    def effects(self) -> pd.DataFrame:
        """The verdicts as a table, with the study, its baseline, how endpoints are reduced, and what data it read."""
        found = verdict_table(self.verdicts)
        if found.empty:
            return found
        given = {"study": self.folder, "baseline arm": self.results.arms[0]}
        data = trial_environments(self.results).get("data", "")
        return found.assign(**given, data=data, reduction=found.endpoint.map(self.results.study["endpoints"]))


def write_overview(studies: Sequence[Results], name: str) -> Path:
    """Write the page `NAME.html` beside the studies' folders, which it links to.

    The same folders give the same bytes.
    """
    judged = [JudgedStudy(study) for study in studies]
    found = joint_effects(judged)
    shown = {
        "studies": [each.row() for each in judged],
        "effects": as_rows(found),
        "forests": forest_plots(found),
        "baselines": baseline_differences(studies),
        "missing": lines_by_study(judged, lambda each: disclosures(each.results)),
        "shared": shared_trials_notes(studies),
        "unproven": lines_by_study(judged, lambda each: not_shown(each.results, each.verdicts)),
    }
    page = studies[0].home.parent / f"{name}.html"
    write_text(page, render("overview.html", shown))
    return page


def page_name(studies: Sequence[Results]) -> str:
    """What a page of these studies is called.

    >>> from types import SimpleNamespace as Study
    >>> page_name([Study(home=Path("results/studies/norm")), Study(home=Path("results/studies/scale"))])
    'norm+scale'
    """
    name = "+".join(study.home.name for study in studies)
    digest = hashlib.sha256(name.encode()).hexdigest()[:6]
    return name if len(name) <= LONGEST else f"{len(studies)} studies {digest}"


def joint_effects(judged: Sequence[JudgedStudy]) -> pd.DataFrame:
    """The effects of all studies, with p corrected over all of them (`p_all`).

    Arms of one name stand together, so that what several studies say of a part can be read side by side.
    """
    tables = [table for each in judged if len(table := each.effects())]
    if not tables:
        return pd.DataFrame()
    found = pd.concat(tables, ignore_index=True)
    found["p_all"] = holm_corrected(found.p.astype(float).to_list())
    order = {arm: place for place, arm in enumerate(dict.fromkeys(found.arm))}
    return found.sort_values("arm", key=lambda arms: arms.map(order), kind="stable", ignore_index=True)


def forest_plots(found: pd.DataFrame) -> list[dict[str, Any]]:
    """A drawing for each endpoint, of studies that reduce it alike and read the same data."""
    drawn: list[dict[str, Any]] = []
    groups = found.groupby(["endpoint", "reduction", "data"], sort=False) if len(found) else ()
    for (endpoint, reduction, _), own in groups:
        labelled = own.assign(label=own.arm + " · " + own.study)
        figure = forest_plot(labelled, str(endpoint), list(dict.fromkeys(found.arm)), None)
        told = f"{endpoint} ({reduction}) of {', '.join(own.study.unique())}"
        drawn.append({"drawing": svg(figure), "told": told})
    return drawn


def shared_trials_notes(studies: Sequence[Results]) -> list[str]:
    """Studies that refer to the same trials: what they say is not independent."""
    both = {f"{a.home.name} and {b.home.name}": shared_trials(a, b) for a, b in combinations(studies, 2)}
    return [f"{two} as if they were independent: they have {n} trials in common" for two, n in both.items() if n]


def lines_by_study(
    judged: Sequence[JudgedStudy], lines: Callable[[JudgedStudy], Sequence[str]]
) -> dict[str, list[str]]:
    """What is said of studies, and of which."""
    found: dict[str, list[str]] = {}
    for each in judged:
        for line in lines(each):
            found.setdefault(line, []).append(each.folder)
    return found
