"""A trial's code is what computes its numbers and nothing else; each measure has its own."""

import inspect
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from omegaconf import DictConfig

from analysis.findings.disclosures import disclosures
from analysis.record.layout import HISTORY
from analysis.tables.results import read_results
from experiments.diagnostic import diagnostics
from experiments.lifecycle.environment import ROOT
from experiments.settings.plugins import PluginError
from experiments.settings.source_code import code_digest, source_files
from experiments.study.arm import Arm, resolve_arm
from experiments.study.code_version import TRAINING, parts_in_use
from experiments.study.plan import Plan
from experiments.study.reuse import (
    changed_measures,
    refuse_changed_code,
    refuse_changed_measures,
    reopen_for_missing_measures,
)
from experiments.study.write import write_study
from experiments.trial.reopen import reopen_trial
from experiments.trial.train import train

pytestmark = pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")  # Lightning's own, with this torch
Compose = Callable[..., DictConfig]
Digests = Callable[[], tuple[str, str]]

CHANGES_NO_NUMBER = {
    "a message of a trial's process": ("experiments/trial/process.py", "is full: free some of it", "is full"),
    "the interval of a heartbeat": (
        "experiments/lifecycle/lease.py",
        "HEARTBEAT_SECONDS = 5.0",
        "HEARTBEAT_SECONDS = 9",
    ),
    "what is raised": ("components/parts.py", "the model has layers 0 to", "its layers are 0 to"),
    "a docstring": ("components/norm/layernorm.py", "y = gain", "y = weight"),
    "a comment": ("components/parts.py", "# kinds of which", "# those of which"),
    "an annotation": ("components/initialise.py", "seed: int, deviations", "seed: object, deviations"),
    "a word of a page": ("analysis/page/format.py", "one arm, nothing to compare", "one arm only"),
    "a word of a command": ("experiments/commands/status.py", "How studies stand.", "States of studies."),
    "a part that is not in use": ("components/norm/rmsnorm.py", "return", "return 2 *"),
    "how a trial is recorded": ("experiments/trial/recorder.py", "every: int = 50", "every: int = 60"),
    "how a checkpoint is written": ("experiments/trial/checkpointer.py", "> self.seconds", ">= self.seconds"),
}
CHANGES_THE_TRIAL = {
    "a part": ("components/norm/layernorm.py", "nn.LayerNorm(width, eps=eps", "nn.LayerNorm(width, eps=2 * eps"),
    "what a part imports": ("components/position/sinusoidal.py", "def phases(", "def phases(*_, "),
    "how weights are drawn": ("components/initialise.py", ">> 1", ">> 2"),
    "the data": ("experiments/data/pydoc.py", "for name in sorted(topics)", "for name in topics"),
    "windows of the data": (
        "experiments/data/__init__.py",
        "torch.arange(self.context + 1)",
        "torch.arange(self.context)",
    ),
    "the grouping of weights": ("experiments/optimizer/__init__.py", "p.ndim > 1]", "p.ndim > 0]"),
    "the schedule": ("experiments/schedule/warmup_cosine.py", "cos", "sin"),
    "the objective": ("experiments/objective/__init__.py", "float().logsumexp(-1)", "float().amax(-1)"),
    "the loss that is minimised": ("experiments/trial/language_modeling.py", ".sum() / batch.scored", ".sum()"),
    "what Lightning is told": ("experiments/trial/fit.py", "-= task.first", "-= 1"),
    "which batches are read": ("experiments/trial/batches.py", "4 * size", "2 * size"),
}
CHANGES_ONLY_THE_MEASURE = {
    "a diagnostic": ("experiments/diagnostic/gradient_norm.py", "norms.log() @", "norms @"),
    "what a diagnostic imports": ("experiments/instruments/spikes.py", "SPIKE_DEVIATIONS * spread", "spread"),
}


@pytest.fixture(scope="module")
def arm(compose: Compose) -> Arm:
    return resolve_arm(compose("trainer.max_steps=3"))


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of our packages."""
    copy = tmp_path_factory.mktemp("tree")
    for package in ("components", "experiments", "analysis"):
        shutil.copytree(ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__", "*.html"))
    return copy


@pytest.fixture(scope="module")
def digests(arm: Arm, tree: Path) -> Digests:
    """The code of the default trial and that of the gradient's norm, as the copy has them now."""
    parts = parts_in_use(arm.config, arm.used_kinds)

    def digest(files: list[Path]) -> str:
        return code_digest(source_files({tree / file.relative_to(ROOT) for file in files}, tree))

    def written(part: Any) -> Path:
        return Path(str(inspect.getsourcefile(part)))

    return lambda: (digest([*TRAINING, *map(written, parts)]), digest([written(diagnostics["gradient_norm"])]))


def after_edit(digests: Digests, file: Path, before: str, after: str) -> tuple[str, str]:
    """The digests while a file of the copy says something else."""
    source = file.read_text(encoding="utf-8")
    assert before in source
    file.write_text(source.replace(before, after), encoding="utf-8")
    try:
        return digests()
    finally:
        file.write_text(source, encoding="utf-8")


@pytest.mark.parametrize("edit", CHANGES_NO_NUMBER.values(), ids=CHANGES_NO_NUMBER)
def test_what_changes_no_number_changes_no_code(digests: Digests, tree: Path, edit: tuple[str, str, str]) -> None:
    file, before, after = edit
    assert after_edit(digests, tree / file, before, after)[0] == digests()[0]


@pytest.mark.parametrize("edit", CHANGES_THE_TRIAL.values(), ids=CHANGES_THE_TRIAL)
def test_what_changes_numbers_changes_the_code(digests: Digests, tree: Path, edit: tuple[str, str, str]) -> None:
    file, before, after = edit
    assert after_edit(digests, tree / file, before, after)[0] != digests()[0]


@pytest.mark.parametrize("edit", CHANGES_ONLY_THE_MEASURE.values(), ids=CHANGES_ONLY_THE_MEASURE)
def test_a_formula_of_a_diagnostic_is_the_code_of_its_measures(
    digests: Digests, tree: Path, edit: tuple[str, str, str]
) -> None:
    file, before, after = edit
    trial, measure = digests()
    changed = after_edit(digests, tree / file, before, after)
    assert changed[0] == trial
    assert changed[1] != measure


def test_the_code_of_a_trial_is_the_same_wherever_it_lies(arm: Arm, digests: Digests) -> None:
    assert digests() == (arm.code, arm.measure_code["gradient_norm/total"])


def test_no_diagnostic_and_nothing_of_a_launch_is_code_of_a_trial(arm: Arm) -> None:
    parts = {Path(str(inspect.getsourcefile(part))) for part in parts_in_use(arm.config, arm.used_kinds)}
    rooms = {file.relative_to(ROOT).parts[:2] for file in source_files(parts.union(TRAINING))}
    kinds = ("data", "objective", "optimizer", "schedule")
    assert {room for room in rooms if room[0] == "experiments"} == {("experiments", r) for r in (*kinds, "trial")}


@pytest.fixture
def finished(arm: Arm, tmp_path: Path) -> tuple[Path, Plan]:
    """A study of one trial, which has been trained."""
    study = arm.config["study"] | {"endpoints": {"val/loss": "final", "gradient_norm/total": "median"}}
    arm = replace(arm, config=arm.config | {"study": study})
    made, results = Plan("one", study, {"baseline": {}}, {"baseline": arm}, [0], {}), tmp_path / "results"
    (results / "studies").mkdir(parents=True)
    (folder,), _ = write_study(results, made, ["study=one"], "results")
    train(folder)
    return results, made


def of_other_measure(made: Plan) -> Plan:
    """The study once the code of one endpoint has changed."""
    (arm,) = made.arms.values()
    code = {**arm.measure_code, "gradient_norm/total": "0" * 12}
    return replace(made, arms={"baseline": replace(arm, measure_code=code)})


def test_finished_trials_of_another_formula_are_named_disclosed_and_measured_anew(finished: tuple[Path, Plan]) -> None:
    results, made = finished
    folder = results / "trials" / made.trials[0].id
    refuse_changed_measures(results, made, "same", "leave")
    changed = of_other_measure(made)
    refuse_changed_code(results, changed, "same")
    sentence = rf"1 finished trials measured gradient_norm/total by code that has changed since: {folder.name}"
    with pytest.raises(ValueError, match=sentence):
        refuse_changed_measures(results, changed, "same", "leave")
    refuse_changed_measures(results, changed, "any", "leave")
    _, home = write_study(results, changed, ["study=one"], "results")
    other = (
        f"gradient_norm/total was measured by other code than this study was planned with, in the trials {folder.name}"
    )
    assert other in disclosures(read_results(home))
    refuse_changed_measures(results, changed, "same", "again")
    assert changed_measures(folder, changed, changed.trials[0]) == {"gradient_norm/total"}
    reopen_for_missing_measures(results, changed, "again")
    assert not (folder / HISTORY).exists()
    assert changed.missing(results) == changed.trials


def test_g5_a_plugin_inside_the_results_folder_is_never_run(finished: tuple[Path, Plan], tmp_path: Path) -> None:
    results, made = finished
    folder, ran = results / "trials" / made.trials[0].id, tmp_path / "ran"
    plugin = folder / "norm.py"
    plugin.write_text(f"open({str(ran)!r}, 'w')\n", encoding="utf-8")
    (folder / "config.yaml").write_text(
        (folder / "config.yaml").read_text().replace("plugins: {}", f"plugins: {{{plugin}: {code_digest([plugin])}}}")
    )
    with pytest.raises(PluginError, match=r"norm\.py lies inside the results folder .*, of which nothing is run"):
        reopen_trial(folder)
    assert not ran.exists()
