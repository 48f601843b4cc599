"""Restore tokens that were hidden, from both sides."""

import torch

from experiments.data import IGNORED, Batch
from experiments.objective import Objective, objectives


@objectives.register("masked_lm")
class MaskedLM(Objective):
    """mean of −log softmax(logits)[token] over a share of tokens, 8 in 10 of which read as the mask, 1 as any token

    For mask=full. The mask is one token more than the data have.
    Source: Devlin et al. 2018, arXiv:1810.04805, section 3.1 (task 1).
    """

    extra_tokens = 1

    def __init__(self, *, share: float = 0.15, z_loss: float = 0.0) -> None:
        if not 0 < share <= 1:
            raise ValueError(f"objective.share={share}: must be above 0 and at most 1")
        self.share, self.z_loss = share, z_loss

    def pose(self, batch: Batch, vocabulary: int, generator: torch.Generator) -> Batch:
        """Hide the share; all other targets are ignored."""
        tokens = batch.inputs
        chosen, fate = (torch.rand(tokens.shape, generator=generator).to(tokens.device) for _ in range(2))
        strangers = torch.randint(vocabulary, tokens.shape, generator=generator).to(tokens.device)
        seen = torch.where(fate < 0.8, vocabulary, torch.where(fate < 0.9, strangers, tokens))
        hidden = chosen < self.share
        return Batch.of(torch.where(hidden, seen, tokens), tokens.masked_fill(~hidden, IGNORED))
