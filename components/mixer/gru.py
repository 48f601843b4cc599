"""Gated recurrent units."""

from torch import nn

from components.mixer import mixers
from components.parts import Parts, Sizes
from components.position import Position
from components.shapes import Hidden


@mixers.register("gru")
class GRU(nn.Module):
    """h_t = (1 − z) ⊙ n + z ⊙ h_(t−1), gates z, r and candidate n of x_t and h_(t−1)

    Position parts reach it only through what they add to the embedding.
    Source: Cho et al. 2014, arXiv:1406.1078, eq. 5 to 8; torch.nn.GRU.
    """

    def __init__(self, sizes: Sizes, parts: Parts) -> None:
        del parts
        super().__init__()
        self.cell = nn.GRU(sizes.width, sizes.width, batch_first=True)

    def forward(self, x: Hidden, position: Position) -> Hidden:
        del position
        return self.cell(x)[0]
