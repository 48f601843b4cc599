"""Errors for a person: what was given, what is allowed, the nearest match, what to type."""

from pathlib import Path

from hydra.errors import ConfigCompositionException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig
from omegaconf.errors import (
    ConfigKeyError,
    ConfigTypeError,
    MissingMandatoryValue,
    OmegaConfBaseException,
    ValidationError,
)

from components.registry import kinds, unknown
from experiments.axes import FREE
from experiments.options import KINDS

SHAPES = {
    "study.endpoints": "{val/loss: final}",
    "study.margin": "{val/loss: 0.02}",
    "study.expect": "{norm=rmsnorm: {val/loss: same}}",
    "study.factors": "{norm: [layernorm, rmsnorm]}",
    "study.exclude": "{TRIAL: why}",
}


def explained(error: BaseException) -> str:
    """One or two sentences; whatever is not known to be the user's mistake keeps its type's name.

    Set HYDRA_FULL_ERROR=1 for the traceback.
    """
    where = "".join(f"\n({note})" for note in getattr(error, "__notes__", ()))
    for kind, explain in EXPLANATIONS.items():
        if isinstance(error, kind):
            return f"knockout: {explain(error)}{where}"
    return f"knockout: {type(error).__name__}: {error}\n(set HYDRA_FULL_ERROR=1 for the traceback)"


def _missing_option(error: MissingConfigException) -> str:
    group, _, name = (error.missing_cfg_file or "").rpartition("/")
    every = {**KINDS, **kinds("experiments")}
    options = sorted(error.options or (every[group].names() if group in every else []))
    if not options:
        return str(error).splitlines()[0]
    own = Path("conf", group, f"{name}.yaml")
    return unknown(group, name, options) + (f"; {own} is read with --config-dir conf" if own.exists() else "")


def _composition(error: ConfigCompositionException) -> str:
    cause = error.__cause__ or error.__context__
    if not isinstance(cause, OmegaConfBaseException):
        return str(error)
    place = f"{str(error).partition(':')[0]}: " if str(error).startswith("In '") else ""
    return f"{place}{_setting(cause)}"


def _setting(error: OmegaConfBaseException) -> str:
    key = str(error.full_key)
    if isinstance(error, MissingMandatoryValue) or "Missing mandatory value" in str(error):
        return f"{key} must be given: type {key}=…"
    if key == "study.study":
        return "the file of a study begins with the line '# @package _global_'"
    own = next((setting for setting in SHAPES if key.startswith(setting)), "")
    if own and isinstance(error, ValidationError):
        return f"{own} is written {own.rpartition('.')[2]}: {SHAPES[own]}"
    if isinstance(error, ConfigTypeError):
        return f"what a study asks is written as KEY: VALUE, such as endpoints: {SHAPES['study.endpoints']}"
    if isinstance(error, ValidationError):
        return f"{key}: {(error.msg or str(error)).splitlines()[0]}"
    return _unknown(key, error.parent_node) if _is_unknown(error) else str(error)


def _is_unknown(error: OmegaConfBaseException) -> bool:
    return isinstance(error, ConfigKeyError | AttributeError) and isinstance(error.parent_node, DictConfig)


def _unknown(key: str, parent: object) -> str:
    section, _, word = key.rpartition(".")
    assert isinstance(parent, DictConfig)
    known = sorted(str(name) for name in parent if name not in ("name", "hydra", "trial", "label"))
    if section in FREE:
        return f"{section} has no {word!r} yet; to add it type '{section}={{{word}: VALUE}}'"
    holder = f"{section}={parent['name']}" if section in KINDS else section or "the configuration"
    return f"{holder}: {unknown('setting', word, known)}"


def _parse(error: OverrideParseException) -> str:
    typed = error.override.lstrip("+")
    key, _, value = typed.partition("=")
    if key.startswith(FREE):
        return f"cannot read {typed!r}: names with = or / in them cannot be typed here; write {key} in the study's file"
    if value.startswith('"'):
        return f"cannot read {typed!r}: {str(error).splitlines()[0]}"
    return f"cannot read {typed!r}; if the value has special characters, quote it twice: '{key}=\"{value}\"'"


def _words(error: BaseException) -> str:
    return str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)


EXPLANATIONS = {
    MissingConfigException: _missing_option,
    OverrideParseException: _parse,
    ConfigCompositionException: _composition,
    OmegaConfBaseException: _setting,
    ValueError: _words,
    KeyError: _words,
    OSError: _words,
}
