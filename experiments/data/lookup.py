"""Combine two tokens at known places."""

import torch

from experiments.data import IGNORED, Batch, Task, datas


@datas.register("lookup")
class Lookup(Task):
    """x₁ … x_T uniform; scored is (x₁ + 3 x₄) mod V after the last; chance 1/V

    Each of two tokens must be read apart, by one head each or by one head that mixes them.
    Source: after Sanford et al. 2023, arXiv:2306.02896, section 3 (sparse averaging), made modular.
    """

    def __init__(self, context: int, *, length: int = 12, vocabulary: int = 7) -> None:
        super().__init__(context, length, vocabulary)
        if length < 4:
            raise ValueError(f"data.length={length}: the fourth token is asked for")

    def draw(self, size: int, generator: torch.Generator) -> Batch:
        """Only the last place is scored."""
        inputs = torch.randint(self.vocabulary, (size, self.length), generator=generator)
        targets = torch.full_like(inputs, IGNORED)
        targets[:, -1] = (inputs[:, 0] + 3 * inputs[:, 3]) % self.vocabulary
        return Batch.of(inputs, targets)
