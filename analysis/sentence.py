"""A finding in words and numbers, for a colleague to quote."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.judgement import ALPHA, Judgement
from analysis.power import MOST, seeds_for_share, seeds_needed, seeds_to_equivalence
from analysis.results import ENDED, Results


@dataclass(frozen=True)
class Said:
    """A finding, put into words and numbers."""

    row: Mapping[str, Any]
    judgement: Judgement
    expected: str
    margin: float | None
    baseline: str
    family: int

    def sentence(self) -> str:
        """The whole of it."""
        row, subject = self.row, f"{self.row['endpoint']} under {self.row['arm']}"
        if row["pairs"] == 0:
            return f"{subject}: no seed has it in both arms."
        if row["identical"]:
            return f"{subject} is identical to {self.baseline}'s under every seed (n = {row['pairs']}){self._became()}."
        direction = "higher" if row["effect"] > 0 else "lower"
        size = f"{self._size()} {direction} than under {self.baseline}"
        if row["pairs"] == 1:
            return f"{subject} is {size}, in one seed; one seed has no interval."
        return f"{subject} is {size} ({self._between()}, n = {row['pairs']}){self._became()}."

    def _size(self) -> str:
        """The effect without its sign; of shares of trials in percentage points."""
        size, unit = abs(self.row["effect"]), self.row["unit"]
        if unit == "share of trials":
            return f"{100 * size:.3g} percentage points"
        return f"{size:.3g} {unit}".rstrip()

    def _between(self) -> str:
        """How sure that is."""
        if pd.notna(self.row["low"]):
            return f"95 % interval {self.row['low']:+.3g} to {self.row['high']:+.3g}"
        return f"exact p = {self.row['p']:.2g}" if self.row["deviation"] else "the same in each seed"

    def _became(self) -> str:
        """What the judgement rests on, and what became of the expectation."""
        wanted = f" ({self.expected})" if self.expected else ""
        if self.judgement is Judgement.undecided:
            apart = self.row["low"] > 0 or self.row["high"] < 0
            corrected = f", as p is {self.row['p_holm']:.2g} after the correction" if apart and not self._same() else ""
            return f": undecided{corrected}{self._seeds()}"
        if self.judgement is Judgement.contradicted:
            return f", contrary to what was expected{wanted}"
        if self.judgement is Judgement.supported and self.expected != "same":
            return f", as expected{self._little()}"
        alike = f": equivalent within ± {self.margin:g}" if not self.row["identical"] and self.margin else ""
        if self.judgement is Judgement.supported:
            return f"{alike}, as expected"
        return alike if self.judgement is Judgement.equivalent else ""

    def _same(self) -> bool:
        return self.expected == "same"

    def _little(self) -> str:
        """Whether all of the interval is less than the study calls a difference worth having."""
        largest = max(abs(self.row["low"]), abs(self.row["high"]))
        return f", yet within ± {self.margin:g}" if self.margin is not None and largest < self.margin else ""

    def _seeds(self) -> str:
        """How many seeds would decide, where that is more than there are."""
        row, margin = self.row, self.margin
        if not row["deviation"]:
            return ""
        if self.expected == "same" and margin is not None:
            seeds = seeds_to_equivalence(margin / row["deviation"])
            what = f"show equivalence within ± {margin:g} if there is no difference"
        elif pd.isna(row["low"]):
            seeds, what = (
                seeds_for_share(row["effect"], ALPHA / self.family),
                f"show a difference of {row['effect']:.2g}",
            )
        else:
            size = max(abs(row["effect"]), margin or 0.0)
            seeds, what = seeds_needed(size / row["deviation"], ALPHA / self.family), f"show a difference of {size:.2g}"
        if seeds is not None and seeds <= row["pairs"]:
            return ""
        return f"; {f'about {seeds}' if seeds else f'more than {MOST}'} seeds would {what} with a chance of 80 %"


def lost(results: Results, arm: str) -> str:
    """How many trials of an arm or of the baseline diverged, which count in no mean."""
    trials = results.trials
    told = []
    for label in (results.arms[0], arm):
        own = trials[(trials.arm == label) & trials.status.isin(ENDED)]
        diverged = int((own.status == "diverged").sum())
        told += [f" {diverged} of {len(own)} trials of {label} diverged and are not in this."] * bool(diverged)
    return "".join(told)
