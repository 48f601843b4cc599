"""Fair sizes: what an arm costs, and an FFN width that makes it cost what the baseline does."""

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from components.model import Decoder
from components.registry import unknown

KEPT = 0.01  # an arm this near to the baseline keeps its width, and so its weights and their pairing


def parameters(model: Decoder) -> float:
    """Weights, tied ones once."""
    return float(sum(p.numel() for p in model.parameters()))


def training_flops(model: Decoder) -> float:
    """Floating point operations for each token of training, forward and backward, attention over all of T².

    Counted by torch on the meta device; for a dense decoder 6N + 12 L D T with N the weights in matrix products.
    """
    tokens = torch.zeros(1, model.sizes.context, dtype=torch.long, device="meta")
    with FlopCounterMode(display=False) as counter:
        model(tokens).sum().backward()
    return counter.get_total_flops() / model.sizes.context


BUDGETS: dict[str, Callable[[Decoder], float]] = {"parameters": parameters, "flops": training_flops}


def cost_of(budget: str) -> Callable[[Decoder], float] | None:
    """What is to be equal; nothing for `none`. Raises ValueError for a word that is no budget."""
    if budget == "none":
        return None
    if budget not in BUDGETS:
        raise ValueError(unknown("budget", budget, ["none", *BUDGETS]))
    return BUDGETS[budget]


def matched(config: dict[str, Any], build: Callable[[dict[str, Any]], float], target: float) -> dict[str, Any]:
    """The configuration with the FFN's expansion at which `build`, the cost of a configuration, is nearest to `target`.

    It stays as it is where it is within 1 %, and where its FFN has no width that could be changed.
    """
    if abs(build(config) / target - 1) <= KEPT or "expansion" not in config["ffn"]:
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
