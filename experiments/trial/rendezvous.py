"""How the processes of a trial find each other."""

from lightning.fabric.plugins.environments.lightning import LightningEnvironment
from lightning.pytorch.strategies import DDPStrategy
from torch import distributed

from experiments.trial.rank import Rank


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
