"""Several studies on one page: their verdicts, their effects side by side, what differs between their baselines."""

import hashlib
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from analysis import limits, plots
from analysis.compare import baselines
from analysis.effect import holm
from analysis.files import write
from analysis.frame import rows
from analysis.render import render
from analysis.results import Results
from analysis.verdict import Verdict, frame, headline, verdicts

LONGEST = 100  # characters of a file's name


def write_overview(studies: Sequence[Results], name: str) -> Path:
    """Write the page `NAME.html` beside the studies' folders, which it links to.

    The same folders give the same bytes.
    """
    judged = {study.home.name: verdicts(study) for study in studies}
    found = effects(studies, judged)
    shown = {
        "studies": [_told(study, judged[study.home.name]) for study in studies],
        "effects": rows(found),
        "forests": forests(found),
        "baselines": baselines(studies),
        "shared": shared(studies),
        "unproven": unproven(studies, judged),
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


def effects(studies: Sequence[Results], judged: Mapping[str, list[Verdict]]) -> pd.DataFrame:
    """The verdicts of all studies, with `study` and `reduction`, and p corrected over all of them (`p_all`).

    Arms of one name stand together, so that what several studies say of a part can be read side by side.
    """
    tables = []
    for study in studies:
        own = frame(judged[study.home.name])
        if len(own):
            reductions = own.endpoint.map(study.study["endpoints"])
            tables.append(own.assign(study=study.study["name"], reduction=reductions))
    if not tables:
        return pd.DataFrame()
    found = pd.concat(tables, ignore_index=True)
    found["p_all"] = holm(found.p.astype(float).to_list())
    order = {arm: place for place, arm in enumerate(dict.fromkeys(found.arm))}
    return found.sort_values("arm", key=lambda arms: arms.map(order), kind="stable", ignore_index=True)


def forests(found: pd.DataFrame) -> dict[str, Any]:
    """A drawing for each endpoint that is reduced in one way, all studies in it."""
    if found.empty:
        return {}
    drawn = {}
    for (endpoint, reduction), own in found.groupby(["endpoint", "reduction"], sort=False):
        labelled = own.assign(label=own.arm + " · " + own.study)
        figure = plots.forest(labelled, str(endpoint), list(dict.fromkeys(found.arm)), None)
        drawn[f"{endpoint} ({reduction})"] = plots.svg(figure)
    return drawn


def shared(studies: Sequence[Results]) -> list[str]:
    """Studies that refer to the same trials: what they say is not independent."""
    trials = {study.study["name"]: set(study.trials.trial) for study in studies}
    both = {f"{a} and {b}": len(trials[a] & trials[b]) for a, b in combinations(trials, 2)}
    return [f"{two} as if they were independent: they have {n} trials in common" for two, n in both.items() if n]


def unproven(studies: Sequence[Results], judged: Mapping[str, list[Verdict]]) -> dict[str, list[str]]:
    """What must not be concluded, and from which studies."""
    found: dict[str, list[str]] = {}
    for study in studies:
        for line in limits.unproven(study, judged[study.home.name]):
            found.setdefault(line, []).append(study.study["name"])
    return found


def _told(study: Results, judged: list[Verdict]) -> dict[str, Any]:
    """A study in a few words."""
    ended = study.trials.drop_duplicates("trial").ended.value_counts().to_dict()
    return {"folder": study.home.name, "study": study.study, "headline": headline(study, judged), "states": ended}
