"""Two linear maps around a GELU."""

from torch import nn

from components.domains import Positive
from components.ffn import TwoLayer, ffns


@ffns.register("gelu")
def gelu(width: int, *, expansion: Positive = 4.0, bias: bool = False) -> nn.Module:
    """W₂ gelu(W₁ x) with a hidden width of expansion · D

    Source: Hendrycks & Gimpel 2016, arXiv:1606.08415; in Transformers, Radford et al. 2018 (GPT).
    """
    return TwoLayer(width, round(expansion * width), nn.GELU(), bias)
