"""A GELU gate on a linear map."""

from torch import nn

from components.ffn import Approximation, Gated, ffns


@ffns.register("geglu")
def geglu(
    width: int, *, expansion: float = 4.0, approximate: Approximation = Approximation.none, bias: bool = False
) -> nn.Module:
    """W₂ (gelu(W_g x) ⊙ W₁ x) with a hidden width of ⅔ · expansion · D; T5 1.1 and Gemma approximate gelu by tanh

    Source: Shazeer 2020, arXiv:2002.05202, eq. 6; the approximation, Hendrycks & Gimpel 2016, arXiv:1606.08415.
    """
    return Gated(width, round(2 / 3 * expansion * width), nn.GELU(approximate), bias)
