"""Each token looks a fixed distance back."""

import torch

from components.mask import Allowed, causal_mask, masks


@masks.register("window")
class Window:
    """t − size < s ≤ t

    Raises ValueError if size is below 1.
    Source: Beltagy et al. 2020, arXiv:2004.05150, section 3.1 (sliding window).
    """

    plain = False

    def __init__(self, *, size: int = 16) -> None:
        if size < 1:
            raise ValueError(f"mask.size={size}: a token must at least see itself")
        self.size = size

    def __call__(self, queries: int, keys: int, device: torch.device) -> Allowed:
        seen = causal_mask(queries, keys, device)
        return seen & ~seen.tril(keys - queries - self.size)
