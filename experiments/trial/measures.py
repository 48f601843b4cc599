"""What a trial measures, and the code that each number comes from."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from analysis.record.measure import Measure, training_measures
from components.model import Decoder
from experiments.data import Data
from experiments.diagnostic import Diagnostic, diagnostics
from experiments.lifecycle.environment import ROOT
from experiments.objective import Objective
from experiments.settings.plugins import parts_digest
from experiments.trial.build import Config
from experiments.trial.meaning import scored_bytes

TASK = tuple(ROOT / "experiments" / "trial" / f"{name}.py" for name in ("batches", "language_modeling", "meaning"))


def build_diagnostics(config: Config) -> list[Diagnostic]:
    """The diagnostics."""
    return [diagnostics.build(knobs)() for knobs in config["diagnostic"].values()]


def trial_measures(data: Data, objective: Objective, watching: Iterable[Diagnostic], model: Decoder) -> list[Measure]:
    """All that a trial measures: what its data say of training, and what its diagnostics declare of its model.

    Each carries the digest of its own code, so that a number is never taken for one of another formula.
    """
    of_training = training_measures(
        solvable=data.solved_at is not None, spelled=scored_bytes(data, objective) is not None
    )
    return [
        *(replace(measure, code=task_code()) for measure in of_training),
        *(
            replace(measure, code=diagnostic_code(type(watcher)))
            for watcher in watching
            for measure in watcher.measures(model)
        ),
    ]


@cache
def task_code() -> str:
    """A digest of the code that the measures of training come from."""
    return parts_digest([], TASK)


@cache
def diagnostic_code(diagnostic: type[Diagnostic]) -> str:
    """A digest of the code of a diagnostic and of what it imports, as it was when this process loaded it."""
    return parts_digest([diagnostic])
