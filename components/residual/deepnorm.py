"""DeepNorm: weigh the stream by the depth of the stack, and start branches small."""

from components.residual import Residual, residuals
from components.shapes import Hidden


@residuals.register("deepnorm")
class DeepNorm(Residual):
    """y = alpha · x + update, alpha = (2 depth)^(1/4); branches but for queries and keys start (8 depth)^(−1/4) smaller

    For placement=post. Numbers given for alpha and beta stand in place of those of the depth. Only linear maps of
    `components.linear` start smaller, not recurrent cells.
    Source: Wang et al. 2022, arXiv:2203.00555, fig. 2 (decoder-only).
    """

    def __init__(self, width: int, depth: int, *, alpha: float | None = None, beta: float | None = None) -> None:
        super().__init__(width, depth)
        self.alpha = (2 * depth) ** 0.25 if alpha is None else alpha
        self.branch_gain = (8 * depth) ** -0.25 if beta is None else beta

    def forward(self, x: Hidden, update: Hidden) -> Hidden:
        return self.alpha * x + update
