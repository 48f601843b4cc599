"""Read with the table that wrote."""

from torch import nn
from torch.nn.functional import linear

from components.linear import Embedding
from components.readout import readouts
from components.shapes import Hidden, Logits


@readouts.register("tied")
class Tied(nn.Module):
    """logits = E x with E the token embeddings; with `scaled`, tokens enter the stream as √D · E[token]

    Source: Press & Wolf 2017, arXiv:1608.05859, section 2; √D, Vaswani et al. 2017, arXiv:1706.03762, section 3.4.
    """

    def __init__(self, embedding: Embedding, *, scaled: bool = False) -> None:
        super().__init__()
        if scaled:
            embedding.factor = embedding.embedding_dim**0.5
        self.embedding = embedding

    def forward(self, x: Hidden) -> Logits:
        return linear(x, self.embedding.weight)
