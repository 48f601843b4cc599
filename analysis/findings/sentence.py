"""A finding in words and numbers, for a colleague to quote."""

from dataclasses import dataclass
from math import isnan

from analysis.findings.judgement import ALPHA, Judgement
from analysis.statistics.power import MOST_SEEDS, seeds_for_share, seeds_needed, seeds_to_equivalence
from analysis.tables.columns import Effect
from analysis.tables.results import Results


@dataclass(frozen=True)
class FindingSentence:
    """The parts of a finding: the effect, its judgement, the expectation, the margin of its endpoint.

    `family` is the number of comparisons that p is corrected for.
    """

    effect: Effect
    judgement: Judgement
    expected: str
    margin: float | None
    baseline: str
    family: int

    def text(self) -> str:
        """The sentence."""
        effect, subject = self.effect, f"{self.effect.endpoint} under {self.effect.arm}"
        if effect.pairs == 0:
            return f"{subject}: no seed has a value in both arms."
        if effect.incomparable:
            values = f"{effect.arm_mean:.3g} under {effect.arm} and {effect.baseline_mean:.3g} under {self.baseline}"
            return f"{effect.endpoint} is {values}, which are not compared: {effect.incomparable}."
        if effect.identical:
            same = f"identical to {self.baseline}'s under every seed (n = {effect.pairs})"
            return f"{subject} is {same}{self._outcome()}."
        direction = "higher" if effect.effect > 0 else "lower"
        difference = f"{self._size_text()} {direction} than under {self.baseline}"
        if effect.pairs == 1:
            return f"{subject} is {difference}, in one seed; one seed has no interval."
        return f"{subject} is {difference} ({self._uncertainty()}, n = {effect.pairs}){self._outcome()}."

    def _size_text(self) -> str:
        """The effect without its sign; of shares of trials in percentage points."""
        size, unit = abs(self.effect.effect), self.effect.unit
        if unit == "share of trials":
            return f"{100 * size:.3g} percentage points"
        return f"{size:.3g} {unit}".rstrip()

    def _uncertainty(self) -> str:
        """The interval, or the exact p where there is none."""
        if not isnan(self.effect.low):
            return f"95 % interval {self.effect.low:+.3g} to {self.effect.high:+.3g}"
        return f"exact p = {self.effect.p:.2g}" if self.effect.sd_of_differences else "the same in each seed"

    def _outcome(self) -> str:
        """The judgement, and whether it agrees with the expectation."""
        if self.judgement is Judgement.undecided:
            return f": undecided{self._correction_note()}{self._seeds_needed_note()}"
        if self.judgement is Judgement.contradicted:
            expectation = f" ({self.expected})" if self.expected else ""
            return f", contrary to what was expected{expectation}"
        if self.judgement is Judgement.supported and self.expected != "same":
            return f", as expected{self._within_margin_note()}"
        equivalence = f": equivalent within ± {self.margin:g}" if not self.effect.identical and self.margin else ""
        if self.judgement is Judgement.supported:
            return f"{equivalence}, as expected"
        return equivalence if self.judgement is Judgement.equivalent else ""

    def _correction_note(self) -> str:
        """Why an interval that excludes 0 does not decide."""
        excludes_zero = self.effect.low > 0 or self.effect.high < 0
        if not excludes_zero or self.expected == "same":
            return ""
        return f", as p is {self.effect.p_holm:.2g} after the correction"

    def _within_margin_note(self) -> str:
        """Whether all of the interval is less than the study calls a difference worth having."""
        largest = max(abs(self.effect.low), abs(self.effect.high))
        return f", yet within ± {self.margin:g}" if self.margin is not None and largest < self.margin else ""

    def _seeds_needed_note(self) -> str:
        """How many seeds would decide, where that is more than there are."""
        effect, margin = self.effect, self.margin
        if not effect.sd_of_differences:
            return ""
        if self.expected == "same" and margin is not None:
            seeds = seeds_to_equivalence(margin / effect.sd_of_differences)
            goal = f"show equivalence within ± {margin:g} if there is no difference"
        elif isnan(effect.low):
            seeds = seeds_for_share(effect.effect, ALPHA / self.family)
            goal = f"show a difference of {effect.effect:.2g}"
        else:
            size = max(abs(effect.effect), margin or 0.0)
            seeds = seeds_needed(size / effect.sd_of_differences, ALPHA / self.family)
            goal = f"show a difference of {size:.2g}"
        if seeds is not None and seeds <= effect.pairs:
            return ""
        number = f"about {seeds}" if seeds else f"more than {MOST_SEEDS}"
        return f"; {number} seeds would {goal} with 80 % power"


def divergence_note(results: Results, arm: str) -> str:
    """How many trials of the baseline and of an arm diverged, which count in no mean."""
    sentences = []
    for label in (results.arms[0], arm):
        status = results.complete.status[results.complete.arm == label]
        diverged = int((status == "diverged").sum())
        if diverged:
            sentences.append(f" {diverged} of {len(status)} trials of {label} diverged and are not included.")
    return "".join(sentences)
