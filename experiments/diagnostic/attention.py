"""What queries look at: how evenly, how surely, how hard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from components.attention.softmax import Softmax
from components.model import Decoder
from experiments.diagnostic import Look, diagnostics
from experiments.measure import Measure
from experiments.observe import Read, Seen, reading

if TYPE_CHECKING:
    from experiments.task import LanguageModeling

UNITS = {"entropy": "share of ln n", "saturation": "1", "max_logit": "1"}


@diagnostics.register("attention")
class AttentionShares(Look):
    """Of each query's shares p of the n > 1 keys that it may see, in every layer and on the whole: entropy H(p) / ln n;
    saturation, the largest p; the largest logit q·k; the median Frobenius norm of softmax's Jacobian diag(p) − p pᵀ

    Mean over queries, heads and sequences; `entropy_minimum` is the mean of the head with the least. The logit is
    scaled and without the bias of mask and position; shares of cores that are no softmax are divided by their sum.
    Source: Zhai et al. 2023, arXiv:2303.06296, section 3.1; logits, Dehghani et al. 2023, arXiv:2302.05442.
    """

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """For each layer that attends, and the whole."""
        cores = reading(model)
        suffixes = ["", *(f"/{place}" for place in cores)] if cores else []
        named = [(f"attention/{name}{end}", unit) for name, unit in UNITS.items() for end in suffixes]
        found = [Measure(name, unit, reduction="median") for name, unit in named]
        soft = [f"/{place}" for place, core in cores.items() if isinstance(core, Softmax)]
        found += [Measure(f"attention/jacobian{end}", "1", reduction="median") for end in ["", *soft] if soft]
        least = [Measure("attention/entropy_minimum", UNITS["entropy"], reduction="median")] if cores else []
        return [*found, *least]

    def on_look(self, task: LanguageModeling, seen: Seen) -> None:
        if not seen.reads:
            return
        found = {place: statistics(read) for place, read in seen.reads.items()}
        for name in (*UNITS, "jacobian"):
            values = {place: each[name] for place, each in found.items() if name in each}
            for place, value in values.items():
                task.recorder.record(f"attention/{name}/{place}", value)
            if values:
                every = torch.stack(list(values.values()))
                task.recorder.record(f"attention/{name}", every.max() if name == "max_logit" else every.mean())
        least = torch.stack([each["entropy_minimum"] for each in found.values()]).min()
        task.recorder.record("attention/entropy_minimum", least)


def statistics(read: Read) -> dict[str, Tensor]:
    """One layer's numbers, in float32; NaN where no query sees two keys or all shares are zero."""
    visible, shares = read.visible(), read.shares().float()
    seen = visible.sum(-1).expand(shares.shape[:-1])
    total = shares.sum(-1)
    p = shares / total.unsqueeze(-1)
    judged = (seen > 1) & (total > 0)
    entropy = torch.special.entr(p).sum(-1) / seen.clamp_min(2).log()
    logits = (read.q @ read.k.transpose(-2, -1)).float().masked_fill(~visible, -torch.inf)
    found = {
        "entropy": entropy[judged].mean(),
        "entropy_minimum": torch.where(judged, entropy, torch.nan).nanmean(dim=(0, 2)).nan_to_num(torch.inf).min(),
        "saturation": p.amax(-1)[judged].mean(),
        "max_logit": logits.max(),
    }
    return found | ({"jacobian": jacobian_norm(p)[judged].median()} if isinstance(read.core, Softmax) else {})


def jacobian_norm(p: Tensor) -> Tensor:
    """‖diag(p) − p pᵀ‖_F = √(Σp² − 2Σp³ + (Σp²)²) over the last axis.

    >>> round(jacobian_norm(torch.tensor([0.5, 0.5])).item(), 6)  # a tie of two, where it is largest
    0.5
    """
    squares, cubes = p.square().sum(-1), p.pow(3).sum(-1)
    return (squares - 2 * cubes + squares.square()).clamp_min(0).sqrt()
