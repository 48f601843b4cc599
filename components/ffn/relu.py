"""Two linear maps around a ReLU: the original Transformer's."""

from torch import nn

from components.ffn import TwoLayer, ffns


@ffns.register("relu")
def relu(width: int, *, expansion: float = 4.0, bias: bool = False) -> nn.Module:
    """W₂ relu(W₁ x) with a hidden width of expansion · D

    Source: Vaswani et al. 2017, arXiv:1706.03762, eq. 2.
    """
    return TwoLayer(width, round(expansion * width), nn.ReLU(), bias)
