"""One small number for all weights, smaller where they write into the stream."""

from components.init import inits


@inits.register("gpt2")
class GPT2:
    """std = 0.02; writers divided by √(2 depth); embeddings as given

    Source: Radford et al. 2019 (GPT-2), section 2.3; 0.02 is its released code's, which draws positions at 0.01.

    >>> GPT2(2).linear(64, 256), GPT2(2).writer(64, 64)
    (0.02, 0.01)
    """

    def __init__(self, depth: int, *, std: float = 0.02, embedding: float = 0.02) -> None:
        self.depth = depth
        self.std = std
        self.embedding_deviation = embedding

    def embedding(self, width: int) -> float:
        """As given."""
        return self.embedding_deviation

    def linear(self, fan_in: int, fan_out: int) -> float:
        """As given."""
        return self.std

    def writer(self, fan_in: int, fan_out: int) -> float:
        """std / √(2 depth)"""
        return self.std * (2 * self.depth) ** -0.5
