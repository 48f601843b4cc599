"""Norm after each sum: the original Transformer."""

from components.placement import Placement, placements


@placements.register("post")
def post(*, first: bool = False) -> Placement:
    """y = norm(x + branch(x)); with `first`, the embedded tokens are normed too, before the layers

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.1; the first norm is BERT's.
    """
    return Placement(after=True, first=first)
