"""Norm after each sum: the original Transformer."""

from components.placement import Placement, placements


@placements.register("post")
def post() -> Placement:
    """y = norm(x + branch(x))

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.1.
    """
    return Placement(after=True)
