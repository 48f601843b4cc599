"""A SiLU gate on a linear map."""

from torch import nn

from components.ffn import Gated, ffns


@ffns.register("swiglu")
def swiglu(width: int, *, expansion: float = 4.0, bias: bool = False) -> nn.Module:
    """W₂ (silu(W_g x) ⊙ W₁ x) with a hidden width of ⅔ · expansion · D, so that sizes match the ungated

    Source: Shazeer 2020, arXiv:2002.05202, eq. 6 and section 3.

    >>> sum(p.numel() for p in swiglu(48).parameters()), 2 * 48 * 4 * 48
    (18432, 18432)
    """
    return Gated(width, round(2 / 3 * expansion * width), nn.SiLU(), bias)
