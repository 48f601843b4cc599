"""Parts from outside: a file in `./plugins/<kind>/`, a file named on the command line, or an installed package.

A package offers its module under the entry point group `knockout.parts`. Files are loaded before Hydra
composes anything, so that `norm=my_norm` works, and again in every trial's process.
"""

import hashlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from components.registry import kinds, unknown
from experiments.settings.source_code import code_digest, is_ours, source_files

ENTRY_POINTS = "knockout.parts"


PLUGINS_FOLDER = Path("plugins")


# Files, as absolute paths, and installed packages, as NAME==VERSION, in order, with digests: what a trial's process
# must load too.
LOADED: dict[str, str] = {}


class PluginError(ValueError):
    """A plugin that cannot be loaded, or must not be."""


def load_plugins(named: Iterable[str] = ()) -> None:
    """Load every plugin there is, and the files that are named.

    Raises FileNotFoundError for a file that is not there, PluginError for one that cannot be imported, ValueError for
    a folder that is no kind's.
    """
    for package, files in installed_packages().items():
        LOADED.setdefault(package, code_digest(source_files(files), [package]))
    for entry in entry_points(group=ENTRY_POINTS):
        with _explaining(f"the installed plugin {entry.value}", installed_packages()[_package_name(entry)]):
            entry.load()
    paths = [*files_in_plugins_folder(), *map(Path, named)]
    for path in paths:  # before the first of them runs, which may change where modules are looked for
        LOADED.setdefault(str(path.absolute()), plugin_digest(path))
    for path in paths:
        import_file(path)


def load_recorded_plugins(planned: Mapping[str, str]) -> None:
    """Load the plugins that a trial was planned with.

    Raises RuntimeError, before any of them runs, if one of them or a module that it imports has changed since.
    """
    installed = installed_packages()
    for plugin, digest in planned.items():
        is_file = Path(plugin).is_absolute()
        if not is_file and plugin not in installed:
            raise RuntimeError(f"the trial was planned with the plugin {plugin}, which is not installed here")
        now = plugin_digest(Path(plugin)) if is_file else code_digest(source_files(installed[plugin]), [plugin])
        if LOADED.get(plugin, now) != digest:
            raise RuntimeError(f"{plugin} has changed since the trial was planned; the same command plans it anew")
    load_plugins(plugin for plugin in planned if Path(plugin).is_absolute())


def refuse_plugins_inside(results: Path, named: Iterable[str]) -> None:
    """Raises PluginError if a plugin that would be loaded, or a module that it imports, lies in the results folder.

    Results may come from somebody else: nothing of them is ever run.
    """
    for plugin in [*files_in_plugins_folder(), *map(Path, named)]:
        for file in sorted(_own_files(plugin) if plugin.is_file() else []):
            if any(place.is_relative_to(results.resolve()) for place in (file.resolve(), file.parent.resolve())):
                raise PluginError(
                    f"{file} lies inside the results folder {results}, of which nothing is run; if you know and trust "
                    "this plugin, move it out, and run the study again with it"
                )


def files_in_plugins_folder(folder: Path = PLUGINS_FOLDER) -> list[Path]:
    """The files of a plugins folder."""
    known = kinds("components") | kinds("experiments")
    for home in sorted(folder.glob("*/")):
        if home.name not in known and not home.name.startswith(("_", ".")):
            raise ValueError(f"{home}: {unknown('kind', home.name, known)}")
    return sorted(path for path in folder.glob("*/*.py") if not path.name.startswith("_"))


def import_file(path: Path) -> None:
    """Import a file under a name of its own, once a process. Raises PluginError if that fails."""
    LOADED.setdefault(str(path.absolute()), plugin_digest(path))
    name = f"knockout_plugin_{hashlib.sha256(str(path.absolute()).encode()).hexdigest()[:12]}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        try:
            with _explaining(f"the plugin {path}", _own_files(path)):
                spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise


def plugin_digest(path: Path) -> str:
    """A digest of what a plugin and all modules of the user's that it imports compute.

    Raises FileNotFoundError for a file that is not there.
    """
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path} to load parts from")
    return code_digest(_own_files(path))


def parts_digest(parts: Iterable[Callable[..., Any]], files: Iterable[Path] = ()) -> str:
    """A digest of what parts, some files beside and all that these import compute.

    A part of an installed plugin brings its whole package, and the package's version.
    """
    written = {Path(str(inspect.getsourcefile(part))) for part in parts}
    packages = {package: own for package, own in installed_packages().items() if own & written}
    return code_digest(source_files(written.union(files, *packages.values())), packages)


@cache
def installed_packages() -> dict[str, frozenset[Path]]:
    """The files of each installed package that offers parts, by its name and version; none of them is run."""
    packages: dict[str, frozenset[Path]] = {}
    for entry in entry_points(group=ENTRY_POINTS):
        name = _package_name(entry)
        packages[name] = packages.get(name, frozenset()) | _package_files(entry.module.partition(".")[0])
    return packages


def _package_name(entry: EntryPoint) -> str:
    return f"{entry.dist.name}=={entry.dist.version}" if entry.dist else entry.module


def _package_files(module: str) -> frozenset[Path]:
    spec = importlib.util.find_spec(module)
    if spec is None:
        return frozenset()
    folders, own = spec.submodule_search_locations, [spec.origin] if spec.has_location else []
    return frozenset({*map(Path, filter(None, own)), *(p for each in folders or () for p in Path(each).rglob("*.py"))})


def _own_files(path: Path) -> frozenset[Path]:
    """A plugin and the modules of the user's that it imports."""
    return frozenset(file for file in source_files([path]) if not is_ours(file))


@contextmanager
def _explaining(plugin: str, files: Iterable[Path]) -> Iterator[None]:
    """An error on import says which plugin it was, where, and what; `sys.exit` is such an error too."""
    try:
        yield
    except (Exception, SystemExit) as error:
        own = {str(file) for file in files}
        lines = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__) if f.filename in own]
        if isinstance(error, SyntaxError):
            lines.append((str(error.filename), error.lineno))
        where = f" ({lines[-1][0]}, line {lines[-1][1]})" if lines else ""
        ended = f"it ends the process: sys.exit({error.code!r})" if isinstance(error, SystemExit) else ""
        raise PluginError(
            f"{plugin} cannot be imported{where}: {ended or f'{type(error).__name__}: {error}'}"
        ) from error
