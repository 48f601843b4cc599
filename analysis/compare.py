"""Two studies side by side: `knockout compare A B`."""

import argparse
from collections.abc import Sequence
from typing import Any

import pandas as pd

from analysis.contents import unlike
from analysis.effect import welch
from analysis.results import Results, load, own_settings
from analysis.words import signed


def main(arguments: list[str]) -> None:
    """Print the effects that both studies measure, and the settings of their baselines that differ."""
    parser = argparse.ArgumentParser("knockout compare", description="Effects of two studies side by side.")
    parser.add_argument("studies", nargs=2, metavar="STUDY", help="their names")
    parser.add_argument("--results", default="results", help="the results folder (default: results)")
    given = parser.parse_args(arguments)
    first, second = (load(given.results, name) for name in given.studies)
    if first.home == second.home:
        raise ValueError(f"{first.study['name']} is compared with itself; name two studies")
    print(f"{told(first, second)}\n{settings(first, second)}")
    if both := common(first, second):
        print(f"they have {both} trials in common, so that intervals of independent studies mean little")


def table(first: Results, second: Results) -> pd.DataFrame:
    """Arms and endpoints that both have: each study's effect and interval, and the difference of the effects.

    The studies' seeds are not paired with each other: `low` and `high` of the difference are those of Welch's interval.
    Raises ValueError if they have nothing in common.
    """
    rows = []
    alike = first.study["endpoints"].items() & second.study["endpoints"].items()  # reduced alike too
    for endpoint in (name for name, _ in alike):
        for arm in (arm for arm in first.arms[1:] if arm in second.arms[1:]):
            changes = [r.endpoints[endpoint][arm] - r.endpoints[endpoint][r.arms[0]] for r in (first, second)]
            rows.append({"arm": arm, "endpoint": endpoint, **welch(*(change.dropna() for change in changes))})
    if not rows:
        has = (f"{r.study['name']} has {', '.join(r.arms[1:])}" for r in (first, second))
        raise ValueError(f"the studies share no arm with an endpoint: {'; '.join(has)}")
    return pd.DataFrame(rows).sort_values(["endpoint", "arm"], ignore_index=True)


def told(first: Results, second: Results) -> str:
    """The table as lines for a terminal."""
    found = table(first, second)
    names = [r.study["name"] for r in (first, second)]
    shown = pd.DataFrame({
        "arm": found.arm, "endpoint": found.endpoint,
        names[0]: found["first"].map(signed), f"{names[1]} ": found["second"].map(signed),
        "difference": found.difference.map(signed),
        "95 % interval": found.low.map(signed) + " to " + found.high.map(signed),
    })  # fmt: skip
    return shown.to_string(index=False)


def common(first: Results, second: Results) -> int:
    """How many trials both studies refer to: with any, what they say is not independent."""
    return len({*first.trials.trial} & {*second.trials.trial})


def baselines(studies: Sequence[Results]) -> dict[str, list[Any]]:
    """Settings in which the studies' baselines differ, a value a study; None where one has none."""
    return unlike([own_settings(study.study["arms"][study.arms[0]]) for study in studies])


def settings(first: Results, second: Results) -> str:
    """What differs between the two baselines, as lines for a terminal."""
    lines = [f"  {key}: {' → '.join(map(str, values))}" for key, values in baselines([first, second]).items()]
    return "\n".join(["their baselines differ in:", *lines]) if lines else "their baselines have the same settings"
