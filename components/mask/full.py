"""Every token looks at every token: a causal language model with it sees its own answers."""

import torch

from components.mask import Allowed, masks


@masks.register("full")
class Full:
    """all s, t

    Source: Devlin et al. 2018, arXiv:1810.04805, section 3 (bidirectional attention).
    """

    plain = False

    def __call__(self, queries: int, keys: int, device: torch.device) -> Allowed:
        return torch.ones(queries, keys, dtype=torch.bool, device=device)
