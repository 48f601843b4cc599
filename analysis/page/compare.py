"""Two studies side by side: `knockout compare A B`."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from analysis.page.format import signed_number
from analysis.record.plain import JsonValue
from analysis.statistics.comparability import comparable_arms, facets_apart
from analysis.statistics.effects import MeanDifference, welch_interval
from analysis.statistics.summary import differing_settings
from analysis.tables.results import Results, arm_settings


@dataclass(frozen=True)
class ComparedEffect:
    """An arm's effect on an endpoint in two studies, and the difference of the effects."""

    arm: str
    endpoint: str
    effects: MeanDifference


def compared_effects(first: Results, second: Results) -> list[ComparedEffect]:
    """Arms and endpoints that both studies have and compare, by endpoint and arm.

    The studies' seeds are not paired with each other: the interval of the difference is Welch's. An endpoint that
    measures something else in the other study is left out.
    Raises ValueError if they have nothing in common.
    """
    common = first.study.endpoints.items() & second.study.endpoints.items()  # the reductions agree too
    compared = [
        ComparedEffect(arm, endpoint, welch_interval(_changes(first, endpoint, arm), _changes(second, endpoint, arm)))
        for endpoint, _ in common
        for arm in _comparable_in_both(first, second, endpoint)
    ]
    if not compared:
        arms = (f"{study.study.name} has {', '.join(study.arms[1:])}" for study in (first, second))
        raise ValueError(f"the studies share no arm with an endpoint of the same meaning: {'; '.join(arms)}")
    return sorted(compared, key=lambda row: (row.endpoint, row.arm))


def _comparable_in_both(first: Results, second: Results, endpoint: str) -> list[str]:
    """The arms besides the baseline with an effect on an endpoint that measures the same in both studies."""
    meanings = [study.meanings.get(study.arms[0], {}) for study in (first, second)]
    if facets_apart(first.about(endpoint), *meanings):
        return []
    others = comparable_arms(second, endpoint)[1:]
    return [arm for arm in comparable_arms(first, endpoint)[1:] if arm in others]


def _changes(study: Results, endpoint: str, arm: str) -> pd.Series:
    table = study.endpoints[endpoint]
    return (table[arm] - table[study.arms[0]]).dropna()


def comparison_lines(first: Results, second: Results) -> str:
    """The compared effects as lines for a terminal."""
    rows = [
        (
            row.arm,
            row.endpoint,
            signed_number(row.effects.first),
            signed_number(row.effects.second),
            signed_number(row.effects.difference),
            f"{signed_number(row.effects.low)} to {signed_number(row.effects.high)}",
        )
        for row in compared_effects(first, second)
    ]
    header = ["arm", "endpoint", first.study.name, second.study.name, "difference", "95 % interval"]
    return pd.DataFrame(rows, columns=header).to_string(index=False)


def shared_trials(first: Results, second: Results) -> int:
    """How many trials both studies refer to: with any, their results are not independent."""
    return len({*first.trials.trial} & {*second.trials.trial})


def baseline_differences(studies: Sequence[Results]) -> dict[str, list[JsonValue]]:
    """Settings in which the studies' baselines differ: one value per study, None where it has no such setting."""
    return differing_settings([arm_settings(study.study.baseline) for study in studies])


def settings_lines(first: Results, second: Results) -> str:
    """The settings in which the two baselines differ, as lines for a terminal."""
    differences = baseline_differences([first, second])
    if not differences:
        return "their baselines have the same settings"
    lines = [f"  {key}: {' → '.join(map(str, values))}" for key, values in differences.items()]
    return "\n".join(["their baselines differ in:", *lines])
