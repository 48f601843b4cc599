"""No mixer: no token learns anything of another."""

from torch import nn

from components.mixer import mixers
from components.parts import Parts, Sizes
from components.sublayer import Nothing


@mixers.register("none")
def none(sizes: Sizes, parts: Parts) -> nn.Module:
    """y = 0: the sublayer is left out, its norm and residual with it"""
    del sizes, parts
    return Nothing()
