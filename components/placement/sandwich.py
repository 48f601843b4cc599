"""Norm on both sides of each branch."""

from components.placement import Placement, placements


@placements.register("sandwich")
def sandwich(*, first: bool = False) -> Placement:
    """y = x + norm(branch(norm(x))); with `first`, the embedded tokens are normed too, before the layers

    Source: Kim et al. 2025, arXiv:2502.02732 (Peri-LN); the word is Ding et al. 2021's, arXiv:2105.13290, section 2.4.
    """
    return Placement(before=True, inside=True, final=True, first=first)
