"""Which code, on what, made a trial."""

import ast
import hashlib
import inspect
import subprocess
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from components.registry import kinds, options

ROOT = Path(__file__).resolve().parents[1]
OURS = ("components.", "experiments.")
PACKAGES = ("torch", "lightning", "hydra-core", "omegaconf", "numpy", "pyarrow")


@cache
def versions() -> dict[str, str]:
    """Python's version and those of the packages that training stands on."""
    return {"python": sys.version.split()[0]} | {package: version(package) for package in PACKAGES}


def code(config: Mapping[str, Any], asked: Iterable[str]) -> str:
    """A hash of the code that a trial's numbers come from: the trial's, that of its parts, and what these import.

    Comments, docstrings and layout do not count, nor do parts that the trial does not use.
    """
    used = {kind: registry for kind, registry in options("components").items() if kind in set(asked)}
    used |= {kind: registry for kind, registry in kinds("experiments").items() if "name" in config.get(kind, {})}
    parts = [registry[config[kind]["name"]] for kind, registry in used.items()]
    parts += [
        used[kind][_name(part)]
        for layer in (config["layers"] or {}).values()
        for kind, part in layer.items()
        if kind in used
    ]
    files = _imported({ROOT / "experiments" / "trial.py", *(Path(str(inspect.getsourcefile(part))) for part in parts)})
    return hashlib.sha256("\n".join(_meaning(path) for path in sorted(files)).encode()).hexdigest()[:12]


@cache
def git() -> str:
    """The commit of this code and a digest of what was changed since; empty where that cannot be known."""
    if not (ROOT / ".git").exists():
        return ""
    try:
        commit, change = (_git(*words) for words in (("rev-parse", "--short=12", "HEAD"), ("diff", "HEAD")))
    except OSError:  # there is no git
        return ""
    return commit.decode().strip() + (f"+{hashlib.sha256(change).hexdigest()[:8]}" if change else "")


def _git(*words: str) -> bytes:
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, check=False).stdout


def _name(part: Any) -> str:
    return part if isinstance(part, str) else part["name"]


def _imported(files: set[Path]) -> set[Path]:
    """These files and all of ours that they import, directly or not."""
    found: set[Path] = set()
    while files:
        found |= files
        files = {each for path in files for each in _imports(path)} - found
    return found


@cache
def _imports(path: Path) -> frozenset[Path]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    froms = [f"{n.module}.{a.name}" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names]
    places = [ROOT.joinpath(*name.split(".")) for name in (*names, *froms) if name.startswith(OURS)]
    return frozenset(file for at in places for file in (at.with_suffix(".py"), at / "__init__.py") if file.exists())


@cache
def _meaning(path: Path) -> str:
    """A file's syntax tree without docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)
