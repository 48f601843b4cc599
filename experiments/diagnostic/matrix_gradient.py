"""The gradient of every single matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from components.model import Decoder
from experiments.diagnostic import Diagnostic, diagnostics
from experiments.measure import Measure

if TYPE_CHECKING:
    from experiments.task import LanguageModeling


@diagnostics.register("matrix_gradient")
class MatrixGradient(Diagnostic):
    """‖∂L/∂W‖_F before clipping of every parameter with two axes; the last layer's also under `last`, for models of
    other depths to be compared

    Source: Xiong et al. 2020, arXiv:2002.04745, theorem 1 (the last layer's FFN).
    """

    def __init__(self, *, every: int = 50) -> None:
        self.every = every
        self._places: dict[str, int] = {}

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """One for each matrix, and once more for those of the last layer."""
        return [Measure(f"matrix_gradient/{name}", "nats/token", reduction="median") for name in matrices(model)]

    def on_fit_start(self, task: LanguageModeling) -> None:
        self._places = matrices(task.model)

    def on_before_optimizer_step(self, task: LanguageModeling) -> None:
        if task.step % self.every == 0:
            norms = task.gradient_norms()
            for name, place in self._places.items():
                task.recorder.record(f"matrix_gradient/{name}", norms[place])


def matrices(model: Decoder) -> dict[str, int]:
    """Places in `model.parameters()` by name, of which what only says that it is a weight is left out."""
    last = f"layers.{len(model.layers) - 1}."
    found = {
        name.replace(".branch.", ".").removesuffix(".weight"): place
        for place, (name, parameter) in enumerate(model.named_parameters())
        if parameter.ndim == 2
    }
    return found | {f"last.{name.removeprefix(last)}": i for name, i in found.items() if name.startswith(last)}
