"""Change one thing at a time."""

from experiments.design import Levels, baseline, designs


@designs.register("one_factor")
def one_factor(factors: dict[str, list[str]]) -> list[Levels]:
    """The baseline, and each other level of each factor alone

    Source: Montgomery, Design and Analysis of Experiments, section 1.2 (one factor at a time).

    >>> one_factor({"norm": ["layernorm", "none"], "scale": ["sqrt", "none"]})[1:]
    [{'norm': 'none', 'scale': 'sqrt'}, {'norm': 'layernorm', 'scale': 'none'}]
    """
    start = baseline(factors)
    changes = [(factor, level) for factor, levels in factors.items() for level in levels[1:]]
    return [start, *({**start, factor: level} for factor, level in changes)]
