"""Values, costs and settings of a study's arms as plain tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.record.flatten import flatten
from analysis.record.summary import read_summary
from analysis.tables.results import Results, arm_settings

COSTS = ["tokens", "cpu_seconds", "peak_memory_mb"]


def arm_values(results: Results) -> list[dict[str, Any]]:
    """Mean, standard deviation over seeds and n of each arm on each endpoint."""
    columns = {(measure, arm): table[arm] for measure, table in results.endpoints.items() for arm in results.arms}
    return [
        {"arm": arm, "endpoint": measure, "mean": values.mean(), "deviation": values.std(), "n": int(values.count())}
        for (measure, arm), values in columns.items()
    ]


def arm_costs(results: Results) -> list[dict[str, Any]]:
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


def settings_that_differ(results: Results) -> dict[str, list[Any]]:
    """Settings that are not the same in all arms: a row a setting, a value an arm, None where it has none."""
    return differing_settings([arm_settings(arm) for arm in results.study["arms"].values()])


def differing_settings(configurations: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Settings in which flat configurations differ, a value each; None where one has none."""
    found = {key: [each.get(key) for each in configurations] for key in sorted({k for c in configurations for k in c})}
    return {key: values for key, values in found.items() if len({str(value) for value in values}) > 1}


def trial_environments(results: Results) -> dict[str, str]:
    """What the trials ran on and with; every value that was found where they differ."""
    found = [read_summary(results.trial_folder(trial)) for trial in results.trials.trial.drop_duplicates()]
    flat = [
        flatten({**s["versions"], "data": s["data"]["content"], "code": s["code"], "git": s["git"]}) for s in found if s
    ]
    return {key: " / ".join(sorted({str(each[key]) for each in flat})) for key in (flat[0] if flat else {})}
