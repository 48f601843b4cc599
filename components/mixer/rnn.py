"""The recurrent network of before gates."""

from torch import nn

from components.mixer import mixers
from components.parts import Parts, Sizes
from components.position import Position
from components.shapes import Hidden


@mixers.register("rnn")
class RNN(nn.Module):
    """h_t = tanh(W x_t + U h_(t−1) + b)

    Position parts reach it only through what they add to the embedding.
    Source: Elman 1990, Finding structure in time; torch.nn.RNN.
    """

    def __init__(self, sizes: Sizes, parts: Parts) -> None:
        del parts
        super().__init__()
        self.cell = nn.RNN(sizes.width, sizes.width, batch_first=True)

    def forward(self, x: Hidden, position: Position) -> Hidden:
        del position
        return self.cell(x)[0]
