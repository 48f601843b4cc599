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

from analysis.record.files import os_error_text
from components.registry import kinds, unknown
from experiments.settings.overrides import USER_KEYS
from experiments.settings.schema import KINDS

STUDY_EXAMPLES = {
    "study.endpoints": "{val/loss: final}",
    "study.margin": "{val/loss: 0.02}",
    "study.expect": "{norm=rmsnorm: {val/loss: same}}",
    "study.factors": "{norm: [layernorm, rmsnorm]}",
    "study.exclude": "{TRIAL: why}",
}


def explain_error(error: BaseException) -> str:
    """One or two sentences; whatever is not known to be the user's mistake keeps its type's name.

    Set HYDRA_FULL_ERROR=1 for the traceback.
    """
    where = "".join(f"\n({note})" for note in getattr(error, "__notes__", ()))
    for kind, explain in EXPLANATIONS.items():
        if isinstance(error, kind):
            return f"knockout: {explain(error)}{where}"
    return f"knockout: {type(error).__name__}: {error}\n(set HYDRA_FULL_ERROR=1 for the traceback)"


def _explain_missing_option(error: MissingConfigException) -> str:
    group, _, name = (error.missing_cfg_file or "").rpartition("/")
    every = {**KINDS, **kinds("experiments")}
    options = sorted(error.options or (every[group].names() if group in every else []))
    if not options:
        return str(error).splitlines()[0]
    own = Path("conf", group, f"{name}.yaml")
    return unknown(group, name, options) + (f"; {own} is read with --config-dir conf" if own.exists() else "")


def _explain_composition(error: ConfigCompositionException) -> str:
    cause = error.__cause__ or error.__context__
    if not isinstance(cause, OmegaConfBaseException):
        return str(error)
    place = f"{str(error).partition(':')[0]}: " if str(error).startswith("In '") else ""
    return f"{place}{_explain_setting(cause)}"


def _explain_setting(error: OmegaConfBaseException) -> str:
    key = str(error.full_key)
    if isinstance(error, MissingMandatoryValue) or "Missing mandatory value" in str(error):
        return f"{key} must be given: type {key}=…"
    if key == "study.study":
        return "the file of a study begins with the line '# @package _global_'"
    own = next((setting for setting in STUDY_EXAMPLES if key.startswith(setting)), "")
    if own and isinstance(error, ValidationError):
        return f"{own} is written {own.rpartition('.')[2]}: {STUDY_EXAMPLES[own]}"
    if isinstance(error, ConfigTypeError):
        return f"what a study asks is written as KEY: VALUE, such as endpoints: {STUDY_EXAMPLES['study.endpoints']}"
    if isinstance(error, ValidationError):
        return f"{key}: {(error.msg or str(error)).splitlines()[0]}"
    return _explain_unknown_key(key, error.parent_node) if _is_unknown_key(error) else str(error)


def _is_unknown_key(error: OmegaConfBaseException) -> bool:
    return isinstance(error, ConfigKeyError | AttributeError) and isinstance(error.parent_node, DictConfig)


def _explain_unknown_key(key: str, parent: object) -> str:
    section, _, word = key.rpartition(".")
    assert isinstance(parent, DictConfig)
    known = sorted(str(name) for name in parent if name not in ("name", "hydra", "trial", "label"))
    if section in USER_KEYS:
        return f"{section} has no {word!r} yet; to add it type '{section}={{{word}: VALUE}}'"
    holder = f"{section}={parent['name']}" if section in KINDS else section or "the configuration"
    return f"{holder}: {unknown('setting', word, known)}"


def _explain_parse(error: OverrideParseException) -> str:
    typed = error.override.lstrip("+")
    key, _, value = typed.partition("=")
    if key.startswith(USER_KEYS):
        return f"cannot read {typed!r}: names with = or / in them cannot be typed here; write {key} in the study's file"
    if value.startswith('"'):
        return f"cannot read {typed!r}: {str(error).splitlines()[0]}"
    return f"cannot read {typed!r}; if the value has special characters, quote it twice: '{key}=\"{value}\"'"


def _error_text(error: BaseException) -> str:
    return str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)


EXPLANATIONS = {
    MissingConfigException: _explain_missing_option,
    OverrideParseException: _explain_parse,
    ConfigCompositionException: _explain_composition,
    OmegaConfBaseException: _explain_setting,
    ValueError: _error_text,
    KeyError: _error_text,
    OSError: os_error_text,
}
