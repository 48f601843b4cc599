"""Batches as a trial reads them: those of a step from (seed, step), cut for its devices and its accumulation."""

from collections.abc import Iterator
from itertools import count

import torch
from torch.utils.data import IterableDataset

from components.initialise import key
from experiments.data import Batch, Data
from experiments.objective import Objective
from experiments.rank import Rank


class Drawn(IterableDataset[Batch]):
    """Training batches without end from step `begun` on, `pieces` a step, of which this rank reads its rows.

    A step has pieces · size sequences however many ranks share them.
    """

    def __init__(
        self, data: Data, objective: Objective, size: int, pieces: int, seed: int, begun: int, rank: Rank
    ) -> None:
        self.data, self.objective, self.size, self.pieces, self.seed = data, objective, size, pieces, seed
        self.begun, self.rank = begun, rank

    def __iter__(self) -> Iterator[Batch]:
        for step in count(self.begun):
            whole = self.data.train(self.size * self.pieces, self.seed, step)
            posing = posed(self.objective, whole, self.data.vocabulary, self.seed, step)
            yield from posing.pieces(self.size // self.rank.world)[self.rank.number :: self.rank.world]


def posed(objective: Objective, batch: Batch, vocabulary: int, *words: object) -> Batch:
    """The batch as the objective poses it, with what that draws drawn from these words."""
    return objective.pose(batch, vocabulary, torch.Generator().manual_seed(key("pose", *words)))


def validation(data: Data, objective: Objective, size: int) -> list[Batch]:
    """The validation set in batches, larger than those of training, as they need no gradient."""
    return posed(objective, data.validation(), data.vocabulary, "validation").pieces(4 * size)
