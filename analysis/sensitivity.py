"""How much the learning rate matters, in a study that has several."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.results import ENDED, Results

RATE, LOSS = "optimizer.lr", "val/loss"


def curves(results: Results) -> pd.DataFrame:
    """Final validation loss by learning rate: group (an arm without its rate), rate, mean, deviation, n, diverged.

    A diverged trial has the loss that its model began with, as the definition of sensitivity has it. Empty if the study
    has one rate.
    """
    levels: dict[str, dict[str, str]] = {arm: said["levels"] for arm, said in results.study["arms"].items()}
    if len({own.get(RATE) for own in levels.values()}) < 2 or LOSS not in results.measures.index:
        return pd.DataFrame()
    final, first = results.endpoint(LOSS, "final"), start(results)
    made = []
    for arm, own in levels.items():
        ended = results.trials[(results.trials.arm == arm) & (results.trials.status.isin(ENDED))]
        losses = final[arm].reindex(ended.seed).fillna(first[arm]).clip(upper=first[arm])
        group = ", ".join(f"{factor}={level}" for factor, level in own.items() if factor != RATE) or "all"
        told = {"mean": losses.mean(), "deviation": losses.std(), "n": len(losses)}
        made.append(
            {"group": group, "rate": float(own[RATE]), **told, "diverged": int((ended.status == "diverged").sum())}
        )
    order = {group: place for place, group in enumerate(dict.fromkeys(row["group"] for row in made))}
    made.sort(key=lambda row: (order[row["group"]], row["rate"]))
    return pd.DataFrame([row for row in made if row["n"]])


def start(results: Results) -> pd.Series:
    """Each arm's loss before the first step, in the mean over its trials."""
    history = results.recorded(LOSS)
    return history[history.step == 0].groupby("arm")[LOSS].mean().reindex(results.arms)


def sensitivities(results: Results) -> list[dict[str, Any]]:
    """Of each group: the best loss l* over the rates, the rate that has it, whether that lies on the grid's edge, and
    E_η[min(l(η), l₀) − l*], l₀ the loss before the first step; small is insensitive, and means nothing without l*

    Source: Wortsman et al. 2023, arXiv:2309.14322, section 2.2.
    """
    found = curves(results)
    return [
        {"group": group, **_sensitivity(own.rate.to_numpy(), own["mean"].to_numpy())}
        for group, own in (found.groupby("group", sort=False) if len(found) else [])
    ]


def _sensitivity(rates: np.ndarray, losses: np.ndarray) -> dict[str, Any]:
    best = int(np.argmin(losses))
    edge = best in (0, len(rates) - 1)
    return {
        "best": float(losses[best]),
        "rate": float(rates[best]),
        "edge": edge,
        "sensitivity": float((losses - losses[best]).mean()),
    }
