"""The keys to the cabinet: a verb agrees with its subject, whatever nouns stand between."""

import torch

from experiments.alphabet import Alphabet
from experiments.data import IGNORED, Batch, Task, datas

NOUNS = ("key", "cabinet", "door", "table", "book", "author", "garden", "wall")
PREPOSITIONS = ("to-the", "of-the", "near-the", "behind-the")


@datas.register("agreement")
class Agreement(Task):
    """noun (preposition noun)*, then the verb, which is scored and has the number of the first noun; chance 1/2

    0 to `attractors` further nouns, each of either number. The subject is always the first noun, so that remembering
    it suffices: no claim about syntax.
    Source: Linzen et al. 2016, arXiv:1611.01368, section 2.
    """

    def __init__(self, context: int, *, attractors: int = 2, nouns: int = 8, prepositions: int = 4) -> None:
        super().__init__(context, 1 + 2 * attractors, 2 * nouns + prepositions + 2)
        self.attractors, self.nouns, self.prepositions = attractors, nouns, prepositions
        named = [f"{word}{ending}" for word in [*NOUNS, *map(str, range(nouns))][:nouns] for ending in ("", "s")]
        links = [*PREPOSITIONS, *(f"near-{n}" for n in range(prepositions))][:prepositions]
        self.alphabet = Alphabet([*named, *links, "is", "are"], " ", r"\S+")

    def draw(self, size: int, generator: torch.Generator) -> Batch:
        """Nouns are 0 … 2n − 1, odd ones plural; prepositions follow, then the two verbs; one place a row is scored."""
        nouns = torch.randint(2 * self.nouns, (size, 1 + self.attractors), generator=generator)
        links = 2 * self.nouns + torch.randint(self.prepositions, (size, self.attractors), generator=generator)
        inputs = torch.cat([nouns[:, :1], torch.stack([links, nouns[:, 1:]], -1).flatten(1)], 1)
        verb = 2 * self.nouns + self.prepositions + nouns[:, :1] % 2
        last = 2 * torch.randint(self.attractors + 1, (size, 1), generator=generator)
        return Batch.of(inputs, torch.where(torch.arange(self.length) == last, verb, IGNORED))
