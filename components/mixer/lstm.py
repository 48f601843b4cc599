"""Long short-term memory."""

import torch
from torch import nn

from components.initialise import Deviations, draw_cell
from components.mixer import mixers
from components.parts import Parts, Sizes
from components.position import Position
from components.shapes import Hidden


class Cell(nn.LSTM):
    """torch's LSTM, whose forget gates start at a bias of their own: torch's start near 0 and forget within steps."""

    def __init__(self, width: int, forget_bias: float) -> None:
        self.forget_bias = forget_bias
        super().__init__(width, width, batch_first=True)

    def reset_parameters(self) -> None:
        """torch's own, then the forget gates' biases."""
        super().reset_parameters()
        self._remember()

    def draw(self, deviations: Deviations, generator: torch.Generator) -> None:
        """Maps as linear maps and biases 0, then the forget gates' biases."""
        draw_cell(self, deviations, generator)
        self._remember()

    @torch.no_grad()
    def _remember(self) -> None:
        """Set the forget gates' two biases, which add up."""
        biases = dict(self.named_parameters())
        forget = slice(self.hidden_size, 2 * self.hidden_size)
        biases["bias_ih_l0"][forget] = self.forget_bias
        biases["bias_hh_l0"][forget] = 0.0


@mixers.register("lstm")
class LSTM(nn.Module):
    """c_t = f ⊙ c_(t−1) + i ⊙ g,  h_t = o ⊙ tanh(c_t), gates of x_t and h_(t−1), the forget gate's bias at 1

    Position parts reach it only through what they add to the embedding.
    Source: Hochreiter & Schmidhuber 1997; Gers et al. 2000; the bias, Jozefowicz et al. 2015, section 2; torch.nn.LSTM.
    """

    def __init__(self, sizes: Sizes, parts: Parts, *, forget_bias: float = 1.0) -> None:
        del parts
        super().__init__()
        self.cell = Cell(sizes.width, forget_bias)

    def forward(self, x: Hidden, position: Position) -> Hidden:
        del position
        return self.cell(x)[0]
