"""Multi-query associative recall."""

import torch

from experiments.data import IGNORED, Batch, Task, datas


@datas.register("recall")
class Recall(Task):
    """k₁ v₁ … k_n v_n, then all keys once more in another order; scored is the value after each of these

    Keys are different tokens of the vocabulary's first half, values any tokens of the second. Chance: 2/V, or 1/n
    for who guesses among the values that are there.
    Source: Arora et al. 2023 (Zoology), arXiv:2312.04927, section 4.
    """

    def __init__(self, context: int, *, pairs: int = 8, vocabulary: int = 32) -> None:
        super().__init__(context, 3 * pairs, vocabulary)
        if pairs > vocabulary // 2:
            raise ValueError(f"data.pairs={pairs} different keys need data.vocabulary of at least {2 * pairs}")
        self.pairs = pairs

    def draw(self, size: int, generator: torch.Generator) -> Batch:
        """Pairs, then queries."""
        half, pairs = self.vocabulary // 2, self.pairs
        keys = torch.rand(size, half, generator=generator).argsort(-1)[:, :pairs]
        values = half + torch.randint(self.vocabulary - half, (size, pairs), generator=generator)
        order = torch.rand(size, pairs, generator=generator).argsort(-1)
        inputs = torch.cat([torch.stack([keys, values], -1).flatten(1), keys.gather(1, order)], 1)
        silent = torch.full((size, 2 * pairs), IGNORED)
        return Batch.of(inputs, torch.cat([silent, values.gather(1, order)], 1))
