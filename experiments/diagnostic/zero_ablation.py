"""Silence each head, sublayer and layer of the trained model."""

from experiments.ablation import Ablation
from experiments.diagnostic import diagnostics
from experiments.intervene import zero


@diagnostics.register("zero_ablation")
class ZeroAblation(Ablation):
    """Loss with a site's output at 0, less the loss without: each head of attention, each sublayer, each layer

    Source: Voita et al. 2019, arXiv:1905.09418, section 5; Michel et al. 2019, arXiv:1905.10650, section 3.
    """

    name, replacement = "zero_ablation", zero
