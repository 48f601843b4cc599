"""Norm on each branch's output, within the residual."""

from components.placement import Placement, placements


@placements.register("inside")
def inside(*, first: bool = False) -> Placement:
    """y = x + norm(branch(x)); with `first`, the embedded tokens are normed too, before the layers

    Source: Liu et al. 2021 (Swin v2), arXiv:2111.09883, section 3.2; also OLMo 2, arXiv:2501.00656.
    """
    return Placement(inside=True, final=True, first=first)
