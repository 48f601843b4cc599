"""Keep the variance of what flows forward and of what flows back, as well as one number can."""

from components.init import inits


@inits.register("xavier")
class Xavier:
    """std = √(2 / (fan_in + fan_out)), writers too; embeddings as given

    Source: Glorot & Bengio 2010, eq. 12 (its variance, drawn from a normal distribution).

    >>> Xavier(2).linear(64, 64), Xavier(2).writer(64, 64)
    (0.125, 0.125)
    """

    def __init__(self, depth: int, *, embedding: float = 0.5) -> None:
        del depth
        self.embedding_deviation = embedding

    def embedding(self, width: int) -> float:
        """As given."""
        return self.embedding_deviation

    def linear(self, fan_in: int, fan_out: int) -> float:
        """√(2 / (fan_in + fan_out))"""
        return (2 / (fan_in + fan_out)) ** 0.5

    def writer(self, fan_in: int, fan_out: int) -> float:
        """As any linear map."""
        return self.linear(fan_in, fan_out)
