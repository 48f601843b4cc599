"""What was found out about an arm before: counting FLOPs without weights takes torch seconds to get ready for.

Kept in the results folder by a hash of all that it follows from, so that a finished study is looked at in no time.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from analysis.record.files import DamagedFile, read_json, reading, write_text
from analysis.record.layout import ARMS
from experiments.lifecycle.environment import ROOT, versions
from experiments.settings.plugins import LOADED

IRRELEVANT_KEYS = ("study", "seed", "init_seed", "data_seed", "seed_offset")


@dataclass(frozen=True)
class ArmFacts:
    """The kinds that an arm's model asked for, its size, what its trials measure, the code that they come from.

    `measures` says of each how it repeats, `measure_code` the digest of its own code. `sees_future`: a later token
    changes the logits at an earlier position, and the objective's answers stand among later tokens;
    `reads_across_batch`: another sequence of a batch changes the logits of one; `untried` is the reason why neither
    could be tried, empty if both were.
    """

    asked: list[str]
    parameters: int
    flops: float
    measures: dict[str, str]
    measure_code: dict[str, str]
    code: str
    sees_future: bool
    reads_across_batch: bool
    untried: str


def cached_facts(config: Mapping[str, Any], content: str, inspect_arm: Callable[[], ArmFacts]) -> ArmFacts:
    """What `inspect_arm` finds about the arm of this configuration on data of this content, or found before."""
    results = Path(config["runtime"]["results"])
    own = {key: value for key, value in config.items() if key not in IRRELEVANT_KEYS}
    own["runtime"] = {}
    text = json.dumps([own, content, _source_digest(), versions()], sort_keys=True)
    path = results / ARMS / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    with suppress(FileNotFoundError, DamagedFile):  # a damaged cache is made again
        facts = read_json(path, *(field.name for field in fields(ArmFacts)))
        with reading(path):
            return ArmFacts(**facts)
    inspected = inspect_arm()
    if results.exists():
        with suppress(OSError):  # nothing depends on a cache
            path.parent.mkdir(exist_ok=True)
            write_text(path, json.dumps(asdict(inspected)))
    return inspected


@cache
def _source_digest() -> str:
    """A digest of all code that an arm may come from, ours to the byte."""
    files = {file for package in ("components", "experiments") for file in (ROOT / package).rglob("*.py")}
    digest = hashlib.sha256(json.dumps(sorted(LOADED.items())).encode())
    for file in sorted(files):
        digest.update(file.read_bytes())
    return digest.hexdigest()
