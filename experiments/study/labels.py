"""Which levels apply to an arm, and what the arm is called."""

from experiments.design import Levels
from experiments.settings.schema import KINDS

ONLY_ARM = "baseline"  # what the only arm of a study without axes is called


def applicable_levels(arm: Levels, arms: list[Levels]) -> Levels:
    """Leave out a knob that the arm's part does not have but another level of the same kind has."""

    def has(levels: Levels, key: str) -> bool:
        kind, _, knob = key.partition(".")
        return kind not in levels or kind not in KINDS or not knob or knob in KINDS[kind].knobs(levels[kind])

    return {key: level for key, level in arm.items() if has(arm, key) or not any(has(other, key) for other in arms)}


def label_arms(arms: list[Levels]) -> dict[str, Levels]:
    """Each different arm by what sets it apart from the first; the first by all its levels."""
    first = arms[0]
    labels: dict[str, Levels] = {}
    for arm in arms:
        apart = arm if arm == first else {key: level for key, level in arm.items() if first.get(key) != level}
        apart = apart or {key: level for key, level in first.items() if key not in arm}
        labels.setdefault(", ".join(f"{key}={level}" for key, level in apart.items()) or ONLY_ARM, arm)
    return labels
