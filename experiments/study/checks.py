"""What a study cannot mean, said before anything trains."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from components.domains import declared, refuse, refuse_all, unknown
from experiments.settings.schema import DIAGNOSTICS, KINDS, SECTIONS, General, SeedCount


def refuse_clashes(factors: Mapping[str, Sequence[str]], axes: Mapping[str, Sequence[str]], fixed: list[str]) -> None:
    """What is set twice, levels that are given twice, and factors or axes that are no setting of an arm."""
    roots = (*KINDS, "model", "layers", "trainer", "batch_size", "seed_offset", "init_seed", "data_seed", "diagnostic")
    for factor in factors:
        if factor in axes or factor in fixed:
            raise ValueError(f"{factor} is a factor of this study and on the command line too; leave one of them out")
    for factor, levels in {**factors, **axes}.items():
        _refuse_repeated(factor, levels)
        root = factor.lstrip("+").partition(".")[0]
        if root == "study" and "." not in factor:
            raise ValueError("studies are run one by one: a command for each")
        if root == "seed":
            raise ValueError("seed is no factor: every arm runs under the same seeds; set study.seeds")
        if root not in roots or factor == "model":
            raise ValueError(f"{factor} makes no arms: {unknown('setting of an arm', root, roots)}")


def refuse_unknown_exclusions(excluded: Iterable[str], trials: Collection[str]) -> None:
    """Exclusions that are no trial of the study, by the first digits of its id, or may be several."""
    for id in map(str, excluded):
        meant = [trial for trial in trials if trial.startswith(id)]
        if not meant:
            raise ValueError(f"study.exclude: {unknown('trial', id, trials)}")
        if len(meant) > 1:
            raise ValueError(f"study.exclude: {id} is the beginning of {len(meant)} trials: {', '.join(meant)}")


def refuse_invalid_settings(config: Mapping[str, Any]) -> None:
    """Raises ValueError for a setting that nothing declares, one that is missing, a value outside its domain, and
    numbers that do not fit each other.
    """
    general = {name: hint for name, hint in declared(General).items() if name != "knobs"}  # these stand in their parts
    _refuse_all("the configuration", "", config, general | dict.fromkeys([*KINDS, *SECTIONS, "diagnostic"], Any))
    trainer, tune = config["trainer"], config["study"]["tune"]
    if trainer.get("precision") == "16-mixed":
        raise ValueError("trainer.precision=16-mixed scales gradients, whose norms would be wrong; take bf16-mixed")
    for section, schema in SECTIONS.items():
        _refuse_all(section, section, config[section], declared(schema))
    for kind, registry in KINDS.items():
        registry.refuse(config[kind], kind)
        _refuse_missing(kind, config[kind], registry.domains(config[kind]["name"]))
    for name, knobs in config["diagnostic"].items():
        DIAGNOSTICS.refuse(knobs, f"diagnostic.{name}")
    refuse("study.tune.seeds", tune.get("seeds", 2), SeedCount)
    for setting, levels in tune.items():
        if isinstance(levels, list):
            _refuse_repeated(f"study.tune.{setting}", [str(level) for level in levels])
    if config["batch_size"] % trainer["devices"]:
        raise ValueError(f"trainer.devices={trainer['devices']} cannot share batch_size={config['batch_size']} evenly")


def _refuse_all(holder: str, place: str, values: Mapping[str, Any], hints: Mapping[str, Any]) -> None:
    """Settings that are not declared, that are missing, or that have a value outside their domain."""
    refuse_all(holder, place, values, hints)
    _refuse_missing(place, values, hints)


def _refuse_missing(place: str, values: Mapping[str, Any], names: Iterable[str]) -> None:
    for name in names:
        if name not in values:
            setting = f"{place}.{name}" if place else name
            raise ValueError(f"{setting} must be given: type {setting}=…")


def _refuse_repeated(factor: str, levels: Sequence[str]) -> None:
    """No level at all, and levels that are one value, even if it is written in two ways."""
    if not levels:
        raise ValueError(f"{factor}=[]: a factor must have at least one level")
    first: dict[Decimal | str, str] = {}
    for level in levels:
        value = _value(level)
        if value in first:
            same = f"the levels {first[value]} and {level} are the same"
            raise ValueError(f"{factor}={','.join(levels)}: {same}; leave one of them out")
        first[value] = level


def _value(level: str) -> Decimal | str:
    """The number that a level is written for, or its text."""
    try:
        number = Decimal(level)
    except InvalidOperation:
        return level
    return number if number.is_finite() else level
