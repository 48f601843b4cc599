"""What a trial is: a hash of all that changes its numbers, and of nothing else.

So a study whose question, diagnostics or paths change finds its trials again, and two studies that
ask for the same trial share it.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from components.registry import Registry
from experiments.settings.schema import COMPONENTS, EXPERIMENTS

NUMBERS = ("model", "layers", "trainer", "batch_size", "init_seed", "data_seed")


def trial_id(config: Mapping[str, Any], asked: frozenset[str], content: str) -> str:
    """Twelve hexadecimal digits; knobs that are paths say where something lies, not what, and do not count."""
    parts = {kind: _identifying_knobs(COMPONENTS[kind], config[kind]) for kind in sorted(asked)}
    parts |= {kind: _identifying_knobs(registry, config[kind]) for kind, registry in EXPERIMENTS.items()}
    numbers = {key: config[key] for key in NUMBERS}
    canonical = json.dumps({**parts, **numbers, "content": content}, sort_keys=True)
    return hashlib.sha256(canonical.encode()).hexdigest()[:12]


def _identifying_knobs(registry: Registry[Any], config: Mapping[str, Any]) -> dict[str, Any]:
    types = registry.knobs(str(config["name"]))
    return {knob: value for knob, value in config.items() if knob == "name" or types[knob][0] is not Path}
