"""The effects of interventions on trained models, site by site."""

from dataclasses import dataclass

import pandas as pd

from analysis.statistics.effects import half_width
from analysis.tables.results import Results

FAMILIES = ("zero_ablation", "mean_ablation", "patching")


@dataclass(frozen=True)
class SiteMatrix:
    """Sites by arms: means over seeds, half-widths of their 95 % t-intervals, the unit."""

    means: pd.DataFrame
    halves: pd.DataFrame
    unit: str

    def cell_texts(self) -> pd.DataFrame:
        """Each cell as text: the mean and, where there are two seeds, ± half of the interval."""
        means = self.means.map(lambda value: "" if pd.isna(value) else f"{value:.3g}")
        halves = self.halves.map(lambda value: "" if pd.isna(value) else f" ± {value:.1g}")
        return means + halves


def site_matrices(results: Results) -> dict[str, SiteMatrix]:
    """One for each kind of intervention that the study's trials have measured."""
    matrices = {family: _site_matrix(results, family) for family in FAMILIES}
    return {family: matrix for family, matrix in matrices.items() if matrix is not None}


def _site_matrix(results: Results, family: str) -> SiteMatrix | None:
    names = [name for name in results.measures.index if name.startswith(f"{family}/")]
    if not names:
        return None
    tables = {name.removeprefix(f"{family}/"): results.reduce_endpoint(name, "final") for name in names}
    means = pd.DataFrame({site: table.mean() for site, table in tables.items()}).T
    halves = pd.DataFrame({site: table.apply(half_width) for site, table in tables.items()}).T
    return SiteMatrix(means[results.arms], halves[results.arms], results.unit_of(names[0]))
