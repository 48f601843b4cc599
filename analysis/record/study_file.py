"""A study as it was run: `study.yaml`."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from analysis.record.files import DamagedFile, read_yaml
from analysis.record.layout import STUDIES, STUDY
from analysis.record.words import unknown_word

REQUIRED_KEYS = ("name", "question", "arms", "trials", "seeds", "endpoints")


def study_names(results: str | Path) -> list[str]:
    """The folders of all studies. Raises FileNotFoundError if there is none."""
    there = sorted(path.parent.name for path in Path(results).glob("studies/*/study.yaml"))
    if not Path(results).exists():
        raise FileNotFoundError(f"there is no folder {Path(results).absolute()}; name another: --results FOLDER")
    if not there:
        raise FileNotFoundError(f"{Path(results).absolute()} holds no study; name another folder: --results FOLDER")
    return there


def find_study(results: str | Path, study: str) -> Path:
    """The folder of a study, by its own name or by its folder's; damaged studies are found by the latter.

    Raises FileNotFoundError if there is none of that name, naming those there are.
    """
    homes = {name: Path(results, STUDIES, name) for name in study_names(results)}
    if study in homes:
        return homes[study]
    for home in homes.values():
        with suppress(DamagedFile):
            if read_study(home)["name"] == study:
                return home
    raise FileNotFoundError(f"{results}: {unknown_word('study', study, homes)}")


def read_study(home: Path) -> dict[str, Any]:
    """The study as it was run. Raises DamagedFile where its file cannot be read."""
    return read_yaml(home / STUDY, *REQUIRED_KEYS)
