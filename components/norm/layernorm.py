"""Layer norm: remove a vector's mean, fix its variance."""

from torch import nn

from components.norm import norms


@norms.register("layernorm")
def layernorm(width: int, *, eps: float = 1e-5, bias: bool = True) -> nn.Module:
    """y = gain · (x − mean(x)) / √(var(x) + eps) + bias

    Source: Ba et al. 2016, arXiv:1607.06450, eq. 4.
    """
    return nn.LayerNorm(width, eps=eps, bias=bias)
