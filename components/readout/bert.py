"""Transform each token's state, then read with the table that wrote."""

import torch
from torch import nn
from torch.nn.functional import gelu, linear

from components.linear import Embedding, Linear
from components.readout import readouts
from components.shapes import Hidden, Logits


@readouts.register("bert")
class Bert(nn.Module):
    """logits = E layernorm(gelu(W x + b)) + c with E the token embeddings, c learned, one number for each token

    Source: Devlin et al. 2018, arXiv:1810.04805, section 3.1 (task 1); the transform is the released code's.
    """

    def __init__(self, embedding: Embedding, *, eps: float = 1e-12) -> None:
        super().__init__()
        self.embedding = embedding
        self.transform = Linear(embedding.embedding_dim, embedding.embedding_dim, bias=True)
        self.norm = nn.LayerNorm(embedding.embedding_dim, eps=eps)
        self.bias = nn.Parameter(torch.zeros(embedding.num_embeddings))

    def forward(self, x: Hidden) -> Logits:
        return linear(self.norm(gelu(self.transform(x))), self.embedding.weight, self.bias)
