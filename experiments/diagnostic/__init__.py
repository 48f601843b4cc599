"""Diagnostics watch a trial from outside; it trains the same with and without them."""

from collections.abc import Callable, Sequence

from analysis.record.measure import Measure
from components.domains import Index
from components.model import Decoder
from components.registry import Registry
from experiments.data import Data
from experiments.instruments.observed_trial import ObservedTrial
from experiments.instruments.trace import ForwardTrace


class Diagnostic:
    """Reads the trial at the hooks it overrides, which have Lightning's names, and records what it declares."""

    def __init__(self) -> None:
        """Nothing to prepare."""

    def refuse_model(self, model: Decoder, at: Callable[[int], Data]) -> None:
        """Raises ValueError if there is nothing to read in this model; `at` gives its data for another context."""

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """What this diagnostic records of a model."""
        raise NotImplementedError

    def on_fit_start(self, trial: ObservedTrial) -> None:
        """Before the first step."""

    def on_before_optimizer_step(self, trial: ObservedTrial) -> None:
        """When gradients are complete, before they are clipped."""

    def on_train_batch_end(self, trial: ObservedTrial) -> None:
        """After an optimizer step."""

    def on_train_end(self, trial: ObservedTrial) -> None:
        """After the last step, of what was recorded while training."""

    def on_trained(self, trial: ObservedTrial) -> None:
        """The trained model, at once or from its kept weights; gradients are off, and what is only on in training."""


class ModelDiagnostic(Diagnostic):
    """Looks at the model before the first step, after the last, and every `every` steps between; 0: not between."""

    def __init__(self, *, every: Index = 50) -> None:
        self.every = every

    def on_inspect(self, trial: ObservedTrial, seen: ForwardTrace) -> None:
        """What went through the model, on sequences of the validation set that are the same for all trials.

        Gradients are off; under `torch.enable_grad` what was seen can be differentiated, with `retain_graph=True`.
        """
        raise NotImplementedError


diagnostics: Registry[Diagnostic] = Registry(Diagnostic)
