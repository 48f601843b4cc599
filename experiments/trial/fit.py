"""The numbers of a trial: its task out of a configuration, and the steps that train it."""

from collections.abc import Sequence

import lightning as L
from lightning.fabric.plugins.environments.lightning import LightningEnvironment
from torch.utils.data import DataLoader

from experiments.trial import build
from experiments.trial.batches import DrawnBatches, validation_batches
from experiments.trial.checkpoint import Checkpoint
from experiments.trial.language_modeling import LanguageModeling
from experiments.trial.meaning import scored_bytes
from experiments.trial.rank import Rank
from experiments.trial.rendezvous import FileRendezvousDDP

OWN_TRAINER_KEYS = ("threads", "compile", "devices")  # settings of the trainer that are not Lightning's


def build_task(config: build.Config, rank: Rank, begun: Checkpoint | None) -> tuple[build.Data, LanguageModeling]:
    """The data, and the task with the weights that it begins with, or had when it stopped."""
    data = build.build_data(config)
    if config["content"] != data.content:
        raise RuntimeError("the data have changed since the trial was planned; the same command plans it anew")
    objective, optimizer, schedule = build.build_training(config)
    model, _ = build.build_model(config, data.vocabulary_size + objective.extra_tokens)
    if begun is not None:
        model.load_state_dict(begun.model)
    if config["trainer"]["compile"] != "none":
        model.compile(backend=config["trainer"]["compile"])
    interval = config["trainer"]["val_check_interval"]
    task = LanguageModeling(
        model, objective, optimizer, schedule, config["init_seed"], interval, data.solved_at, rank, begun
    )
    task.vocabulary = data.vocabulary
    task.scored_bytes = scored_bytes(data, objective)
    task.sequences = lambda length: validation_batches(
        build.build_data_at(config, length), objective, config["batch_size"]
    )
    return data, task


def fit(config: build.Config, task: LanguageModeling, data: build.Data, callbacks: Sequence[L.Callback] = ()) -> None:
    """The steps that are left, by Lightning with nothing on but the loop."""
    given = {key: value for key, value in config["trainer"].items() if key not in OWN_TRAINER_KEYS}
    given["max_steps"] -= task.first
    del given["val_check_interval"]
    many = task.rank.world > 1
    strategy = FileRendezvousDDP(task.rank) if many else "auto"
    trainer = L.Trainer(
        **given, devices=task.rank.world, strategy=strategy, callbacks=list(callbacks),
        plugins=None if many else [LightningEnvironment()], use_distributed_sampler=False, limit_val_batches=0,
        logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    pieces = config["trainer"]["accumulate_grad_batches"]
    drawn = DrawnBatches(data, task.objective, config["batch_size"], pieces, config["data_seed"], task.first, task.rank)
    trainer.fit(task, DataLoader(drawn, batch_size=None))
