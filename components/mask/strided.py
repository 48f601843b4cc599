"""Each token looks at its neighbours and, beyond them, at every n-th token."""

import torch

from components.mask import Allowed, causal_mask, masks


@masks.register("strided")
class Strided:
    """s ≤ t and (t − s < stride or (t − s) mod stride = 0)

    Raises ValueError if stride is below 1.
    Source: Child et al. 2019, arXiv:1904.10509, section 4.3 (strided).
    """

    plain = False

    def __init__(self, *, stride: int = 8) -> None:
        if stride < 1:
            raise ValueError(f"mask.stride={stride}: must be at least 1")
        self.stride = stride

    def __call__(self, queries: int, keys: int, device: torch.device) -> Allowed:
        places = torch.arange(keys, device=device)
        back = places[-queries:, None] - places
        return causal_mask(queries, keys, device) & ((back < self.stride) | (back % self.stride == 0))
