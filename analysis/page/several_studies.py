"""Several studies on one page: their verdicts, their effects side by side, the differences of their baselines."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path

from analysis.findings.disclosures import disclosures, not_shown
from analysis.findings.verdict import Verdict, headline, verdicts, worst_judgement
from analysis.page.compare import baseline_differences, shared_trials
from analysis.page.plots import forest_plot, svg
from analysis.page.render import render
from analysis.record.files import write_text
from analysis.statistics.effects import holm_corrected
from analysis.statistics.summary import state_counts, trial_environments
from analysis.tables.results import Results

LONGEST = 100  # characters of a file's name


@dataclass(frozen=True)
class JointEffect:
    """A verdict among those of several studies; `p_all` is corrected over all of them."""

    verdict: Verdict
    study: str
    baseline: str
    reduction: str
    data: str
    p_all: float


@dataclass(frozen=True)
class JointForest:
    """A drawing of the effects on one endpoint in several studies, and its caption."""

    drawing: str
    caption: str


@dataclass(frozen=True)
class JudgedStudy:
    """A study and its verdicts."""

    results: Results

    @property
    def folder(self) -> str:
        """The name of its folder, which no other study has."""
        return self.results.home.name

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """One for each arm and endpoint."""
        return verdicts(self.results)

    @property
    def headline(self) -> str:
        """The study's main verdicts as sentences."""
        return headline(self.results, self.verdicts)

    @property
    def worst(self) -> str:
        """The judgement that deserves most attention."""
        return worst_judgement(self.verdicts)

    @property
    def states(self) -> Mapping[str, int]:
        """How many of its trials have each state."""
        return state_counts(self.results.trials.drop_duplicates("trial").status)

    def effects(self) -> list[JointEffect]:
        """Its verdicts with p not yet corrected over other studies."""
        results, data = self.results, trial_environments(self.results).get("data", "")
        return [
            JointEffect(
                verdict, self.folder, results.arms[0], results.study.endpoints[verdict.effect.endpoint], data,
                verdict.effect.p,
            )
            for verdict in self.verdicts
        ]  # fmt: skip


def write_overview(studies: Sequence[Results], name: str) -> Path:
    """Write the page `NAME.html` next to the studies' folders, which it links to.

    The same folders give the same bytes.
    """
    judged = [JudgedStudy(study) for study in studies]
    effects = joint_effects(judged)
    contents = {
        "studies": judged,
        "effects": effects,
        "forests": forest_plots(effects),
        "baselines": baseline_differences(studies),
        "missing": lines_by_study(judged, lambda study: disclosures(study.results)),
        "shared": shared_trials_notes(studies),
        "not_shown": lines_by_study(judged, lambda study: not_shown(study.results, study.verdicts)),
    }
    page = studies[0].home.parent / f"{name}.html"
    write_text(page, render("overview.html", contents))
    return page


def page_name(studies: Sequence[Results]) -> str:
    """The name of a page of these studies: their folders' names, or a digest of them where that is too long.

    >>> from types import SimpleNamespace as Study
    >>> page_name([Study(home=Path("results/studies/norm")), Study(home=Path("results/studies/scale"))])
    'norm+scale'
    """
    name = "+".join(study.home.name for study in studies)
    digest = hashlib.sha256(name.encode()).hexdigest()[:6]
    return name if len(name) <= LONGEST else f"{len(studies)} studies {digest}"


def joint_effects(judged: Sequence[JudgedStudy]) -> list[JointEffect]:
    """The effects of all studies, with p corrected over all of them.

    Arms of the same name follow each other, so that the studies can be compared arm by arm.
    """
    effects = [effect for study in judged for effect in study.effects()]
    corrected = holm_corrected([effect.p_all for effect in effects])
    effects = [replace(effect, p_all=p) for effect, p in zip(effects, corrected, strict=True)]
    arms = _arms(effects)
    return sorted(effects, key=lambda effect: arms.index(effect.verdict.effect.arm))


def forest_plots(effects: Sequence[JointEffect]) -> list[JointForest]:
    """A drawing for each endpoint, of studies that reduce it alike and read the same data."""
    groups: dict[tuple[str, str, str], list[JointEffect]] = {}
    for joint in effects:
        groups.setdefault((joint.verdict.effect.endpoint, joint.reduction, joint.data), []).append(joint)
    forests = []
    for (endpoint, reduction, _), group in groups.items():
        rows = [joint.verdict.effect for joint in group]
        labels = [f"{joint.verdict.effect.arm} · {joint.study}" for joint in group]
        names = ", ".join(dict.fromkeys(joint.study for joint in group))
        figure = forest_plot(rows, _arms(effects), None, labels)
        forests.append(JointForest(svg(figure), f"{endpoint} ({reduction}) of {names}"))
    return forests


def _arms(effects: Sequence[JointEffect]) -> list[str]:
    return list(dict.fromkeys(effect.verdict.effect.arm for effect in effects))


def shared_trials_notes(studies: Sequence[Results]) -> list[str]:
    """A sentence for each two studies that refer to the same trials."""
    counts = {(a.home.name, b.home.name): shared_trials(a, b) for a, b in combinations(studies, 2)}
    return [
        f"It does not show independent results of {first} and {second}: they have {count} trials in common."
        for (first, second), count in counts.items()
        if count
    ]


def lines_by_study(
    judged: Sequence[JudgedStudy], lines: Callable[[JudgedStudy], Sequence[str]]
) -> dict[str, list[str]]:
    """Each line with the folders of the studies that it is about."""
    folders: dict[str, list[str]] = {}
    for study in judged:
        for line in lines(study):
            folders.setdefault(line, []).append(study.folder)
    return folders
