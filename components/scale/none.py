"""No scale: q·k grows as √K."""

from components.scale import Scale, scales
from components.shapes import Heads


@scales.register("none")
class NoScale(Scale):
    """y = q"""

    def __init__(self, head_width: int) -> None:
        super().__init__(head_width)

    def forward(self, q: Heads) -> Heads:
        return q
