"""Small maps in, and smaller ones back into the stream with depth."""

from components.init import inits


@inits.register("small")
class Small:
    """std = √(2 / (5 D)) of the width that a map reads, writers 2 / (depth · √D); embeddings as given

    Source: Nguyen & Salazar 2019, arXiv:1910.05895, section 2.2; writers, Black et al. 2022, arXiv:2204.06745.

    >>> Small(2).linear(40, 160), Small(4).writer(64, 64)
    (0.1, 0.0625)
    """

    def __init__(self, depth: int, *, embedding: float = 0.5) -> None:
        self.depth = depth
        self.embedding_deviation = embedding

    def embedding(self, width: int) -> float:
        """As given."""
        return self.embedding_deviation

    def linear(self, fan_in: int, fan_out: int) -> float:
        """√(2 / (5 fan_in))"""
        return (2 / (5 * fan_in)) ** 0.5

    def writer(self, fan_in: int, fan_out: int) -> float:
        """2 / (depth · √fan_out): what is written joins a stream of that width"""
        return 2 / (self.depth * fan_out**0.5)
