"""The product of two linear maps."""

from torch import nn

from components.ffn import Gated, ffns


@ffns.register("bilinear")
def bilinear(width: int, *, expansion: float = 4.0, bias: bool = False) -> nn.Module:
    """W₂ (W_g x ⊙ W₁ x) with a hidden width of ⅔ · expansion · D

    Source: Shazeer 2020, arXiv:2002.05202, eq. 5.
    """
    return Gated(width, round(2 / 3 * expansion * width), nn.Identity(), bias)
