"""What two trials of one seed have in common, by what they recorded and were set to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from analysis.tables.columns import as_rows
from analysis.tables.results import Results, arm_settings

PER_STEP = ("batch_size", "trainer.accumulate_grad_batches")  # whose product is the sequences of a step
NO_SEED_IN_COMMON = "pairs have no seed in common: they are numbered alike, and nothing more"


@dataclass(frozen=True)
class ArmRecord:
    """An arm's settings, what its numbers are about, and by seed the seeds and the data that its trials recorded."""

    settings: Mapping[str, Any]
    meaning: Mapping[str, str]
    seeds: Mapping[int, Mapping[str, int]]
    contents: frozenset[str]

    @property
    def sequences(self) -> int:
        """Sequences per optimizer step."""
        return prod(self.settings.get(setting) or 1 for setting in PER_STEP)

    def facet(self, facet: str, setting: str) -> Any:
        """A facet of the meaning, or the setting that decides it where trials recorded none."""
        return self.meaning.get(facet, self.settings.get(setting))


def pairing_sentence(results: Results) -> str:
    """What two trials of one seed have in common, in a sentence."""
    baseline, *others = results.arms
    records = {arm: arm_record(results, arm) for arm in results.arms}
    base = records[baseline]
    if others and all(_seeds_differ(base, records[arm], "init_seed", "data_seed") for arm in others):
        return NO_SEED_IN_COMMON
    tokens = {arm: reason for arm in others if (reason := tokens_apart(base, records[arm]))}
    weights = {arm: reason for arm in others if (reason := weights_apart(base, records[arm]))}
    shared = "share every initial weight that the arm leaves alone"
    if not tokens and not weights:
        return f"paired by seed: both saw the same tokens in the same order and {shared}"
    read = _property("both saw the same tokens in the same order", "what they read differs", tokens, others)
    begun = _property(f"both {shared}", "their initial weights differ", weights, others)
    return f"paired by seed: {read}; {begun}"


def arm_record(results: Results, arm: str) -> ArmRecord:
    """What is on record of an arm."""
    trials = {t["seed"]: results.summary_of(t["trial"]) for t in as_rows(results.trials[results.trials.arm == arm])}
    there = {seed: summary for seed, summary in trials.items() if summary}
    settings = arm_settings(results.study["arms"][arm]) if "settings" in results.study["arms"][arm] else {}
    seeds = {seed: summary.get("seeds", {}) for seed, summary in there.items()}
    contents = frozenset(str(summary["data"]["content"]) for summary in there.values())
    return ArmRecord(settings, results.meanings.get(arm, {}), seeds, contents)


def tokens_apart(base: ArmRecord, own: ArmRecord) -> str:
    """Why two trials of one seed did not see the same tokens in the same order, in a few words; empty if they did."""
    differ: dict[str, Callable[[ArmRecord], Any]] = {
        "other data": lambda arm: (arm.facet("data", "data"), arm.contents),
        "sequences of another length": lambda arm: arm.facet("context", "model.context"),
        "another number of sequences per step": lambda arm: arm.sequences,
        "another number of steps": lambda arm: arm.settings.get("trainer.max_steps"),
        "another objective, which poses them otherwise": lambda arm: arm.facet("objective", "objective"),
    }
    reasons = [words for words, of in differ.items() if of(base) != of(own)]
    if _seeds_differ(base, own, "data_seed"):
        reasons.insert(0, "another data_seed")
    return ", ".join(reasons)


def weights_apart(base: ArmRecord, own: ArmRecord) -> str:
    """Why weights that the arm leaves alone begin otherwise in two trials of one seed; empty if they begin alike."""
    init = ({k: v for k, v in arm.settings.items() if k.partition(".")[0] == "init"} for arm in (base, own))
    reasons = ["another init"] if next(init) != next(init) else []
    return ", ".join([*(["another init_seed"] if _seeds_differ(base, own, "init_seed") else []), *reasons])


def _seeds_differ(base: ArmRecord, own: ArmRecord, *names: str) -> bool:
    """Whether every one of these seeds differs in some pair of trials."""
    pairs = [(base.seeds[seed], own.seeds[seed]) for seed in base.seeds.keys() & own.seeds.keys()]
    return bool(pairs) and all(any(a.get(name) != b.get(name) for a, b in pairs) for name in names)


def _property(holds: str, fails: str, reasons: Mapping[str, str], others: list[str]) -> str:
    """What holds for all arms but some, with the reasons."""
    if not reasons:
        return holds
    told = "; ".join(f"{arm}: {reason}" for arm, reason in reasons.items())
    return f"{fails} ({told})" if len(reasons) == len(others) else f"{holds}, except ({told})"
