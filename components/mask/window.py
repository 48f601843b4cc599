"""Each token looks a fixed distance back."""

import torch

from components.domains import Count
from components.mask import Allowed, causal_mask, masks


@masks.register("window")
class Window:
    """t − size < s ≤ t

    Source: Beltagy et al. 2020, arXiv:2004.05150, section 3.1 (sliding window).
    """

    plain = False

    def __init__(self, *, size: Count = 16) -> None:
        self.size = size

    def __call__(self, queries: int, keys: int, device: torch.device) -> Allowed:
        seen = causal_mask(queries, keys, device)
        return seen & ~seen.tril(keys - queries - self.size)
