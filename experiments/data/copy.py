"""Say again what was said."""

import torch

from components.domains import Count, Several
from experiments.data import Batch, SyntheticTask, datas, only_scored


@datas.register("copy")
class Copy(SyntheticTask):
    """x₁ … x_n, a separator, and x₁ … x_n again, which is scored; chance 1/V

    A state of fixed size must hold n · log₂ V bits.
    Source: Jelassi et al. 2024, arXiv:2402.01032, section 3.
    """

    def __init__(self, context: int, *, symbols: Count = 8, vocabulary: Several = 32) -> None:
        super().__init__(context, 2 * symbols, vocabulary + 1)
        self.symbols = symbols

    def draw(self, size: int, generator: torch.Generator) -> Batch:
        """The separator is the last token of the vocabulary."""
        symbols = torch.randint(self.vocabulary_size - 1, (size, self.symbols), generator=generator)
        separator = torch.full((size, 1), self.vocabulary_size - 1)
        tokens = torch.cat([symbols, separator, symbols], 1)
        return Batch.of(tokens[:, :-1], only_scored(tokens[:, 1:], (torch.arange(1, tokens.shape[1]) > self.symbols)))
