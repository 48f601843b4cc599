"""Each token looks at itself and at what came before."""

import torch

from components.mask import Allowed, causal_mask, masks


@masks.register("causal")
class Causal:
    """s ≤ t

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.2.3.
    """

    plain = True

    def __call__(self, queries: int, keys: int, device: torch.device) -> Allowed:
        return causal_mask(queries, keys, device)
