"""Linear maps and embeddings that know their role, so that an `init` can treat each as it should."""

import torch
from torch import Tensor, nn

from components.initialise import Deviations


class Linear(nn.Linear):
    """y = x Wᵀ (+ b) with W drawn from N(0, (gain · deviation)²) and b = 0.

    `gain` is the factor that a part declares on its initial weights; 1 unless the part says otherwise.
    """

    def __init__(self, fan_in: int, fan_out: int, *, bias: bool = False, gain: float = 1.0) -> None:
        self.gain = gain
        super().__init__(fan_in, fan_out, bias=bias)

    def reset_parameters(self) -> None:
        """torch's own; nothing on the meta device, where drawing nothing takes longest."""
        if not self.weight.is_meta:
            super().reset_parameters()

    def deviation(self, deviations: Deviations) -> float:
        """The standard deviation for this role."""
        return deviations.linear(self.in_features, self.out_features)

    @torch.no_grad()
    def draw(self, deviations: Deviations, generator: torch.Generator) -> None:
        """Fill the weights in place."""
        self.weight.normal_(generator=generator).mul_(self.gain * self.deviation(deviations))
        if self.bias is not None:
            self.bias.zero_()


class Selector(Linear):
    """A linear map that only decides where to look (queries, keys): its size is not that of what is written."""


class Writer(Linear):
    """A linear map whose output is added to the residual stream; many of them add up with depth."""

    def deviation(self, deviations: Deviations) -> float:
        """The standard deviation for this role."""
        return deviations.writer(self.in_features, self.out_features)


class Unembedding(Linear):
    """A linear map from the stream to logits: one row for each token, as an embedding has."""


class Embedding(nn.Embedding):
    """factor · rows, drawn from N(0, deviation²): token embeddings and learned positions.

    `factor` is 1 unless a part that shares the rows sets it.
    """

    factor: float = 1.0

    def forward(self, input: Tensor) -> Tensor:
        rows = super().forward(input)
        return rows if self.factor == 1.0 else self.factor * rows

    def reset_parameters(self) -> None:
        """torch's own; nothing on the meta device."""
        if not self.weight.is_meta:
            super().reset_parameters()
