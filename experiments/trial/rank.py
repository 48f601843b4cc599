"""Which of a trial's processes this one is, and how they find each other."""

from dataclasses import dataclass

from lightning.fabric.plugins.environments.lightning import LightningEnvironment
from lightning.pytorch.strategies import DDPStrategy
from torch import distributed


@dataclass(frozen=True)
class Rank:
    """One of the processes that train a trial together; together they read what one alone would.

    `others_on_device` is how many other trials may run on its device meanwhile, None where nobody knows. `rendezvous`
    is the path of a file, not made yet, through which several processes find each other.
    """

    number: int = 0
    world: int = 1
    others_on_device: int | None = 0
    rendezvous: str = ""


SINGLE = Rank()


class FileRendezvousDDP(DDPStrategy):
    """Data-parallel training by processes of one host that find each other through a file, so that no port is open."""

    def __init__(self, rank: Rank) -> None:
        super().__init__(cluster_environment=LightningEnvironment())
        self.rank_of_trial = rank

    def setup_distributed(self) -> None:
        """Join the other processes; Lightning then finds the group made already."""
        rank, device = self.rank_of_trial, self.root_device
        distributed.init_process_group(
            self._get_process_group_backend(),
            init_method=f"file://{rank.rendezvous}",
            rank=rank.number,
            world_size=rank.world,
            device_id=None if device.type == "cpu" else device,
        )
        super().setup_distributed()
