"""A against A: what is found where there is nothing to find."""

from experiments.design import Levels, baseline, designs

APART = 1_000_000  # between the seeds of an arm and those of its twin


@designs.register("null")
def null(factors: dict[str, list[str]]) -> list[Levels]:
    """One configuration twice, under disjoint seeds: a difference is called one no more often than the level says

    Factors, if there are any, stand at their first levels.
    Source: Kohavi et al. 2009, Controlled experiments on the web, section 3 (A/A tests).

    >>> null({})
    [{'seed_offset': '0'}, {'seed_offset': '1000000'}]
    """
    return [baseline(factors) | {"seed_offset": str(offset)} for offset in (0, APART)]
