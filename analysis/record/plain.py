"""Plain values, as JSON and YAML hold them, the files they stand in, and the version of the record's format."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from analysis.record.files import mapping_with, reading

JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
Scalar: TypeAlias = bool | int | float | str | None
Settings: TypeAlias = Mapping[str, JsonValue]

FORMAT = 2  # of study.yaml and summary.json; it grows whenever an older file would be misread

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # a thousand trials take the loader in Python some seconds
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def read_yaml(path: Path, *required: str) -> dict[str, Any]:
    """The mapping in a YAML file. Raises DamagedFile for anything else, and where a required key is missing."""
    with reading(path):
        return mapping_with(yaml.load(path.read_text(encoding="utf-8"), Loader=LOADER), required)


def yaml_text(value: object) -> str:
    """A plain value as YAML, keys in their own order.

    >>> yaml_text({"norm": {"name": "rmsnorm"}})
    'norm:\\n  name: rmsnorm\\n'
    """
    return yaml.dump(value, Dumper=DUMPER, sort_keys=False, allow_unicode=True)


def refuse_other_format(path: Path, content: Settings) -> None:
    """Raises ValueError for a file whose `format` is not `FORMAT`."""
    version = content.get("format")
    if version != FORMAT:
        named = "no format version" if version is None else f"format {version}"
        raise ValueError(
            f"{path} has {named}, and this version of knockout reads format {FORMAT} only; "
            "run the study again in a new folder: runtime.results=FOLDER"
        )
