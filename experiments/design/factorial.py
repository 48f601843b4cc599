"""Every combination of levels."""

from itertools import product

from experiments.design import Levels, designs


@designs.register("factorial")
def factorial(factors: dict[str, list[str]]) -> list[Levels]:
    """The product of all levels, the last factor fastest

    Source: Fisher 1935, The Design of Experiments, chapter VI.

    >>> [arm["scale"] for arm in factorial({"norm": ["layernorm", "none"], "scale": ["sqrt", "none"]})]
    ['sqrt', 'none', 'sqrt', 'none']
    """
    return [dict(zip(factors, levels, strict=True)) for levels in product(*factors.values())]
