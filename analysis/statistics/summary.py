"""Values, costs and settings of a study's arms as plain rows."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from analysis.record.flatten import flatten
from analysis.record.plain import JsonValue, Settings
from analysis.tables.results import Results, arm_settings


@dataclass(frozen=True)
class ArmValue:
    """An arm's endpoint: mean, standard deviation and number of its seeds."""

    arm: str
    endpoint: str
    mean: float
    sd: float
    n: int


@dataclass(frozen=True)
class ArmCost:
    """An arm's size and training FLOPs per token, each also relative to the baseline's minus 1, and its trials' cost.

    `tokens`, `cpu_seconds` and `peak_memory_mb` are means over trials; `states` counts the trials by status.
    """

    arm: str
    parameters: int
    more_parameters: float
    flops: float
    more_flops: float
    tokens: float
    cpu_seconds: float
    peak_memory_mb: float
    states: Mapping[str, int]


def arm_values(results: Results) -> list[ArmValue]:
    """Each arm on each endpoint."""
    return [
        ArmValue(arm, endpoint, float(table[arm].mean()), float(table[arm].std()), int(table[arm].count()))
        for endpoint, table in results.endpoints.items()
        for arm in results.arms
    ]


def arm_costs(results: Results) -> list[ArmCost]:
    """Each arm, the baseline first."""
    base = results.study.baseline
    costs = []
    for label, arm in results.study.arms.items():
        trials = results.trials[results.trials.arm == label]
        costs.append(
            ArmCost(
                arm=label,
                parameters=arm.parameters,
                more_parameters=arm.parameters / base.parameters - 1,
                flops=arm.flops,
                more_flops=arm.flops / base.flops - 1,
                tokens=float(trials.tokens.mean()),
                cpu_seconds=float(trials.cpu_seconds.mean()),
                peak_memory_mb=float(trials.peak_memory_mb.mean()),
                states=state_counts(trials.status),
            )
        )
    return costs


def state_counts(states: Iterable[str]) -> dict[str, int]:
    """How many trials have each state, the most frequent first."""
    return dict(Counter(states).most_common())


def settings_that_differ(results: Results) -> dict[str, list[JsonValue]]:
    """Settings that are not the same in all arms: one value per arm, None where an arm does not have the setting."""
    return differing_settings([arm_settings(arm) for arm in results.study.arms.values()])


def differing_settings(configurations: Sequence[Settings]) -> dict[str, list[JsonValue]]:
    """Settings in which flat configurations differ: one value per configuration, None where it has no such setting."""
    names = sorted({name for configuration in configurations for name in configuration})
    values = {name: [configuration.get(name) for configuration in configurations] for name in names}
    return {name: row for name, row in values.items() if len({str(value) for value in row}) > 1}


def trial_environments(results: Results) -> dict[str, str]:
    """The packages, data, code and git state that the trials ran with; all values where the trials differ."""
    environments = [
        flatten({**summary.versions, "data": summary.data.content, "code": summary.code, "git": summary.git})
        for summary in results.summaries.values()
    ]
    if not environments:
        return {}
    values = {name: {str(environment[name]) for environment in environments} for name in environments[0]}
    return {name: " / ".join(sorted(distinct)) for name, distinct in values.items()}
