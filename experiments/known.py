"""What was found out about an arm before: counting FLOPs without weights takes torch seconds to get ready for.

Kept in the results folder by a hash of all that it follows from, so that a finished study is looked at in no time.
"""

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from analysis.files import write
from experiments import plugins
from experiments.options import KINDS
from experiments.provenance import ROOT, versions

NOT_ASKED = ("study", "seed", "init_seed", "data_seed", "seed_offset")


@dataclass(frozen=True)
class Found:
    """The kinds that an arm's model asked for, its size, what its trials measure, the code that they come from.

    `measures` says of each how it repeats.
    """

    asked: list[str]
    parameters: int
    flops: float
    measures: dict[str, str]
    code: str


def known(config: Mapping[str, Any], content: str, find: Callable[[], Found]) -> Found:
    """What `find` finds about the arm of this configuration on data of this content, or found before."""
    results = Path(config["runtime"]["results"])
    own = {key: value for key, value in config.items() if key not in NOT_ASKED}
    own["runtime"] = {}
    text = json.dumps([own, content, _sources(), versions()], sort_keys=True)
    path = results / "arms" / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    if path.exists():
        return Found(**json.loads(path.read_text(encoding="utf-8")))
    found = find()
    if results.exists():
        path.parent.mkdir(exist_ok=True)
        write(path, json.dumps(asdict(found)))
    return found


@cache
def _sources() -> str:
    """A digest of all code that an arm may come from, to the byte."""
    parts = [registry[name] for registry in KINDS.values() for name in registry.names()]
    files = {*map(Path, plugins.LOADED), *(Path(str(inspect.getsourcefile(part))) for part in parts)}
    files |= {file for package in ("components", "experiments") for file in (ROOT / package).rglob("*.py")}
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.read_bytes())
    return digest.hexdigest()
