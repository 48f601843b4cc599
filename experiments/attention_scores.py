"""What an attention head does, as one number: does it look one token back, or after where this token was before?"""

import torch
from torch import Tensor

from components.initialise import key
from components.shapes import Weights


def repeated(vocabulary: int, context: int, sequences: int) -> Tensor:
    """Random tokens, the first half of the context and then the same again."""
    generator = torch.Generator().manual_seed(key("repeated"))
    half = torch.randint(vocabulary, (sequences, context // 2), generator=generator)
    return torch.cat([half, half], 1)


def previous_token(shares: Weights) -> Tensor:
    """Mean share that a query gives the key just before it, by head; the first query has none.

    >>> previous_token(torch.eye(3).roll(-1, 1)[None, None])  # every query looks one back
    tensor([1.])
    """
    return shares.diagonal(-1, dim1=-2, dim2=-1).mean((0, -1))


def induction(shares: Weights) -> Tensor:
    """Of repeated tokens, mean share that a query of the second half gives the key after its token's first, by head

    Source: Olsson et al. 2022, arXiv:2209.11895, "prefix matching"; the second half's first query has it too.
    """
    half = shares.shape[-1] // 2
    return shares.diagonal(1 - half, dim1=-2, dim2=-1)[..., 1:].mean((0, -1))
