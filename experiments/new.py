"""Start a part of one's own from the plainest part of its kind: `knockout new norm my_norm`."""

import argparse
import inspect
from pathlib import Path

from components.example import COMPANIONS
from components.registry import kinds, origin, unknown
from experiments.plugins import FOLDER

HEAD = """\
# A part of the kind {kind}, started from `{start}` ({source}).
# Positional parameters ({wiring}) are wiring: the model gives them, and their names stay as they are.
# Parameters behind the * are knobs: {kind}.KNOB=VALUE sets them; give each a type and a default.
# `knockout check {path}` holds the part to its contract; `knockout run {kind}={start},{name}` compares it.
"""


def main(words: list[str]) -> None:
    """Write `plugins/KIND/NAME.py`; raises ValueError for a kind there is not, FileExistsError for a file there is."""
    parser = argparse.ArgumentParser("knockout new", description="Write a part to start from.")
    parser.add_argument("kind", help="its kind: norm, ffn, position, …")
    parser.add_argument("name", help="its name: a word")
    given = parser.parse_args(words)
    path = FOLDER / given.kind / f"{given.name}.py"
    text = started(given.kind, given.name, path)
    if path.exists():
        raise FileExistsError(f"{path} is there already; take another name")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(f"{path}: edit it, then `knockout check {path}`")


def started(kind: str, name: str, path: Path) -> str:
    """The file: a comment on what is what, then the plainest part under the new name."""
    known = kinds("components")
    if kind not in known:
        raise ValueError(unknown("kind of component", kind, known))
    if not name.isidentifier():
        raise ValueError(f"{name!r} is no name for a part: letters, digits and _ only")
    if name in known[kind].names():
        raise ValueError(f"there is a {kind} {name!r} already: {origin(known[kind][name])}")
    start = COMPANIONS[kind]
    source = Path(str(inspect.getsourcefile(known[kind][start])))
    wiring = ", ".join(known[kind].wiring) or "none"
    head = HEAD.format(kind=kind, name=name, start=start, source=source.name, path=path, wiring=wiring)
    return head + source.read_text(encoding="utf-8").replace(f'.register("{start}")', f'.register("{name}")')
