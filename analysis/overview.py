"""Several studies on one page: their verdicts, their effects side by side, what differs between their baselines."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from analysis import limits, plots
from analysis.compare import baselines, common
from analysis.contents import provenance
from analysis.effect import holm
from analysis.files import write
from analysis.frame import rows
from analysis.render import render
from analysis.results import Results
from analysis.verdict import Verdict, frame, headline, verdicts, worst

LONGEST = 100  # characters of a file's name


@dataclass(frozen=True)
class Judged:
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

    def told(self) -> dict[str, Any]:
        """The study in a few words."""
        states = self.results.trials.drop_duplicates("trial").status.value_counts().to_dict()
        said = {"folder": self.folder, "study": self.results.study, "states": states}
        return said | {"headline": headline(self.results, self.verdicts), "worst": worst(self.verdicts)}

    def effects(self) -> pd.DataFrame:
        """The verdicts as a table, with the study, its baseline, how endpoints are reduced, and what data it read."""
        found = frame(self.verdicts)
        if found.empty:
            return found
        given = {"study": self.folder, "baseline arm": self.results.arms[0]}
        data = provenance(self.results).get("data", "")
        return found.assign(**given, data=data, reduction=found.endpoint.map(self.results.study["endpoints"]))


def write_overview(studies: Sequence[Results], name: str) -> Path:
    """Write the page `NAME.html` beside the studies' folders, which it links to.

    The same folders give the same bytes.
    """
    judged = [Judged(study) for study in studies]
    found = effects(judged)
    shown = {
        "studies": [each.told() for each in judged],
        "effects": rows(found),
        "forests": forests(found),
        "baselines": baselines(studies),
        "missing": said(judged, lambda each: limits.reservations(each.results)),
        "shared": shared(studies),
        "unproven": said(judged, lambda each: limits.unproven(each.results, each.verdicts)),
    }
    page = studies[0].home.parent / f"{name}.html"
    write(page, render("overview.html", shown))
    return page


def named(studies: Sequence[Results]) -> str:
    """What a page of these studies is called.

    >>> from types import SimpleNamespace as Study
    >>> named([Study(home=Path("results/studies/norm")), Study(home=Path("results/studies/scale"))])
    'norm+scale'
    """
    name = "+".join(study.home.name for study in studies)
    digest = hashlib.sha256(name.encode()).hexdigest()[:6]
    return name if len(name) <= LONGEST else f"{len(studies)} studies {digest}"


def effects(judged: Sequence[Judged]) -> pd.DataFrame:
    """The effects of all studies, with p corrected over all of them (`p_all`).

    Arms of one name stand together, so that what several studies say of a part can be read side by side.
    """
    tables = [table for each in judged if len(table := each.effects())]
    if not tables:
        return pd.DataFrame()
    found = pd.concat(tables, ignore_index=True)
    found["p_all"] = holm(found.p.astype(float).to_list())
    order = {arm: place for place, arm in enumerate(dict.fromkeys(found.arm))}
    return found.sort_values("arm", key=lambda arms: arms.map(order), kind="stable", ignore_index=True)


def forests(found: pd.DataFrame) -> list[dict[str, Any]]:
    """A drawing for each endpoint, of studies that reduce it alike and read the same data."""
    drawn: list[dict[str, Any]] = []
    groups = found.groupby(["endpoint", "reduction", "data"], sort=False) if len(found) else ()
    for (endpoint, reduction, _), own in groups:
        labelled = own.assign(label=own.arm + " · " + own.study)
        figure = plots.forest(labelled, str(endpoint), list(dict.fromkeys(found.arm)), None)
        told = f"{endpoint} ({reduction}) of {', '.join(own.study.unique())}"
        drawn.append({"drawing": plots.svg(figure), "told": told})
    return drawn


def shared(studies: Sequence[Results]) -> list[str]:
    """Studies that refer to the same trials: what they say is not independent."""
    both = {f"{a.home.name} and {b.home.name}": common(a, b) for a, b in combinations(studies, 2)}
    return [f"{two} as if they were independent: they have {n} trials in common" for two, n in both.items() if n]


def said(judged: Sequence[Judged], lines: Callable[[Judged], Sequence[str]]) -> dict[str, list[str]]:
    """What is said of studies, and of which."""
    found: dict[str, list[str]] = {}
    for each in judged:
        for line in lines(each):
            found.setdefault(line, []).append(each.folder)
    return found
