"""Two linear maps around a SiLU."""

from torch import nn

from components.ffn import TwoLayer, ffns


@ffns.register("silu")
def silu(width: int, *, expansion: float = 4.0, bias: bool = False) -> nn.Module:
    """W₂ silu(W₁ x) with a hidden width of expansion · D

    Source: Elfwing et al. 2017, arXiv:1702.03118; as Swish in Transformers, Shazeer 2020, arXiv:2002.05202, eq. 3.
    """
    return TwoLayer(width, round(expansion * width), nn.SiLU(), bias)
