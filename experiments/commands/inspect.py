"""Look into a trained model, or into untrained ones."""

import json
import sys
import tempfile
from pathlib import Path

import torch
from torch import Tensor

from analysis.page.attention_maps import head_summary
from analysis.page.report import maps_page
from analysis.record.attention_maps import maps_by_step, read_maps, write_attention_maps
from analysis.record.files import write_text
from analysis.record.layout import ATTENTION
from components.model import Decoder
from components.registry import unknown
from components.shapes import Tokens
from experiments.commands.arguments import trial_parser
from experiments.data import Data
from experiments.diagnostic import diagnostics
from experiments.diagnostic.attention_map import AttentionMap, maps
from experiments.lifecycle.terminal import echo, printable
from experiments.study.arm import inspect_model
from experiments.trial.build import Config, build_data_at
from experiments.trial.diagnostics import DiagnosticCallback
from experiments.trial.language_modeling import LanguageModeling
from experiments.trial.recorder import Recorder
from experiments.trial.reopen import find_trial, reopen_trial


def probe_trial(words: list[str]) -> None:
    """`knockout probe TRIAL`: draw a trial's attention, or run diagnostics on its trained model."""
    parser = trial_parser("probe", "Measure a trained model; with settings instead of a trial, untrained models.")
    parser.add_argument("--prompt", action="append", default=[], help="a sentence to map; may be given again")
    parser.add_argument("--diagnostic", action="append", default=[], help="a diagnostic to run; may be given again")
    arguments = parser.parse_args(words)
    folder = find_trial(arguments.results, arguments.trial)
    if arguments.diagnostic:
        echo(measure_trained(folder, arguments.diagnostic))
    if arguments.prompt or not arguments.diagnostic:
        echo(draw_attention(folder, arguments.prompt))


def draw_attention(folder: Path, prompts: list[str]) -> str:
    """Draw the maps of these sentences, or those that training has left; what they say, and where they are."""
    named = [(f"after step {step}", path) for step, path in maps_by_step(folder)]
    if prompts or not named:
        named = list(zip(prompts or ["a sequence of the validation set"], _save_maps(folder, prompts), strict=True))
    write_text(folder / "attention.html", maps_page(folder.name, named))
    lines = [f"{name}: {head_summary(read_maps(path))}" for name, path in named]
    return "\n".join([*lines, f"maps: {(folder / 'attention.html').absolute()}"])


def _reopen(folder: Path) -> tuple[Config, Data, LanguageModeling]:
    """The trial with its weights, and a warning where its code has changed since it was trained."""
    config, data, task = reopen_trial(folder)
    if inspect_model(dict(config), data).code != config["code"]:
        warning = f"warning: the code of trial {folder.name} has changed since it was trained"
        print(printable(warning), file=sys.stderr)
    return config, data, task


def _save_maps(folder: Path, prompts: list[str]) -> list[Path]:
    """The arrays of these sentences, under a name of their own."""
    from experiments.trial.diagnostics import DiagnosticCallback

    config, data, task = _reopen(folder)
    AttentionMap(prompts=tuple(prompts)).refuse_model(task.model, lambda context: data)
    seen = DiagnosticCallback(task, []).trace()
    if not seen.attention:
        raise ValueError(f"mixer={config['mixer']['name']}: this model has no attention to map")
    with torch.no_grad():
        return write_attention_maps(folder / ATTENTION, "probe", maps(task, prompts, seen))


def measure_trained(folder: Path, names: list[str]) -> str:
    """What these diagnostics measure of the trained model, also left in `probe.json`."""
    from analysis.record.files import write_text

    for name in names:
        if name not in diagnostics.names():
            raise ValueError(unknown("diagnostic", name, diagnostics.names()))
    config, _, task = _reopen(folder)
    known = {knobs["name"]: knobs for knobs in config["diagnostic"].values()}
    watching = [diagnostics.build(known.get(name, {"name": name}))() for name in names]
    for each in watching:
        each.refuse_model(task.model, lambda context: build_data_at(config, context))
    measures = [measure for each in watching for measure in each.measures(task.model)]
    with tempfile.TemporaryDirectory() as home, Recorder(Path(home), measures) as recorder:
        task.recorder = recorder
        recorder.begin_step(0, 0)
        DiagnosticCallback(task, watching).inspect_trained()
        values = {m.name: float(v[-1]) for m in measures if len(v := recorder.series(m.name))}
    if not values:
        raise ValueError(f"{', '.join(names)}: only measured while a model is trained")
    write_text(folder / "probe.json", json.dumps(values, indent=2))
    width = max(map(len, values))
    return "\n".join(f"{m.name:{width}}  {values[m.name]:.4g} {m.unit}" for m in measures if m.name in values)


def sample(words: list[str]) -> None:
    """Print the prompt and what the model says next. Raises ValueError for a prompt that is no text of the data."""
    parser = trial_parser("sample", "Generate a continuation of a text with a trained model.")
    parser.add_argument("--prompt", required=True, help="what it goes on from, in tokens of the trial's data")
    parser.add_argument("--tokens", type=int, default=200, help="how many to add (default: 200)")
    parser.add_argument("--temperature", type=float, default=1.0, help="0: always the likeliest (default: 1)")
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn (default: 0)")
    given = parser.parse_args(words)
    if given.temperature < 0:
        raise ValueError(f"--temperature {given.temperature}: must be at least 0")
    _, data, task = _reopen(find_trial(given.results, given.trial))
    if task.objective.extra_tokens:
        raise ValueError("this model was trained to fill gaps, not to go on with a text")
    prompt = data.vocabulary.encode(given.prompt)
    if not len(prompt):
        raise ValueError("--prompt is empty; give at least one token to go on from")
    generator = torch.Generator().manual_seed(given.seed)
    echo(data.vocabulary.decode(generate(task.model, prompt, given.tokens, given.temperature, generator).tolist()))


@torch.no_grad()
def generate(model: Decoder, prompt: Tensor, more: int, temperature: float, generator: torch.Generator) -> Tokens:
    """The prompt and `more` tokens, each drawn from softmax(logits / temperature) given the last `context` tokens."""
    tokens = prompt
    for _ in range(more):
        logits = model.forward(tokens[None, -model.sizes.context :])[0, -1]
        if temperature:
            drawn = torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator)
        else:
            drawn = logits.argmax()[None]
        tokens = torch.cat([tokens, drawn])
    return tokens
