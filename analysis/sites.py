"""What interventions on trained models came to, site by site."""

from dataclasses import dataclass

import pandas as pd

from analysis.effect import half_width
from analysis.results import Results

FAMILIES = ("zero_ablation", "mean_ablation", "patching")


@dataclass(frozen=True)
class Matrix:
    """Sites by arms: means over seeds, halves of their 95 % t-intervals, the unit."""

    means: pd.DataFrame
    halves: pd.DataFrame
    unit: str

    def told(self) -> pd.DataFrame:
        """Each cell as text: the mean and, where there are two seeds, ± half of the interval."""
        written = self.means.map(lambda value: "" if pd.isna(value) else f"{value:.3g}")
        halves = self.halves.map(lambda value: "" if pd.isna(value) else f" ± {value:.1g}")
        return written + halves


def matrices(results: Results) -> dict[str, Matrix]:
    """One for each kind of intervention that the study's trials have measured."""
    return {family: made for family in FAMILIES if (made := _matrix(results, family)) is not None}


def _matrix(results: Results, family: str) -> Matrix | None:
    names = [name for name in results.measures.index if name.startswith(f"{family}/")]
    if not names:
        return None
    tables = {name.removeprefix(f"{family}/"): results.endpoint(name, "final") for name in names}
    means = pd.DataFrame({site: table.mean() for site, table in tables.items()}).T
    halves = pd.DataFrame({site: table.apply(half_width) for site, table in tables.items()}).T
    return Matrix(means[results.arms], halves[results.arms], results.unit(names[0]))
