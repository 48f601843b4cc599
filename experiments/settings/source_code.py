"""Which source files a piece of code consists of, and a digest of what they compute."""

import ast
import hashlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from experiments.lifecycle.environment import ROOT

OURS = ("components", "experiments", "analysis")


# Imports of ours are followed into these, where numbers come from, and nowhere else: not into what launches, records,
# times, or words a sentence.
ROOMS = ("data", "objective", "optimizer", "schedule", "diagnostic", "instruments")
FOLLOWED = ("components", *(f"experiments.{room}" for room in ROOMS))


# Of these, the modules that find parts and say which values are allowed: no number comes out of them.
LEFT_OUT = ("components.registry", "components.domains", "components.contract")


# Fields of a syntax tree that compute nothing.
ANNOTATIONS = {("arg", "annotation"), ("FunctionDef", "returns"), ("AsyncFunctionDef", "returns"), ("Assert", "msg")}


def source_files(roots: Iterable[Path], root: Path = ROOT) -> frozenset[Path]:
    """These files and all that they import, directly or not: our modules in `FOLLOWED`, and every module of the user's.

    A module is the user's if it lies beside one of the files or on `sys.path`, and is neither Python's own, nor ours,
    nor in a folder that packages are installed in. `root` is the folder of our packages.
    """
    left = {path.absolute() for path in roots}
    beside = sorted({path.parent for path in left if not is_ours(path, root)})
    files: set[Path] = set()
    while left:
        files |= left
        left = {file for path in left for file in _imported_files(path, beside, root)} - files
    return frozenset(files)


def is_ours(path: Path, root: Path = ROOT) -> bool:
    """Whether a file belongs to our packages."""
    return any(path.resolve().is_relative_to(root / package) for package in OURS)


def code_digest(files: Iterable[Path], words: Iterable[str] = ()) -> str:
    """Twelve hexadecimal digits for what these files compute, wherever they lie, and for some words beside.

    Left out are comments and layout, docstrings, the arguments of what is raised, which are messages, the messages of
    assertions, and the annotations of functions. A file that is no Python counts by its bytes.
    """
    parts = sorted({*(_read(path.read_bytes()).computation for path in files), *words})
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def _imported_files(path: Path, beside: Sequence[Path], root: Path) -> Iterator[Path]:
    for level, name in _read(path.read_bytes()).imports:
        words = name.split(".") if name else []
        if level:
            yield from _modules_below(path.parents[level - 1], words)
        elif words[0] in OURS:
            modules = (words[:end] for end in range(1, len(words) + 1))
            followed = [module for module in modules if _is_followed(".".join(module))]
            yield from (file for module in followed for file in _module_files(root.joinpath(*module)))
        elif words[0] not in sys.stdlib_module_names:
            on_path = [folder for folder in map(Path, sys.path) if _holds_module(folder, words[0])][:1]
            for folder in dict.fromkeys([*beside, *on_path]):
                if not _is_installation(folder):
                    yield from _modules_below(folder, words)


def _is_followed(module: str) -> bool:
    def within(packages: Iterable[str]) -> bool:
        return any(module == package or module.startswith(f"{package}.") for package in packages)

    return within(FOLLOWED) and not within(LEFT_OUT)


def _modules_below(folder: Path, words: Sequence[str]) -> Iterator[Path]:
    """The files that importing a dotted name from a folder runs: its packages' and its own."""
    for word in words:
        folder = folder / word
        yield from _module_files(folder)


def _module_files(place: Path) -> list[Path]:
    files = (place.with_name(f"{place.name}.py"), place / "__init__.py")
    return [file.absolute() for file in files if file.is_file()]


def _holds_module(folder: Path, name: str) -> bool:
    return (folder / name).is_dir() or bool(_module_files(folder / name))


@cache
def _is_installation(folder: Path) -> bool:
    """Whether packages are installed in a folder: their versions are on record, their files are not the user's."""
    return any(folder.glob("*.dist-info"))


@dataclass(frozen=True)
class _Source:
    """A file's imports, each with how many dots stand before it, and what it computes, as text."""

    imports: frozenset[tuple[int, str]]
    computation: str


@cache
def _read(source: bytes) -> _Source:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # nothing that Python could run
        return _Source(frozenset(), repr(source))
    return _Source(frozenset(name for node in ast.walk(tree) for name in _imports(node)), repr(_without_words(tree)))


def _imports(node: ast.AST) -> Iterator[tuple[int, str]]:
    """What a statement or a call imports; an attribute of a module looks like a module."""
    if isinstance(node, ast.Import):
        yield from ((0, alias.name) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from ((node.level, f"{node.module or ''}.{alias.name}".strip(".")) for alias in node.names)
    elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        name = node.args[0].value
        if called in ("import_module", "__import__") and isinstance(name, str) and name.strip("."):
            yield len(name) - len(name.lstrip(".")), name.strip(".")


def _without_words(node: object) -> object:
    """A syntax tree as nested tuples, which are the same under every version of Python that reads it."""
    if isinstance(node, list):
        return [_without_words(each) for each in node if not _is_text(each)]
    if not isinstance(node, ast.AST):
        return node
    kind = type(node).__name__
    fields = {name: value for name, value in ast.iter_fields(node) if (kind, name) not in ANNOTATIONS}
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        fields["exc"] = node.exc.func
    return (kind, *((name, _without_words(value)) for name, value in fields.items() if value not in (None, [])))


def _is_text(statement: object) -> bool:
    """Whether a statement is nothing but a text, as a docstring is."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
