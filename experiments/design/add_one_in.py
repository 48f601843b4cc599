"""Nothing but one part at a time."""

from experiments.design import Levels, designs, refuse_other_than_two
from experiments.design.one_factor import one_factor


@designs.register("add_one_in")
def add_one_in(factors: dict[str, list[str]]) -> list[Levels]:
    """The bare model, all factors at their second levels, each part added to it alone, and all of them together

    The bare model is the baseline. With `leave_one_out` it tells parts that matter alone from parts that matter
    among others.
    Raises ValueError if a factor has other than two levels, with the part and without it.
    Source: Sobol' 2001, first-order and total effects, of which these are the two-level counterparts.

    >>> add_one_in({"norm": ["layernorm", "none"], "ffn": ["gelu", "none"]})[:2]
    [{'norm': 'none', 'ffn': 'none'}, {'norm': 'layernorm', 'ffn': 'none'}]
    """
    refuse_other_than_two("add_one_in", factors)
    together = {factor: levels[0] for factor, levels in factors.items()}
    return [*one_factor({factor: levels[::-1] for factor, levels in factors.items()}), together]
