"""Every branch starts small, each feature with its own gain."""

import torch
from torch import nn

from components.residual import Residual, residuals
from components.shapes import Hidden


@residuals.register("layerscale")
class LayerScale(Residual):
    """y = x + gain ⊙ update, gain a learned vector

    Source: Touvron et al. 2021, arXiv:2103.17239, eq. 4.
    """

    def __init__(self, width: int, depth: int, *, gain: float = 0.1) -> None:
        super().__init__(width, depth)
        self.gain = nn.Parameter(torch.full((width,), gain))

    def forward(self, x: Hidden, update: Hidden) -> Hidden:
        return x + self.gain * update
