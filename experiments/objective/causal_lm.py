"""Predict each token from those before it."""

from experiments.objective import Objective, objectives


@objectives.register("causal_lm")
class CausalLM(Objective):
    """mean of −log softmax(logits)[next token], plus z_loss · mean(log² Z)

    Source: Radford et al. 2018 (GPT), eq. 1; z-loss, Chowdhery et al. 2022, arXiv:2204.02311, section 5.
    """

    def __init__(self, *, z_loss: float = 0.0) -> None:
        self.z_loss = z_loss
