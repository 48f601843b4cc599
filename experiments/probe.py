"""Ask a trained model afterwards, or untrained ones: `knockout probe TRIAL …`, `knockout probe model.depth=2,4,8 …`."""

import argparse
import json
import tempfile
from pathlib import Path

import torch

from components.registry import unknown

LOOKS = (
    "gradient_norm", "matrix_gradient", "token_gradient", "query_gradient", "attention", "stream", "branch", "log_z",
    "gradient_through_time",
)  # fmt: skip
UNTRAINED = (
    "trainer.max_steps=1",
    "schedule=constant",
    "optimizer.lr=0",
    f"diagnostic=[{','.join(LOOKS)}]",
    "runtime.smoke=0",
    "runtime.keep_gb=0",
    "runtime.unmeasured=again",
)


def main(words: list[str]) -> None:
    """A first word that is a setting asks for models as they are drawn, any other for a trial that was trained.

    As drawn means: one step at a learning rate of 0, so that every trial measures what its initialisation is like, in
    the same folders and reports as any other study.
    """
    if words and ("=" in words[0] or words[0].startswith(("+", "~"))):
        from experiments.run import main as run

        given = {word.lstrip("+").partition("=")[0] for word in words}
        run([*(word for word in UNTRAINED if word.partition("=")[0] not in given), *words])
        return
    parser = argparse.ArgumentParser("knockout probe", description="Ask a trained model, or untrained ones (settings).")
    parser.add_argument("trial", help="its id, the beginning of it, or its folder; or settings, as of knockout run")
    parser.add_argument("--prompt", action="append", default=[], help="a sentence to map; may be given again")
    parser.add_argument("--diagnostic", action="append", default=[], help="what to measure; may be given again")
    parser.add_argument("--results", default="results", type=Path, help="the results folder (default: results)")
    given = parser.parse_args(words)
    from experiments.trained import found

    folder = found(given.results, given.trial)
    if given.diagnostic:
        print(measured(folder, given.diagnostic))
    if given.prompt or not given.diagnostic:
        print(mapped(folder, given.prompt))


def mapped(folder: Path, prompts: list[str]) -> str:
    """Draw the maps of these sentences, or those that training has left; what they say, and where they are."""
    from analysis import maps
    from analysis.files import write
    from analysis.report import maps_page

    named = [(f"after step {step}", path) for step, path in maps.steps(folder)]
    if prompts or not named:
        named = list(zip(prompts or ["a sequence of the validation set"], _saved(folder, prompts), strict=True))
    write(folder / "attention.html", maps_page(folder.name, named))
    lines = [f"{name}: {maps.told(maps.read(path))}" for name, path in named]
    return "\n".join([*lines, f"maps: {(folder / 'attention.html').absolute()}"])


def _saved(folder: Path, prompts: list[str]) -> list[Path]:
    """The arrays of these sentences, under a name of their own."""
    from experiments.diagnostic.attention_map import AttentionMap, maps
    from experiments.maps import FOLDER, save
    from experiments.trained import opened
    from experiments.watch import Watch

    config, data, task = opened(folder)
    AttentionMap(prompts=tuple(prompts)).refuse(task.model, lambda context: data)
    seen = Watch(task, []).seen()
    if not seen.reads:
        raise ValueError(f"mixer={config['mixer']['name']}: this model has no attention to map")
    with torch.no_grad():
        return save(folder / FOLDER, "probe", maps(task, prompts, seen))


def measured(folder: Path, names: list[str]) -> str:
    """What these diagnostics measure of the trained model, also left in `probe.json`."""
    from analysis.files import write
    from experiments import build
    from experiments.diagnostic import diagnostics
    from experiments.recorder import Recorder
    from experiments.trained import opened
    from experiments.watch import Watch

    for name in names:
        if name not in diagnostics.names():
            raise ValueError(unknown("diagnostic", name, diagnostics.names()))
    config, _, task = opened(folder)
    known = {knobs["name"]: knobs for knobs in config["diagnostic"].values()}
    watching = [diagnostics.build(known.get(name, {"name": name}))() for name in names]
    for each in watching:
        each.refuse(task.model, lambda context: build.data_at(config, context))
    measures = [measure for each in watching for measure in each.measures(task.model)]
    with tempfile.TemporaryDirectory() as home, Recorder(Path(home), measures) as recorder:
        task.recorder = recorder
        recorder.at(0, 0)
        Watch(task, watching).ask()
        values = {m.name: float(v[-1]) for m in measures if len(v := recorder.series(m.name))}
    if not values:
        raise ValueError(f"{', '.join(names)}: only measured while a model is trained")
    write(folder / "probe.json", json.dumps(values, indent=2))
    width = max(map(len, values))
    return "\n".join(f"{m.name:{width}}  {values[m.name]:.4g} {m.unit}" for m in measures if m.name in values)
