"""Tokens that nothing predicts."""

import math

import torch

from experiments.data import Batch, Task, datas


@datas.register("iid")
class IID(Task):
    """Uniform tokens: no model can go below ln V, so one that does sees its answers

    Source: the entropy of a uniform distribution.
    """

    solved_at = None

    def __init__(self, context: int, *, vocabulary: int = 16) -> None:
        super().__init__(context, context, vocabulary, floor=math.log(vocabulary))

    def draw(self, size: int, generator: torch.Generator) -> Batch:
        """One token more than the context, each the target of the one before."""
        tokens = torch.randint(self.vocabulary, (size, self.length + 1), generator=generator)
        return Batch.of(tokens[:, :-1], tokens[:, 1:])
