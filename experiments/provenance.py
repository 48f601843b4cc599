"""Which code, on what, made a trial."""

import ast
import hashlib
import inspect
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import components
import experiments
from components.registry import kinds, options

PACKAGES = ("torch", "lightning", "hydra-core", "omegaconf", "numpy", "pyarrow")
TRAINING = ("build.py", "task.py", "trial.py", "recorder.py")


def versions() -> dict[str, str]:
    """Python's version and those of the packages that training stands on."""
    return {"python": sys.version.split()[0]} | {package: version(package) for package in PACKAGES}


def code(config: dict[str, Any], asked: Iterable[str]) -> str:
    """A hash of the code that a trial's numbers come from: what all trials share, and the parts that this one uses.

    Comments, docstrings and layout do not count, nor do parts that the trial does not use.
    """
    used = {
        **{kind: registry for kind, registry in options("components").items() if kind in set(asked)},
        **kinds("experiments"),
    }
    chosen = {
        kind: registry
        for kind, registry in used.items()
        if isinstance(config.get(kind), dict) and "name" in config[kind]
    }
    parts = [Path(str(inspect.getsourcefile(registry[config[kind]["name"]]))) for kind, registry in chosen.items()]
    contracts = [Path(str(inspect.getsourcefile(registry.contract))) for registry in chosen.values()]
    shared = [*_folder(components).glob("*.py"), *(_folder(experiments) / name for name in TRAINING)]
    files = sorted({*parts, *contracts, *shared}, key=lambda path: path.as_posix())
    return hashlib.sha256("\n".join(_meaning(path) for path in files).encode()).hexdigest()[:12]


@cache
def git() -> str:
    """The commit of this code and a digest of what was changed since; empty where it is no checkout."""
    here = _folder(experiments)
    if not (here.parent / ".git").exists():
        return ""
    commit, change = (_git(here, *words) for words in (("rev-parse", "--short=12", "HEAD"), ("diff", "HEAD")))
    return commit.strip() + (f"+{hashlib.sha256(change.encode()).hexdigest()[:8]}" if change else "")


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=False).stdout


def _folder(package: Any) -> Path:
    return Path(package.__path__[0])


def _meaning(path: Path) -> str:
    """A file's syntax tree without docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)
