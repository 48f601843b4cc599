"""Gradient descent with momentum."""

from torch import nn
from torch.optim import SGD

from experiments.optimizer import Decay, decayed, optimizers


@optimizers.register("sgd")
def sgd(
    model: nn.Module,
    *,
    lr: float = 0.1,
    momentum: float = 0.9,
    weight_decay: float = 0.0,
    decay: Decay = Decay.matrices,
) -> SGD:
    """v ← momentum · v + g + weight_decay · w,  w ← w − lr · v, decay only for weights that `decay` names

    Source: Sutskever et al. 2013, On the importance of initialization and momentum in deep learning, eq. 1 and 2.
    """
    return SGD(decayed(model, weight_decay, decay), lr=lr, momentum=momentum)
