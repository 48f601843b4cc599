"""Errors for a person: what was given, what is allowed, the nearest match, what to type."""

from hydra.errors import ConfigCompositionException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig
from omegaconf.errors import ConfigKeyError, MissingMandatoryValue, OmegaConfBaseException, ValidationError

from components.registry import did_you_mean
from experiments.options import KINDS


def explained(error: BaseException) -> str:
    """One or two sentences; whatever is not known to be the user's mistake keeps its type's name.

    Set HYDRA_FULL_ERROR=1 for the traceback.
    """
    for kind, explain in EXPLANATIONS.items():
        if isinstance(error, kind):
            return f"knockout: {explain(error)}"
    return f"knockout: {type(error).__name__}: {error}\n(set HYDRA_FULL_ERROR=1 for the traceback)"


def _missing_option(error: MissingConfigException) -> str:
    group, _, name = (error.missing_cfg_file or "").rpartition("/")
    options = sorted(error.options or [])
    if not options:
        return str(error).splitlines()[0]
    return f"there is no {group} {name!r}{did_you_mean(name, options)}; there are: {', '.join(options)}"


def _composition(error: ConfigCompositionException) -> str:
    cause = error.__cause__
    return _setting(cause) if isinstance(cause, OmegaConfBaseException) else str(error)


def _setting(error: OmegaConfBaseException) -> str:
    key = str(error.full_key)
    if isinstance(error, MissingMandatoryValue) or "Missing mandatory value" in str(error):
        return f"{key} must be given: type {key}=…"
    if isinstance(error, ValidationError):
        return f"{key}: {(error.msg or str(error)).splitlines()[0]}"
    return _unknown(key, error.parent_node) if _is_unknown(error) else str(error)


def _is_unknown(error: OmegaConfBaseException) -> bool:
    return isinstance(error, ConfigKeyError | AttributeError) and isinstance(error.parent_node, DictConfig)


def _unknown(key: str, parent: object) -> str:
    section, _, word = key.rpartition(".")
    assert isinstance(parent, DictConfig)
    known = sorted(str(name) for name in parent if name != "name") if section else sorted({*KINDS, *map(str, parent)} - {"hydra", "trial"})
    holder = f"{section}={parent['name']}" if "name" in parent and section in KINDS else section or "the configuration"
    if not known:
        return f"{key}: {holder} has no settings"
    return f"{key}: {holder} has no setting {word!r}{did_you_mean(word, known)}; its settings are: {', '.join(known)}"


def _parse(error: OverrideParseException) -> str:
    key, _, value = error.override.partition("=")
    return f"cannot read {error.override!r}; if its value is a text with special characters, quote it twice: '{key}=\"{value}\"'"


def _words(error: BaseException) -> str:
    return str(error.args[0] if error.args else error)


EXPLANATIONS = {
    MissingConfigException: _missing_option,
    OverrideParseException: _parse,
    ConfigCompositionException: _composition,
    OmegaConfBaseException: _setting,
    ValueError: _words,
    KeyError: _words,
    FileNotFoundError: _words,
    PermissionError: _words,
}
