"""A well-chosen part of all combinations."""

from itertools import chain, combinations, count
from string import ascii_lowercase

from experiments.design import Levels, designs, refuse_other_than_two


@designs.register("fractional")
def fractional(factors: dict[str, list[str]], *, resolution: int = 3) -> list[Levels]:
    """A two-level fractional factorial of this resolution, turned so that the baseline is one of its arms

    At resolution 3 main effects are apart from each other, at 4 from two-factor interactions too, at 5 these from
    each other; what stays aliased is printed before the run.
    Raises ValueError if a factor has other than two levels, or the factors are fewer than the resolution.
    Source: Box & Hunter 1961, The 2^(k−p) fractional factorial designs; matrices by pyDOE3.

    >>> [len(fractional({name: ["1", "2"] for name in "abcdefg"}, resolution=r)) for r in (3, 4, 5)]
    [8, 16, 64]
    """
    from pyDOE3 import fracfact  # it takes scipy a second to load

    refuse_other_than_two("fractional", factors)
    if not 3 <= resolution <= len(factors):
        raise ValueError(f"design=fractional of {len(factors)} factors has a resolution of 3 to {len(factors)}")
    signs = fracfact(" ".join(_generators(len(factors), resolution)))
    signs = signs * signs[0]  # the first row becomes the baseline
    return [
        {factor: levels[0 if sign > 0 else 1] for (factor, levels), sign in zip(factors.items(), row, strict=True)}
        for row in signs
    ]


def _generators(factors: int, resolution: int) -> list[str]:
    """Base factors as letters, the others as products of letters, of as few base factors as a greedy search finds.

    No product of defining words has fewer letters than the resolution.

    >>> _generators(7, 3)
    ['a', 'b', 'c', 'ab', 'ac', 'bc', 'abc']
    """
    for base in count(resolution - 1):
        letters = ascii_lowercase[:base]
        words = chain.from_iterable(combinations(letters, size) for size in range(resolution - 1, base + 1))
        chosen: list[str] = []
        defining: list[frozenset[str]] = [frozenset()]
        for word in words:
            new = frozenset({*word, ascii_lowercase[base + len(chosen)]})
            if base + len(chosen) < factors and all(len(new ^ other) >= resolution for other in defining):
                chosen.append("".join(word))
                defining += [new ^ other for other in defining]
        if base + len(chosen) == factors:
            return [*letters, *chosen]
    raise AssertionError("a full factorial has every resolution")
