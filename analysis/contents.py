"""What a study's page shows, as plain tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.frame import rows
from analysis.results import Results, own_settings, summary
from analysis.settings import settings

COSTS = ["tokens", "cpu_seconds", "peak_memory_mb"]


def absolute(results: Results) -> list[dict[str, Any]]:
    """Mean, standard deviation over seeds and n of each arm on each endpoint."""
    columns = {(measure, arm): table[arm] for measure, table in results.endpoints.items() for arm in results.arms}
    return [
        {"arm": arm, "endpoint": measure, "mean": values.mean(), "deviation": values.std(), "n": int(values.count())}
        for (measure, arm), values in columns.items()
    ]


def costs(results: Results) -> list[dict[str, Any]]:
    """Each arm's size against the baseline's, and what its trials took in the mean."""
    trials = dict(list(results.trials.groupby("arm")))
    arms = results.study["arms"]
    base = arms[results.arms[0]]
    return [
        {"arm": arm, "parameters": said["parameters"], "more": said["parameters"] / base["parameters"] - 1}
        | {"flops": said["flops"], "more_flops": said["flops"] / base["flops"] - 1}
        | {column: trials[arm][column].mean() for column in COSTS}
        | {"status": trials[arm].status.value_counts().to_dict()}
        for arm, said in arms.items()
    ]


def differences(results: Results) -> dict[str, list[Any]]:
    """Settings that are not the same in all arms: a row a setting, a value an arm, None where it has none."""
    return unlike([own_settings(arm) for arm in results.study["arms"].values()])


def unlike(configurations: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Settings in which flat configurations differ, a value each; None where one has none."""
    found = {key: [each.get(key) for each in configurations] for key in sorted({k for c in configurations for k in c})}
    return {key: values for key, values in found.items() if len({str(value) for value in values}) > 1}


def pairing(results: Results) -> str:
    """What two trials of one seed have in common, in a sentence."""
    roots = {setting.partition(".")[0] if setting != "model.context" else setting for setting in differences(results)}
    if "seed_offset" in roots:
        return "pairs have no seed in common: they are numbered alike, and nothing more"
    if roots & {"data", "batch_size", "model.context"}:
        return "paired by seed: both share every weight that the arm leaves alone; what they read differs with the arm"
    return "paired by seed: both saw the same tokens and share every weight that the arm leaves alone"


def provenance(results: Results) -> dict[str, str]:
    """What the trials ran on and with; every value that was found where they differ."""
    found = [summary(results.folder(trial)) for trial in results.trials.trial.drop_duplicates()]
    flat = [
        settings({**s["versions"], "data": s["data"]["content"], "code": s["code"], "git": s["git"]})
        for s in found
        if s
    ]
    return {key: " / ".join(sorted({str(each[key]) for each in flat})) for key in (flat[0] if flat else {})}


def exclusions(results: Results) -> list[dict[str, Any]]:
    """Each effect without and with the trials that the study excludes."""
    if not results.study.get("exclude"):
        return []
    without, whole = results.effects(), results.whole().effects()
    return [{**row, "whole": other} for row, other in zip(rows(without), rows(whole), strict=True)]
