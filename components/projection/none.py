"""Attention on the raw vectors."""

from torch import nn

from components.parts import Sizes
from components.projection import projections, refuse_groups, split
from components.shapes import Heads, Hidden


@projections.register("none")
class NoProjection(nn.Module):
    """q = k = v = x, cut into heads

    Source: Jurafsky & Martin, Speech and Language Processing, 3rd ed. draft (the simplest attention, x_i · x_j).
    """

    def __init__(self, sizes: Sizes, query_gain: float) -> None:
        super().__init__()
        refuse_groups(sizes, "none")
        if sizes.heads * sizes.head_width != sizes.width:
            raise ValueError(
                f"projection=none cuts the width into heads: heads={sizes.heads} of head_width={sizes.head_width} "
                f"are not width={sizes.width}"
            )
        self.heads, self.query_gain = sizes.heads, query_gain

    def forward(self, x: Hidden) -> tuple[Heads, Heads, Heads]:
        shared = split(x, self.heads)
        return shared * self.query_gain, shared, shared
