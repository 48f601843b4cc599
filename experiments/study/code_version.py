"""The version of the code that a trial's numbers come from."""

import ast
import hashlib
import inspect
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from components.registry import kinds, options
from experiments.lifecycle.environment import ROOT

OURS = ("components.", "experiments.")


def code_version(config: Mapping[str, Any], asked: Iterable[str]) -> str:
    """A hash of the code that a trial's numbers come from: the trial's, that of its parts, and what these import.

    Comments, docstrings and layout do not count, nor do parts that the trial does not use.
    """
    used = {kind: registry for kind, registry in options("components").items() if kind in set(asked)}
    used |= {kind: registry for kind, registry in kinds("experiments").items() if "name" in config.get(kind, {})}
    parts = [registry[config[kind]["name"]] for kind, registry in used.items()]
    parts += [
        used[kind][_part_name(part)]
        for layer in (config["layers"] or {}).values()
        for kind, part in layer.items()
        if kind in used
    ]
    files = _imported_files(
        {ROOT / "experiments" / "trial" / "train.py", *(Path(str(inspect.getsourcefile(part))) for part in parts)}
    )
    return hashlib.sha256("\n".join(_syntax_without_docstrings(path) for path in sorted(files)).encode()).hexdigest()[
        :12
    ]


def _part_name(part: Any) -> str:
    return part if isinstance(part, str) else part["name"]


def _imported_files(files: set[Path]) -> set[Path]:
    """These files and all of ours that they import, directly or not."""
    found: set[Path] = set()
    while files:
        found |= files
        files = {each for path in files for each in _direct_imports(path)} - found
    return found


@cache
def _direct_imports(path: Path) -> frozenset[Path]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    froms = [f"{n.module}.{a.name}" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names]
    places = [ROOT.joinpath(*name.split(".")) for name in (*names, *froms) if name.startswith(OURS)]
    return frozenset(file for at in places for file in (at.with_suffix(".py"), at / "__init__.py") if file.exists())


@cache
def _syntax_without_docstrings(path: Path) -> str:
    """A file's syntax tree without docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)
