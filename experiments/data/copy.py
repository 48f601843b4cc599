"""Say again what was said."""

import torch

from experiments.data import Batch, Task, datas, only


@datas.register("copy")
class Copy(Task):
    """x₁ … x_n, a separator, and x₁ … x_n again, which is scored; chance 1/V

    A state of fixed size must hold n · log₂ V bits.
    Source: Jelassi et al. 2024, arXiv:2402.01032, section 3.
    """

    def __init__(self, context: int, *, symbols: int = 8, vocabulary: int = 32) -> None:
        super().__init__(context, 2 * symbols, vocabulary + 1)
        self.symbols = symbols

    def draw(self, size: int, generator: torch.Generator) -> Batch:
        """The separator is the last token of the vocabulary."""
        symbols = torch.randint(self.vocabulary - 1, (size, self.symbols), generator=generator)
        separator = torch.full((size, 1), self.vocabulary - 1)
        tokens = torch.cat([symbols, separator, symbols], 1)
        return Batch.of(tokens[:, :-1], only(tokens[:, 1:], (torch.arange(1, tokens.shape[1]) > self.symbols)))
