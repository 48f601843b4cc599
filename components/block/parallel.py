"""Both sublayers read the same state."""

from torch import nn

from components.block import blocks
from components.position import Position
from components.shapes import Hidden
from components.sublayer import Stage


@blocks.register("parallel")
class Parallel(nn.Module):
    """y = ffn.join(mixer.join(x, mixer.update(x)), ffn.update(x)): for a pre-norm, x + mixer(norm(x)) + ffn(norm(x))

    Source: Wang & Komatsuzaki 2021 (GPT-J); Chowdhery et al. 2022 (PaLM), arXiv:2204.02311, section 2.
    """

    def __init__(self, mixer: Stage, ffn: Stage) -> None:
        super().__init__()
        self.mixer, self.ffn = mixer, ffn

    def forward(self, x: Hidden, position: Position) -> Hidden:
        mixed, fed = self.mixer.update(x, position), self.ffn.update(x)
        return self.ffn.join(self.mixer.join(x, mixed), fed)
