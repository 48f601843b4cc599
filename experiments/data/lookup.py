"""Combine two tokens at known places."""

from typing import Annotated

import torch
from annotated_types import Ge

from components.domains import Several
from experiments.data import IGNORED, Batch, SyntheticTask, datas


@datas.register("lookup")
class Lookup(SyntheticTask):
    """x₁ … x_T uniform; scored is (x₁ + 3 x₄) mod V after the last; chance 1/V

    Each of two tokens must be read apart, by one head each or by one head that mixes them.
    Source: after Sanford et al. 2023, arXiv:2306.02896, section 3 (sparse averaging), made modular.
    """

    def __init__(self, context: int, *, length: Annotated[int, Ge(4)] = 12, vocabulary: Several = 7) -> None:
        super().__init__(context, length, vocabulary)

    def draw(self, size: int, generator: torch.Generator) -> Batch:
        """Only the last place is scored."""
        inputs = torch.randint(self.vocabulary_size, (size, self.length), generator=generator)
        targets = torch.full_like(inputs, IGNORED)
        targets[:, -1] = (inputs[:, 0] + 3 * inputs[:, 3]) % self.vocabulary_size
        return Batch.of(inputs, targets)
