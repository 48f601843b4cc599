"""Everything but one part at a time."""

from experiments.design import Levels, designs, refuse_other_than_two
from experiments.design.one_factor import one_factor


@designs.register("leave_one_out")
def leave_one_out(factors: dict[str, list[str]]) -> list[Levels]:
    """The whole, all factors at their first levels, and the whole without each part: one factor at its second

    Raises ValueError if a factor has other than two levels, with the part and without it.
    Source: the ablation of Newell 1975 and of most papers since; one factor at a time.

    >>> leave_one_out({"norm": ["layernorm", "none"], "ffn": ["gelu", "none"]})
    [{'norm': 'layernorm', 'ffn': 'gelu'}, {'norm': 'none', 'ffn': 'gelu'}, {'norm': 'layernorm', 'ffn': 'none'}]
    """
    refuse_other_than_two("leave_one_out", factors)
    return one_factor(factors)
