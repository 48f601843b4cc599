"""Keep the variance of what flows forward."""

from components.init import inits


@inits.register("fan_in")
class FanIn:
    """std = 1/√fan_in; writers further divided by √(2 depth); embeddings as given

    The embeddings' std is a first-order confound: it sets how much of the stream is token and how much is layer.
    Source: LeCun et al. 1998, Efficient BackProp, section 4.6; the depth factor is GPT-2's.

    >>> FanIn(2).linear(64, 256), FanIn(2).writer(64, 64)
    (0.125, 0.0625)
    """

    def __init__(self, depth: int, *, embedding: float = 0.5) -> None:
        self.depth = depth
        self.embedding_deviation = embedding

    def embedding(self, width: int) -> float:
        """As given."""
        return self.embedding_deviation

    def linear(self, fan_in: int, fan_out: int) -> float:
        """1/√fan_in"""
        return fan_in**-0.5

    def writer(self, fan_in: int, fan_out: int) -> float:
        """1/√(2 depth · fan_in)"""
        return (2 * self.depth * fan_in) ** -0.5
