"""Norm before each branch, and one at the end of the stack."""

from components.placement import Placement, placements


@placements.register("pre")
def pre(*, first: bool = False) -> Placement:
    """y = x + branch(norm(x)); with `first`, the embedded tokens are normed too, before the layers

    Source: Xiong et al. 2020, arXiv:2002.04745, fig. 1b; the final norm is GPT-2's, the first one BLOOM's.
    """
    return Placement(before=True, final=True, first=first)
