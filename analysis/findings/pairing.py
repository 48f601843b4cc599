"""What two trials of one seed have in common, according to their records and settings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

from analysis.record.plain import JsonValue, Settings
from analysis.tables.columns import as_rows
from analysis.tables.results import Results, arm_settings

PER_STEP = ("batch_size", "trainer.accumulate_grad_batches")  # their product is the number of sequences per step
NO_SEED_IN_COMMON = "pairs have no seed in common: they are numbered alike, and nothing more"


@dataclass(frozen=True)
class ArmPairing:
    """An arm's settings, what its values are about, its trials' seeds by seed number, and the digests of their data."""

    settings: Settings
    meaning: Mapping[str, str]
    seeds: Mapping[int, Mapping[str, int]]
    contents: frozenset[str]

    @property
    def sequences(self) -> int:
        """Sequences per optimizer step; a setting without a number counts as 1."""
        counts = (self.settings.get(setting) for setting in PER_STEP)
        return prod(count for count in counts if isinstance(count, int) and count)

    def facet(self, facet: str, setting: str) -> JsonValue:
        """A facet of the meaning, or the setting that decides it where trials recorded none."""
        return self.meaning.get(facet, self.settings.get(setting))


def pairing_sentence(results: Results) -> str:
    """What two trials of one seed have in common, in a sentence."""
    baseline, *others = results.arms
    pairings = {arm: arm_pairing(results, arm) for arm in results.arms}
    base = pairings[baseline]
    if others and all(_seeds_differ(base, pairings[arm], "init_seed", "data_seed") for arm in others):
        return NO_SEED_IN_COMMON
    tokens = {arm: reason for arm in others if (reason := tokens_apart(base, pairings[arm]))}
    weights = {arm: reason for arm in others if (reason := weights_apart(base, pairings[arm]))}
    same_tokens = "both trials read the same tokens in the same order"
    same_weights = "share every initial weight that the arm does not touch"
    if not tokens and not weights:
        return f"paired by seed: {same_tokens} and {same_weights}"
    read = _shared_property(same_tokens, "the trials read different data", tokens, others)
    begun = _shared_property(f"both trials {same_weights}", "their initial weights differ", weights, others)
    return f"paired by seed: {read}; {begun}"


def arm_pairing(results: Results, arm: str) -> ArmPairing:
    """What the records of an arm's trials say about its pairs."""
    trials = as_rows(results.trials[results.trials.arm == arm])
    summaries = {
        trial["seed"]: results.summaries[trial["trial"]] for trial in trials if trial["trial"] in results.summaries
    }
    return ArmPairing(
        arm_settings(results.study.arms[arm]),
        results.meanings.get(arm, {}),
        {seed: summary.seeds for seed, summary in summaries.items()},
        frozenset(summary.data.content for summary in summaries.values()),
    )


def tokens_apart(base: ArmPairing, arm: ArmPairing) -> str:
    """Why two trials of one seed did not read the same tokens in the same order, in a few words; empty if they did."""
    causes: dict[str, Callable[[ArmPairing], object]] = {
        "other data": lambda pairing: (pairing.facet("data", "data"), pairing.contents),
        "sequences of another length": lambda pairing: pairing.facet("context", "model.context"),
        "another number of sequences per step": lambda pairing: pairing.sequences,
        "another number of steps": lambda pairing: pairing.settings.get("trainer.max_steps"),
        "another objective": lambda pairing: pairing.facet("objective", "objective"),
    }
    reasons = [words for words, value in causes.items() if value(base) != value(arm)]
    if _seeds_differ(base, arm, "data_seed"):
        reasons.insert(0, "another data_seed")
    return ", ".join(reasons)


def weights_apart(base: ArmPairing, arm: ArmPairing) -> str:
    """Why weights that the arm does not touch begin otherwise in two trials of one seed; empty if they begin alike."""
    reasons = ["another init_seed"] if _seeds_differ(base, arm, "init_seed") else []
    if _init_settings(base) != _init_settings(arm):
        reasons.append("another init")
    return ", ".join(reasons)


def _init_settings(pairing: ArmPairing) -> dict[str, JsonValue]:
    return {key: value for key, value in pairing.settings.items() if key.partition(".")[0] == "init"}


def _seeds_differ(base: ArmPairing, arm: ArmPairing, *names: str) -> bool:
    """Whether every one of these seeds differs in some pair of trials."""
    pairs = [(base.seeds[seed], arm.seeds[seed]) for seed in base.seeds.keys() & arm.seeds.keys()]
    return bool(pairs) and all(any(a.get(name) != b.get(name) for a, b in pairs) for name in names)


def _shared_property(holds: str, fails: str, reasons: Mapping[str, str], others: list[str]) -> str:
    """What holds for all arms except some, with the reasons."""
    if not reasons:
        return holds
    named = "; ".join(f"{arm}: {reason}" for arm, reason in reasons.items())
    return f"{fails} ({named})" if len(reasons) == len(others) else f"{holds}, except ({named})"
