"""The axes of a command line: which settings hold for all arms, which vary, and what each arm is called."""

import re
from collections.abc import Iterable
from typing import Any

from hydra.core.override_parser.types import Override

from experiments.design import Levels
from experiments.options import KINDS

# Settings whose keys are the user's.
FREE = tuple(f"study.{name}" for name in ("endpoints", "margin", "factors", "expect", "tune", "exclude"))
ALONE = "baseline"  # what the only arm of a study without axes is called


def word(level: Any) -> str:
    """A level as it would be typed in an override; text that Hydra's grammar would split is quoted.

    >>> word(0.001), word(None), word("a,b"), word([1, 2])
    ('0.001', 'null', "'a,b'", '[1,2]')
    """
    if isinstance(level, str):
        return level if re.fullmatch(r"[\w./+-]+", level, re.ASCII) else f"'{_escaped(level)}'"
    if isinstance(level, Iterable):
        return f"[{','.join(word(each) for each in level)}]"
    return "null" if level is None else str(level).lower() if isinstance(level, bool) else str(level)


def _escaped(text: str) -> str:
    """As Hydra reads it between quotes: backslashes count as such only before a quote or the end."""
    return re.sub(r"(\\*)('|$)", lambda found: 2 * found[1] + ("\\'" if found[2] else ""), text)


def split(overrides: Iterable[Override]) -> tuple[list[str], dict[str, list[str]]]:
    """The overrides that hold for all arms, and the levels of each axis."""
    fixed: list[str] = []
    axes: dict[str, list[str]] = {}
    seen: dict[str, str] = {}
    for override in overrides:
        key, line = override.get_key_element(), str(override.input_line)
        if key in seen:
            raise ValueError(
                f"{key} is given twice: {seen[key]} and {line}; give all levels of an axis together: {key}=A,B"
            )
        seen[key] = line
        if not override.is_sweep_override():
            fixed.append(line)
        elif override.is_discrete_sweep():
            axes[key] = [str(level) for level in override.sweep_string_iterator()]
        else:
            raise ValueError(f"{override.input_line}: an interval has no levels to try; list them: {key}=1,2,3")
    return fixed, axes


def applicable(arm: Levels, arms: list[Levels]) -> Levels:
    """Leave out a knob that the arm's part does not have but another level of the same kind has."""

    def has(levels: Levels, key: str) -> bool:
        kind, _, knob = key.partition(".")
        return kind not in levels or kind not in KINDS or not knob or knob in KINDS[kind].knobs(levels[kind])

    return {key: level for key, level in arm.items() if has(arm, key) or not any(has(other, key) for other in arms)}


def labelled(arms: list[Levels]) -> dict[str, Levels]:
    """Each different arm by what sets it apart from the first; the first by all its levels."""
    first = arms[0]
    labels: dict[str, Levels] = {}
    for arm in arms:
        apart = arm if arm == first else {key: level for key, level in arm.items() if first.get(key) != level}
        apart = apart or {key: level for key, level in first.items() if key not in arm}
        labels.setdefault(", ".join(f"{key}={level}" for key, level in apart.items()) or ALONE, arm)
    return labels
