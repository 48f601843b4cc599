"""A learned vector for each position."""

from components.linear import Embedding
from components.parts import Sizes
from components.position import Position, positions
from components.shapes import Hidden


@positions.register("learned")
class Learned(Position):
    """x_t + P_t with P learned, one row for each position of the context

    Raises ValueError for a sequence longer than the context.
    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.5; Gehring et al. 2017, arXiv:1705.03122.
    """

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.table = Embedding(sizes.context, sizes.width)

    def embed(self, x: Hidden) -> Hidden:
        """x_t + P_t"""
        if x.shape[-2] > self.sizes.context:
            raise ValueError(
                f"a sequence of {x.shape[-2]} tokens is longer than the context of {self.sizes.context}, "
                "and position=learned has no vector beyond it"
            )
        return x + self.table.weight[: x.shape[-2]]
