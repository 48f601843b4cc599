"""Read with the table that wrote."""

from torch import nn
from torch.nn.functional import linear

from components.linear import Embedding
from components.readout import readouts
from components.shapes import Hidden, Logits


@readouts.register("tied")
class Tied(nn.Module):
    """logits = E x with E the token embeddings

    Source: Press & Wolf 2017, arXiv:1608.05859, section 2.
    """

    def __init__(self, embedding: Embedding) -> None:
        super().__init__()
        self.embedding = embedding

    def forward(self, x: Hidden) -> Logits:
        return linear(x, self.embedding.weight)
