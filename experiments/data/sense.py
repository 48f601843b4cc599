"""The bank of the pond, or of the town: a word whose sense is set by a cue some way back."""

import torch

from experiments.data import IGNORED, Batch, Task, datas


@datas.register("sense")
class Sense(Task):
    """a cue, `distance` − 1 fillers, a word of several senses; scored is its sense under this cue, after the word

    sense = (word + cue) mod senses, so that neither says anything alone; chance 1/senses.
    Source: Tang et al. 2018, arXiv:1808.08946, section 5 (word sense disambiguation), made synthetic.
    """

    def __init__(self, context: int, *, distance: int = 8, senses: int = 4, words: int = 8, fillers: int = 16) -> None:
        super().__init__(context, distance + 1, 2 * senses + words + fillers)
        self.distance, self.senses, self.words, self.fillers = distance, senses, words, fillers

    def draw(self, size: int, generator: torch.Generator) -> Batch:
        """Senses are 0 … s − 1, cues follow, then words, then fillers."""
        cue = torch.randint(self.senses, (size, 1), generator=generator)
        word = torch.randint(self.words, (size, 1), generator=generator)
        filler = torch.randint(self.fillers, (size, self.distance - 1), generator=generator)
        inputs = torch.cat([self.senses + cue, 2 * self.senses + self.words + filler, 2 * self.senses + word], 1)
        silent = torch.full((size, self.distance), IGNORED)
        return Batch.of(inputs, torch.cat([silent, (word + cue) % self.senses], 1))
