"""No norm anywhere: the control arm, in which the choice of norm has no effect."""

from components.placement import Placement, placements


@placements.register("none")
def none() -> Placement:
    """y = x + branch(x)"""
    return Placement()
