"""Parts from outside: a file in `./plugins/<kind>/`, a file named on the command line, or an installed package.

A package offers its module under the entry point group `knockout.parts`. Files are loaded before Hydra
composes anything, so that `norm=my_norm` works, and again in every trial's process.
"""

import hashlib
import importlib.util
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path

from components.registry import kinds, unknown

GROUP = "knockout.parts"
FOLDER = Path("plugins")


LOADED: dict[str, str] = {}  # files, as absolute paths, in order, with digests: what a trial's process must load too


def load(named: Iterable[str] = ()) -> None:
    """Load every plugin there is, and the files that are named.

    Raises FileNotFoundError for a file that is not there, ValueError for a folder that is no kind's.
    """
    for entry in entry_points(group=GROUP):
        entry.load()
    for path in [*beside(), *map(Path, named)]:
        run_file(path)


def load_again(planned: Mapping[str, str]) -> None:
    """Load the plugins that a trial was planned with. Raises RuntimeError if one of them has changed since."""
    load(planned)
    for path, digest in planned.items():
        if LOADED[path] != digest:
            raise RuntimeError(f"{path} has changed since the trial was planned; the same command plans it anew")


def beside(folder: Path = FOLDER) -> list[Path]:
    """The files of a plugins folder."""
    known = kinds("components") | kinds("experiments")
    for home in sorted(folder.glob("*/")):
        if home.name not in known and not home.name.startswith(("_", ".")):
            raise ValueError(f"{home}: {unknown('kind', home.name, known)}")
    return sorted(path for path in folder.glob("*/*.py") if not path.name.startswith("_"))


def run_file(path: Path) -> None:
    """Import a file under a name of its own, once a process."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path} to load parts from")
    name = f"knockout_plugin_{hashlib.sha256(str(path.absolute()).encode()).hexdigest()[:12]}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    LOADED.setdefault(str(path.absolute()), hashlib.sha256(path.read_bytes()).hexdigest()[:12])


def on_the_line(words: Sequence[str]) -> list[str]:
    """The files that `plugins=[…]` names among the words of a command line."""
    given = [word.partition("=")[2] for word in words if word.startswith("plugins=")]
    return [name.strip(" '\"") for value in given for name in value.strip("[]").split(",") if name.strip()]
