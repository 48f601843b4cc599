"""A study as it was run: `study.yaml`."""

from pathlib import Path
from typing import Any

import yaml

from analysis.record.words import unknown_word


def study_names(results: str | Path) -> list[str]:
    """The folders of all studies. Raises FileNotFoundError if there is none."""
    there = sorted(path.parent.name for path in Path(results).glob("studies/*/study.yaml"))
    if not Path(results).exists():
        raise FileNotFoundError(f"there is no folder {Path(results).absolute()}; name another: --results FOLDER")
    if not there:
        raise FileNotFoundError(f"{Path(results).absolute()} holds no study; name another folder: --results FOLDER")
    return there


def find_study(results: str | Path, study: str) -> Path:
    """The folder of a study, by its own name or by its folder's.

    Raises FileNotFoundError if there is none of that name, naming those there are.
    """
    homes = {name: Path(results, "studies", name) for name in study_names(results)}
    if study in homes:
        return homes[study]
    named = {read_study(home)["name"]: home for home in homes.values()}
    if study not in named:
        raise FileNotFoundError(f"{results}: {unknown_word('study', study, homes)}")
    return named[study]


def read_study(home: Path) -> dict[str, Any]:
    """The study as it was run."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # a thousand trials take the other seconds
    return yaml.load((home / "study.yaml").read_text(encoding="utf-8"), Loader=loader)
