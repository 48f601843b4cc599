"""What a study compares, as those look at it who say what it does not show."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from analysis.settings import settings

SIZES = ("batch_size", "model.context", "trainer.max_steps")  # whose product is the tokens of a trial


@dataclass(frozen=True)
class Compared:
    """What a study compares: each arm's settings as flat columns, the factors that make the arms, settings that each
    arm chose for itself, endpoints, and all that is measured.
    """

    arms: Sequence[Mapping[str, Any]]
    factors: Collection[str] = ()
    tuned: Collection[str] = ()
    endpoints: Collection[str] = ()
    measured: Collection[str] = ()

    @classmethod
    def of(cls, study: Mapping[str, Any], measured: Collection[str]) -> "Compared":
        """A study as it is written down before it runs."""
        arms = [settings(arm["settings"]) for arm in study["arms"].values()]
        factors = {factor for arm in study["arms"].values() for factor in arm["levels"]}
        tuned = {key for key in study.get("tune", {}) if key != "seeds"}
        return cls(arms, factors, tuned, study["endpoints"], measured)

    def levels(self, setting: str) -> set[Any]:
        """The values that a setting takes, in single layers too."""
        return {value for arm in self.arms for value in _values(arm, setting)}

    def swept(self, setting: str) -> bool:
        """Whether a setting takes several values."""
        return len(self.levels(setting)) > 1

    def among(self, setting: str, *levels: str) -> int:
        """How many of these levels are compared."""
        return len(self.levels(setting) & set(levels)) if self.swept(setting) else 0

    def crossed(self, setting: str, *others: str) -> bool:
        """Whether each of the others was chosen by each arm, or takes several values under several of the setting's."""
        return all(other in self.tuned or self._together(setting, other) for other in others)

    def _together(self, setting: str, other: str) -> bool:
        pairs = {(arm.get(setting), arm.get(other)) for arm in self.arms}
        seen = Counter(level for level, _ in pairs)
        return sum(count > 1 for count in seen.values()) > 1

    def measures(self, *families: str) -> bool:
        """Whether anything of these families is measured."""
        return any(name.partition("/")[0] in families for name in self.measured)

    def tokens(self) -> float:
        """The most that a trial sees."""
        return max(prod(arm.get(size, 0) for size in SIZES) for arm in self.arms)


def _values(arm: Mapping[str, Any], setting: str) -> set[Any]:
    """A setting's value in an arm, and those that single layers have of their own."""
    own = {key: value for key, value in arm.items() if key.startswith("layers.")}
    return {arm.get(setting), *(value for key, value in own.items() if key.split(".", 2)[-1] == setting)}
