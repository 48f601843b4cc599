"""Words of a command line as Hydra reads them."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from hydra.core.override_parser.types import Override

# Settings whose keys are the user's.
USER_KEYS = tuple(f"study.{name}" for name in ("endpoints", "margin", "factors", "expect", "tune", "exclude"))


def override_text(level: Any) -> str:
    """A level as it would be typed in an override; text that Hydra's grammar would split is quoted.

    >>> override_text(0.001), override_text(None), override_text("a,b"), override_text([1, 2])
    ('0.001', 'null', "'a,b'", '[1,2]')
    """
    if isinstance(level, str):
        return level if re.fullmatch(r"[\w./+-]+", level, re.ASCII) else f"'{_escape_quotes(level)}'"
    if isinstance(level, Iterable):
        return f"[{','.join(override_text(each) for each in level)}]"
    return "null" if level is None else str(level).lower() if isinstance(level, bool) else str(level)


def _escape_quotes(text: str) -> str:
    """As Hydra reads it between quotes: backslashes count as such only before a quote or the end."""
    return re.sub(r"(\\*)('|$)", lambda found: 2 * found[1] + ("\\'" if found[2] else ""), text)


def split_axes(overrides: Iterable[Override]) -> tuple[list[str], dict[str, list[str]]]:
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


OPTIONS_WITH_VALUE = {
    "--config-dir",
    "-cd",
    "--config-name",
    "-cn",
    "--config-path",
    "-cp",
    "--package",
    "-p",
    "--cfg",
    "-c",
}


def options_first(words: Sequence[str]) -> list[str]:
    """Words with Hydra's options before all settings: it takes them nowhere else.

    >>> options_first(["study=mine", "--config-dir", "conf", "norm=none"])
    ['--config-dir', 'conf', 'study=mine', 'norm=none']
    """
    left, options, settings = list(words), [], []
    while left:
        word = left.pop(0)
        (options if word.startswith("-") else settings).append(word)
        if word in OPTIONS_WITH_VALUE and left:
            options.append(left.pop(0))
    return [*options, *settings]


def single_level_axes(words: Sequence[str]) -> list[str]:
    """Words in which a knob of a part that is an axis (`norm=layernorm,none norm.eps=1`) is an axis of one level, and
    keys of the user's own may be new.

    Hydra composes the baseline with every setting that is no axis, and the baseline's part may not have the knob.

    >>> single_level_axes(["norm=layernorm,none", "norm.eps=1", "model.depth=3", "study.margin={val/loss: 0.1}"])
    ['norm=layernorm,none', 'norm.eps=choice(1)', 'model.depth=3', '++study.margin={val/loss: 0.1}']
    """

    pairs = [(word, *word.partition("=")[::2]) for word in words]
    axes = {key for _, key, value in pairs if "," in value and not value.startswith(("[", "{", "'", '"'))}
    kept = {
        word: f"{key}=choice({value})"
        for word, key, value in pairs
        if key.rpartition(".")[0] in axes and key not in axes
    }
    kept |= {word: f"++{word}" for word, key, _ in pairs if key in USER_KEYS}
    return [kept.get(word, word) for word in words]


def plugins_among(words: Sequence[str]) -> list[str]:
    """The files that `plugins=[…]` names among the words of a command line."""
    given = [word.partition("=")[2] for word in words if word.startswith("plugins=")]
    return [name.strip(" '\"") for value in given for name in value.strip("[]").split(",") if name.strip()]
