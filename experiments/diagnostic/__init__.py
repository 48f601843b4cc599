"""Diagnostics watch a trial from outside; it trains the same with and without them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from components.model import Decoder
from components.registry import Registry
from experiments.data import Data
from experiments.measure import Measure

if TYPE_CHECKING:  # importing them would import Lightning, which whoever only plans a study can do without
    from experiments.observe import Seen
    from experiments.task import LanguageModeling


class Diagnostic:
    """Reads the task at the hooks it overrides, which have Lightning's names, and records what it declares."""

    def __init__(self) -> None:
        """Nothing to prepare."""

    def refuse(self, model: Decoder, at: Callable[[int], Data]) -> None:
        """Raises ValueError if there is nothing to read in this model; `at` gives its data for another context."""

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """What this diagnostic records of a model."""
        raise NotImplementedError

    def on_fit_start(self, task: LanguageModeling) -> None:
        """Before the first step."""

    def on_before_optimizer_step(self, task: LanguageModeling) -> None:
        """When gradients are complete, before they are clipped."""

    def on_train_batch_end(self, task: LanguageModeling) -> None:
        """After an optimizer step."""

    def on_train_end(self, task: LanguageModeling) -> None:
        """After the last step, of what was recorded while training."""

    def on_trained(self, task: LanguageModeling) -> None:
        """The trained model, at once or from its kept weights; gradients are off, and what is only on in training."""


class Look(Diagnostic):
    """Looks at the model before the first step, after the last, and every `every` steps between; 0: not between."""

    def __init__(self, *, every: int = 50) -> None:
        self.every = every

    def on_look(self, task: LanguageModeling, seen: Seen) -> None:
        """What went through the model, on sequences of the validation set that are the same for all trials.

        Gradients are off; under `torch.enable_grad` what was seen can be differentiated, with `retain_graph=True`.
        """
        raise NotImplementedError


diagnostics: Registry[Diagnostic] = Registry(Diagnostic)
