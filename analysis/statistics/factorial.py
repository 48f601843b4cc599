"""Main effects and interactions of a study of several factors."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np
import pandas as pd

from analysis.statistics.comparability import comparable_arms
from analysis.statistics.effects import are_shares, holm_corrected, paired_effect
from analysis.tables.columns import PairedEffect
from analysis.tables.results import Results

Levels = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class FactorialEffect(PairedEffect):
    """A main effect or an interaction on one endpoint.

    `term` names the level or the two levels; `settings` counts the combinations of the other factors that a main
    effect is averaged over.
    """

    endpoint: str
    term: str
    kind: Literal["main", "interaction"]
    settings: int


@dataclass(frozen=True)
class Factorial:
    """One endpoint of a factorial study: seeds by arms, each arm's level of every factor, the baseline's levels."""

    endpoint: str
    table: pd.DataFrame
    levels: Mapping[str, Levels]
    base: Levels

    def effects(self) -> list[FactorialEffect]:
        """All main effects and interactions, p corrected over them; of a fraction, the contrasts that it has."""
        effects = [*self._main_effects(), *self._interactions()] or list(self._contrasts())
        if are_shares(self.table):
            effects = [_tested_exactly(effect) for effect in effects]
        corrected = holm_corrected([effect.p for effect in effects])
        return [replace(effect, p_holm=p) for effect, p in zip(effects, corrected, strict=True)]

    def _main_effects(self) -> Iterator[FactorialEffect]:
        arm_of = {frozenset(levels.items()): arm for arm, levels in self.levels.items()}
        for factor, first in self.base.items():
            for level in self._other_levels(factor):
                arms = [arm for arm, levels in self.levels.items() if levels[factor] == level]
                partners = [arm_of.get(frozenset({**self.levels[arm], factor: first}.items())) for arm in arms]
                pairs = [(one, arm) for one, arm in zip(partners, arms, strict=True) if one is not None]
                if len(pairs) > 1:
                    without, under = (self._mean_over([pair[side] for pair in pairs]) for side in (0, 1))
                    yield self._effect(f"{factor}={level}", "main", len(pairs), without, under)

    def _contrasts(self) -> Iterator[FactorialEffect]:
        """Main effects of a fraction, in which no two arms differ in one factor: all arms with a level, less the rest.

        Only of factors whose two levels have equally many arms under each level of every other one.
        """
        for factor, first in self.base.items():
            under = [arm for arm, levels in self.levels.items() if levels[factor] != first]
            without = [arm for arm, levels in self.levels.items() if levels[factor] == first]
            levels = self._other_levels(factor)
            if len(levels) == 1 and self._other_factors(factor, under) == self._other_factors(factor, without):
                means = self._mean_over(without), self._mean_over(under)
                yield self._effect(f"{factor}={levels[0]}", "main", len(under), *means)

    def _interactions(self) -> Iterator[FactorialEffect]:
        changes = {
            arm: {factor: level for factor, level in levels.items() if level != self.base[factor]}
            for arm, levels in self.levels.items()
        }
        single = {next(iter(change.items())): arm for arm, change in changes.items() if len(change) == 1}
        double = {frozenset(change.items()): arm for arm, change in changes.items() if len(change) == 2}
        origin = next(arm for arm, change in changes.items() if not change)
        for first, second in combinations(single, 2):
            both = double.get(frozenset([first, second]))
            if both is not None:
                first_alone = self.table[single[first]] - self.table[origin]
                first_with_second = self.table[both] - self.table[single[second]]
                term = " × ".join(f"{factor}={level}" for factor, level in (first, second))
                yield self._effect(term, "interaction", 1, first_alone, first_with_second)

    def _other_levels(self, factor: str) -> list[str]:
        """The levels of a factor besides its first, in the order of the arms."""
        levels = dict.fromkeys(levels[factor] for levels in self.levels.values())
        return [level for level in levels if level != self.base[factor]]

    def _other_factors(self, factor: str, arms: list[str]) -> Counter[tuple[str, str]]:
        """How often each level of the other factors occurs in these arms."""
        return Counter((other, self.levels[arm][other]) for arm in arms for other in self.base if other != factor)

    def _mean_over(self, arms: list[str]) -> pd.Series:
        return self.table[arms].mean(axis=1, skipna=False)

    def _effect(
        self, term: str, kind: Literal["main", "interaction"], settings: int, before: pd.Series, after: pd.Series
    ) -> FactorialEffect:
        difference = asdict(paired_effect(before, after))
        return FactorialEffect(endpoint=self.endpoint, term=term, kind=kind, settings=settings, **difference)


def factorial_effects(results: Results) -> list[FactorialEffect]:
    """Main effects and two-way interactions on every endpoint; none for a study of one factor.

    The main effect of a level is its difference to the factor's first level, in the mean over all settings of the
    others that have both. An interaction is how much the difference of one level changes with the other's:
    (ab − b) − (a − baseline). Of a fraction, in which no two arms differ in one factor only, a main effect is the mean
    of all arms with the level less that of all without, and mixed with what the fraction cannot tell apart from it.
    p is corrected over the effects on one endpoint. Arms that cannot be compared with the baseline are left out.
    """
    levels: dict[str, Levels] = {label: arm.levels for label, arm in results.study.arms.items()}
    base = levels[results.arms[0]]
    if len(base) < 2 or any(set(arm) != set(base) for arm in levels.values()):
        return []
    return [
        effect
        for endpoint, table in results.endpoints.items()
        for effect in Factorial(
            endpoint, table, {arm: levels[arm] for arm in comparable_arms(results, endpoint)}, base
        ).effects()
    ]


def _tested_exactly(effect: FactorialEffect) -> FactorialEffect:
    """An effect on shares: no t-interval, which can reach beyond 1; tested exactly where there is such a test."""
    p = effect.p if np.isnan(effect.p_sign_flip) else effect.p_sign_flip
    return replace(effect, low=np.nan, high=np.nan, p=p)
