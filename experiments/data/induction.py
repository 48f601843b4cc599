"""Find where this was seen before, and say what came next."""

import torch

from experiments.data import Batch, Task, datas, only


@datas.register("induction")
class Induction(Task):
    """Random tokens in which a block of the first half comes again in the second, length and places drawn anew

    Scored is the second copy after its first token. With fixed places one layer could solve it by position alone.
    Source: Olsson et al. 2022, arXiv:2209.11895, argument 1 (repeated random tokens).
    """

    solved_at = 0.9

    def __init__(self, context: int, *, vocabulary: int = 32) -> None:
        if context < 16:
            raise ValueError(f"data=induction needs model.context of at least 16, was given {context}")
        super().__init__(context, context, vocabulary, floor=None)

    def draw(self, size: int, generator: torch.Generator) -> Batch:
        """One token more than the context, of which the last is a target only."""

        def between(low: int, high: torch.Tensor) -> torch.Tensor:
            return low + (torch.rand(size, 1, generator=generator) * (high - low + 1)).long()

        tokens = torch.randint(self.vocabulary, (size, self.length + 1), generator=generator)
        half, places = self.length // 2, torch.arange(self.length + 1)
        block = between(half // 4, torch.full((size, 1), half // 2))
        first, second = between(0, half - block), half + between(0, half - block)
        copied = (places >= second) & (places < second + block)
        tokens = torch.where(copied, tokens.gather(1, (places - second + first).clamp(0, self.length)), tokens)
        return Batch.of(tokens[:, :-1], only(tokens[:, 1:], (copied & (places > second))[:, 1:]))
