"""One small number for all weights, whatever they do."""

from components.init import inits


@inits.register("normal")
class Normal:
    """std = 0.02, writers too; embeddings as given

    Source: Devlin et al. 2018 (BERT), arXiv:1810.04805, whose released code truncates at two standard deviations.

    >>> Normal(2).linear(64, 256), Normal(2).writer(64, 64)
    (0.02, 0.02)
    """

    def __init__(self, depth: int, *, std: float = 0.02, embedding: float = 0.02) -> None:
        del depth
        self.std = std
        self.embedding_deviation = embedding

    def embedding(self, width: int) -> float:
        """As given."""
        return self.embedding_deviation

    def linear(self, fan_in: int, fan_out: int) -> float:
        """As given."""
        return self.std

    def writer(self, fan_in: int, fan_out: int) -> float:
        """As any linear map."""
        return self.std
