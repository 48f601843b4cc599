"""A temperature that is learned."""

import torch
from torch import nn

from components.scale import Scale, scales
from components.shapes import Heads


@scales.register("learned")
class Learned(Scale):
    """gain · q, gain one learned number, 1/√K at first unless `start` says otherwise

    Source: Henry et al. 2020 (QKNorm), arXiv:2010.04245, section 3.1.
    """

    def __init__(self, head_width: int, *, start: float | None = None) -> None:
        super().__init__(head_width)
        self.gain = nn.Parameter(torch.tensor(head_width**-0.5 if start is None else start))

    def forward(self, q: Heads) -> Heads:
        return q * self.gain
