"""Match an arm's size to the baseline's by its FFN width."""

import copy
from collections.abc import Callable
from typing import Any

from components.model import Decoder
from components.registry import unknown
from experiments.instruments.cost import count_parameters, training_flops

KEPT_WITHIN = 0.01  # an arm this near to the baseline keeps its width, and so its weights and their pairing


BUDGETS: dict[str, Callable[[Decoder], float]] = {"parameters": count_parameters, "flops": training_flops}


def cost_of(budget: str) -> Callable[[Decoder], float] | None:
    """What is to be equal; nothing for `none`. Raises ValueError for a word that is no budget."""
    if budget == "none":
        return None
    if budget not in BUDGETS:
        raise ValueError(unknown("budget", budget, ["none", *BUDGETS]))
    return BUDGETS[budget]


def match_size(config: dict[str, Any], build: Callable[[dict[str, Any]], float], target: float) -> dict[str, Any]:
    """The configuration with the FFN's expansion at which `build`, the cost of a configuration, is nearest to `target`.

    It stays as it is where it is within 1 %, and where its FFN has no width that could be changed.
    """
    if abs(build(config) / target - 1) <= KEPT_WITHIN or "expansion" not in config["ffn"]:
        return config

    def widened(hidden: int) -> dict[str, Any]:
        changed = copy.deepcopy(config)
        changed["ffn"]["expansion"] = hidden / config["model"]["width"]
        return changed

    low, high = 1, 64 * config["model"]["width"]
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if build(widened(middle)) <= target else (low, middle)
    return min((widened(low), widened(high)), key=lambda each: abs(build(each) - target))
