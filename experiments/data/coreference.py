"""The chicken didn't cross the road because it was tired, or wide."""

import torch

from experiments.data import IGNORED, Batch, Task, datas


@datas.register("coreference")
class Coreference(Task):
    """A didn't-cross B because it was PROPERTY: scored is the noun that `it` stands for, after the property; chance 1/2

    One of A and B is an animal and one a thing, in either order; half of the properties fit animals, half things.
    Source: Levesque et al. 2012, The Winograd schema challenge; the sentence is Jurafsky & Martin's.
    """

    FRAME = 4  # didn't-cross, because, it, was

    def __init__(self, context: int, *, nouns: int = 16, properties: int = 8) -> None:
        super().__init__(context, self.FRAME + 3, 2 * nouns + 2 * properties + self.FRAME)
        self.nouns, self.properties = nouns, properties

    def draw(self, size: int, generator: torch.Generator) -> Batch:
        """Animals are 0 … n − 1, things follow, then properties of animals, of things, and the words of the frame."""
        animal, thing = (torch.randint(self.nouns, (size, 1), generator=generator) + first for first in (0, self.nouns))
        swapped, wide = (torch.rand(size, 1, generator=generator) < 0.5 for _ in range(2))
        prop = 2 * self.nouns + wide * self.properties + torch.randint(self.properties, (size, 1), generator=generator)
        cross, because, it, was = (torch.full((size, 1), self.vocabulary - 4 + word) for word in range(self.FRAME))
        first, second = torch.where(swapped, thing, animal), torch.where(swapped, animal, thing)
        inputs = torch.cat([first, cross, second, because, it, was, prop], 1)
        silent = torch.full((size, self.length - 1), IGNORED)
        return Batch.of(inputs, torch.cat([silent, torch.where(wide, thing, animal)], 1))
