"""Make the sweeper and the launcher known to Hydra."""

import importlib.util
import sys
import types
from dataclasses import dataclass

from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins

from experiments.launcher import KnockoutLauncher
from experiments.planning import PlanSweeper
from experiments.sweep import KnockoutSweeper


@dataclass
class _Sweeper:
    _target_: str = "hydra_plugins.knockout.KnockoutSweeper"


@dataclass
class _PlanSweeper:
    _target_: str = "hydra_plugins.knockout.PlanSweeper"


@dataclass
class _Launcher:
    _target_: str = "hydra_plugins.knockout.KnockoutLauncher"


def register() -> None:
    """Make the sweeper and the launcher known to Hydra, which takes plugins from the package hydra_plugins only."""
    plugins = Plugins.instance()
    if "hydra_plugins" not in sys.modules and importlib.util.find_spec("hydra_plugins") is None:
        sys.modules["hydra_plugins"] = types.ModuleType("hydra_plugins")
    module = sys.modules["hydra_plugins.knockout"] = types.ModuleType("hydra_plugins.knockout")
    for plugin, node, group, name in (
        (KnockoutSweeper, _Sweeper, "hydra/sweeper", "knockout"),
        (PlanSweeper, _PlanSweeper, "hydra/sweeper", "knockout_plan"),
        (KnockoutLauncher, _Launcher, "hydra/launcher", "knockout"),
    ):
        plugin.__module__ = module.__name__
        setattr(module, plugin.__name__, plugin)
        plugins.register(plugin)
        ConfigStore.instance().store(name, node, group=group, provider="knockout")
