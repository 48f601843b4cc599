"""Hydra's launcher on this machine."""

from collections.abc import Sequence
from pathlib import Path

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

from experiments.folder import LOG, finished
from experiments.launch import run


class KnockoutLauncher(Launcher):
    """Hydra's launcher: one job is one trial's folder, `trial=FOLDER`."""

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Keep what a launch needs."""
        self.hydra_context, self.task_function, self.config = hydra_context, task_function, config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Run each trial that is not finished, once; one that fails stops no other."""
        folders = [self._folder(overrides) for overrides in job_overrides]
        run([folder for folder in dict.fromkeys(folders) if finished(folder) is None], self.config.runtime)
        return [self._returned(folder) for folder in folders]

    def _folder(self, overrides: Sequence[str]) -> Path:
        """The folder that was prepared, or one prepared now, when another sweeper names settings."""
        from experiments.prepare import prepared

        named = {o.get_key_element(): o.value() for o in OverridesParser.create().parse_overrides(list(overrides))}
        if "trial" in named:
            return Path(str(named["trial"]))
        return prepared(self.hydra_context.config_loader.load_sweep_config(self.config, list(overrides)))

    def _value(self, folder: Path) -> float:
        from experiments.sweep import endpoint

        return endpoint(folder, self.config.study.endpoints, self.config.hydra.sweeper)

    def _returned(self, folder: Path) -> JobReturn:
        if finished(folder) is None:
            error = RuntimeError(f"trial {folder.name} failed: see {folder / LOG}")
            return JobReturn(status=JobStatus.FAILED, _return_value=error)
        return JobReturn(status=JobStatus.COMPLETED, _return_value=self._value(folder))
