"""Which settings a study varies and crosses; the cautions are derived from it."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from analysis.record.flatten import flatten
from analysis.record.plain import JsonValue, Scalar, Settings
from analysis.record.study_file import ArmRecord

SIZES = ("batch_size", "model.context", "trainer.max_steps")  # whose product is the tokens of a trial


@dataclass(frozen=True)
class StudyCoverage:
    """Each arm's settings as flat columns, the factors that make the arms, the settings that each arm chose for itself,
    the endpoints, and all measures.
    """

    arms: Sequence[Settings]
    factors: Collection[str] = ()
    tuned: Collection[str] = ()
    endpoints: Collection[str] = ()
    measured: Collection[str] = ()

    @classmethod
    def of(
        cls, arms: Mapping[str, ArmRecord], tune: Iterable[str], endpoints: Collection[str], measured: Collection[str]
    ) -> "StudyCoverage":
        """The coverage of these arms; `tune` are the keys of the study's section `tune`."""
        settings = [flatten(arm.settings) for arm in arms.values()]
        factors = {factor for arm in arms.values() for factor in arm.levels}
        return cls(settings, factors, {key for key in tune if key != "seeds"}, endpoints, measured)

    def levels(self, setting: str) -> set[Scalar]:
        """The values that a setting takes, in single layers too."""
        return {value for arm in self.arms for value in _setting_values(arm, setting)}

    def varies(self, setting: str) -> bool:
        """Whether a setting takes several values."""
        return len(self.levels(setting)) > 1

    def levels_among(self, setting: str, *levels: str) -> int:
        """How many of these levels are compared."""
        return len(self.levels(setting) & set(levels)) if self.varies(setting) else 0

    def is_crossed_with(self, setting: str, *others: str) -> bool:
        """Whether each of the others was chosen by each arm, or takes several values under several of the setting's."""
        return all(other in self.tuned or self._varies_together(setting, other) for other in others)

    def _varies_together(self, setting: str, other: str) -> bool:
        pairs = {(_scalar(arm.get(setting)), _scalar(arm.get(other))) for arm in self.arms}
        counts = Counter(level for level, _ in pairs)
        return sum(count > 1 for count in counts.values()) > 1

    def measures(self, *families: str) -> bool:
        """Whether anything of these families is measured."""
        return any(name.partition("/")[0] in families for name in self.measured)

    def tokens(self) -> float:
        """The largest number of tokens that a trial reads."""
        return max(prod(_number(arm.get(size)) for size in SIZES) for arm in self.arms)


def _setting_values(arm: Settings, setting: str) -> set[Scalar]:
    """A setting's value in an arm, and its values in single layers."""
    in_layers = {
        _scalar(value) for key, value in arm.items() if key.startswith("layers.") and key.split(".", 2)[-1] == setting
    }
    return {_scalar(arm.get(setting)), *in_layers}


def _scalar(value: JsonValue) -> Scalar:
    """A value itself, or a list as text."""
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _number(value: JsonValue) -> float:
    return value if isinstance(value, int | float) else 0
