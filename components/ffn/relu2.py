"""Two linear maps around a squared ReLU."""

from torch import Tensor, nn

from components.ffn import TwoLayer, ffns


class SquaredReLU(nn.Module):
    """relu(x)²"""

    def forward(self, x: Tensor) -> Tensor:
        return x.relu().square()


@ffns.register("relu2")
def relu2(width: int, *, expansion: float = 4.0, bias: bool = False) -> nn.Module:
    """W₂ relu(W₁ x)² with a hidden width of expansion · D

    Source: So et al. 2021 (Primer), arXiv:2109.08668, section 4.
    """
    return TwoLayer(width, round(expansion * width), SquaredReLU(), bias)
