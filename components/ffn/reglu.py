"""A ReLU gate on a linear map."""

from torch import nn

from components.ffn import Gated, ffns


@ffns.register("reglu")
def reglu(width: int, *, expansion: float = 4.0, bias: bool = False) -> nn.Module:
    """W₂ (relu(W_g x) ⊙ W₁ x) with a hidden width of ⅔ · expansion · D

    Source: Shazeer 2020, arXiv:2002.05202, eq. 6.
    """
    return Gated(width, round(2 / 3 * expansion * width), nn.ReLU(), bias)
