"""Every branch starts switched off."""

import torch
from torch import nn

from components.residual import Residual, residuals
from components.shapes import Hidden


@residuals.register("rezero")
class ReZero(Residual):
    """y = x + gain · update, gain one learned number

    Source: Bachlechner et al. 2020, arXiv:2003.04887, eq. 1.
    """

    def __init__(self, width: int, depth: int, *, gain: float = 0.0) -> None:
        super().__init__(width, depth)
        self.gain = nn.Parameter(torch.tensor(gain))

    def forward(self, x: Hidden, update: Hidden) -> Hidden:
        return x + self.gain * update
