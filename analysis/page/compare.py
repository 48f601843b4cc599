"""Two studies side by side: `knockout compare A B`."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from analysis.page.format import signed_number
from analysis.statistics.comparability import comparable_arms, facets_apart
from analysis.statistics.effects import welch_interval
from analysis.statistics.summary import differing_settings
from analysis.tables.results import Results, arm_settings


def compared_effects(first: Results, second: Results) -> pd.DataFrame:
    """Arms and endpoints that both have: each study's effect and interval, and the difference of the effects.

    The studies' seeds are not paired with each other: `low` and `high` of the difference are those of Welch's interval.
    Left out is what either study does not compare, or what means another thing in the other.
    Raises ValueError if they have nothing in common.
    """
    rows = []
    alike = first.study["endpoints"].items() & second.study["endpoints"].items()  # reduced alike too
    for endpoint in (name for name, _ in alike):
        about, meanings = first.about(endpoint), [r.meanings.get(r.arms[0], {}) for r in (first, second)]
        both = {*comparable_arms(first, endpoint)} & {*comparable_arms(second, endpoint)}
        if facets_apart(about, meanings[0], meanings[1]):
            continue
        for arm in (arm for arm in first.arms[1:] if arm in second.arms[1:] and arm in both):
            changes = [r.endpoints[endpoint][arm] - r.endpoints[endpoint][r.arms[0]] for r in (first, second)]
            rows.append({"arm": arm, "endpoint": endpoint, **welch_interval(*(change.dropna() for change in changes))})
    if not rows:
        has = (f"{r.study['name']} has {', '.join(r.arms[1:])}" for r in (first, second))
        raise ValueError(f"the studies share no arm with an endpoint that means the same in both: {'; '.join(has)}")
    return pd.DataFrame(rows).sort_values(["endpoint", "arm"], ignore_index=True)


def comparison_lines(first: Results, second: Results) -> str:
    """The table as lines for a terminal."""
    found = compared_effects(first, second)
    names = [r.study["name"] for r in (first, second)]
    shown = pd.DataFrame({
        "arm": found.arm, "endpoint": found.endpoint,
        names[0]: found["first"].map(signed_number), f"{names[1]} ": found["second"].map(signed_number),
        "difference": found.difference.map(signed_number),
        "95 % interval": found.low.map(signed_number) + " to " + found.high.map(signed_number),
    })  # fmt: skip
    return shown.to_string(index=False)


def shared_trials(first: Results, second: Results) -> int:
    """How many trials both studies refer to: with any, what they say is not independent."""
    return len({*first.trials.trial} & {*second.trials.trial})


def baseline_differences(studies: Sequence[Results]) -> dict[str, list[Any]]:
    """Settings in which the studies' baselines differ, a value a study; None where one has none."""
    return differing_settings([arm_settings(study.study["arms"][study.arms[0]]) for study in studies])


def settings_lines(first: Results, second: Results) -> str:
    """What differs between the two baselines, as lines for a terminal."""
    lines = [
        f"  {key}: {' → '.join(map(str, values))}" for key, values in baseline_differences([first, second]).items()
    ]
    return "\n".join(["their baselines differ in:", *lines]) if lines else "their baselines have the same settings"
