"""Two linear maps around a GELU."""

from torch import nn

from components.ffn import Approximation, TwoLayer, ffns


@ffns.register("gelu")
def gelu(
    width: int, *, expansion: float = 4.0, approximate: Approximation = Approximation.none, bias: bool = False
) -> nn.Module:
    """W₂ gelu(W₁ x) with a hidden width of expansion · D; GPT-2 and BLOOM approximate Φ by tanh, BERT and MPT do not

    Source: Hendrycks & Gimpel 2016, arXiv:1606.08415, section 2; in Transformers, Radford et al. 2018 (GPT).
    """
    return TwoLayer(width, round(expansion * width), nn.GELU(approximate), bias)
