"""A table of its own."""

from torch import nn

from components.linear import Embedding, Unembedding
from components.readout import readouts
from components.shapes import Hidden, Logits


@readouts.register("untied")
class Untied(nn.Module):
    """logits = W x

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.4 (the linear map before the softmax, not shared).
    """

    def __init__(self, embedding: Embedding) -> None:
        super().__init__()
        self.linear = Unembedding(embedding.embedding_dim, embedding.num_embeddings)

    def forward(self, x: Hidden) -> Logits:
        return self.linear(x)
