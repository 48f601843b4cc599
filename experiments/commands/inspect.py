"""Look into a trained model, or into untrained ones."""

import json
import tempfile
from pathlib import Path

import torch
from torch import Tensor

from components.model import Decoder
from components.registry import unknown
from components.shapes import Tokens
from experiments.commands.arguments import command_parser

PROBE_DIAGNOSTICS = (
    "gradient_norm", "matrix_gradient", "token_gradient", "query_gradient", "attention", "stream", "branch", "log_z",
    "gradient_through_time",
)  # fmt: skip


UNTRAINED = (
    "trainer.max_steps=1",
    "schedule=constant",
    "optimizer.lr=0",
    f"diagnostic=[{','.join(PROBE_DIAGNOSTICS)}]",
    "runtime.smoke=0",
    "runtime.keep_gb=0",
    "runtime.unmeasured=again",
)


def probe(words: list[str]) -> None:
    """A first word that is a setting asks for models as they are drawn, any other for a trial that was trained.

    As drawn means: one step at a learning rate of 0, so that every trial measures what its initialisation is like, in
    the same folders and reports as any other study.
    """
    if words and ("=" in words[0] or words[0].startswith(("+", "~"))):
        from experiments.commands.run import run_hydra

        given = {word.lstrip("+").partition("=")[0] for word in words}
        run_hydra([*(word for word in UNTRAINED if word.partition("=")[0] not in given), *words])
        return
    parser = command_parser("probe", "Ask a trained model, or untrained ones (settings).")
    parser.add_argument("trial", help="its id, the beginning of it, or its folder; or settings, as of knockout run")
    parser.add_argument("--prompt", action="append", default=[], help="a sentence to map; may be given again")
    parser.add_argument("--diagnostic", action="append", default=[], help="what to measure; may be given again")
    given = parser.parse_args(words)
    from experiments.trial.reopen import find_trial

    folder = find_trial(given.results, given.trial)
    if given.diagnostic:
        print(measure_trained(folder, given.diagnostic))
    if given.prompt or not given.diagnostic:
        print(draw_attention(folder, given.prompt))


def draw_attention(folder: Path, prompts: list[str]) -> str:
    """Draw the maps of these sentences, or those that training has left; what they say, and where they are."""
    from analysis.page import attention_maps as maps
    from analysis.page.report import maps_page
    from analysis.record.files import write_text

    named = [(f"after step {step}", path) for step, path in maps.maps_by_step(folder)]
    if prompts or not named:
        named = list(zip(prompts or ["a sequence of the validation set"], _save_maps(folder, prompts), strict=True))
    write_text(folder / "attention.html", maps_page(folder.name, named))
    lines = [f"{name}: {maps.head_summary(maps.read_maps(path))}" for name, path in named]
    return "\n".join([*lines, f"maps: {(folder / 'attention.html').absolute()}"])


def _save_maps(folder: Path, prompts: list[str]) -> list[Path]:
    """The arrays of these sentences, under a name of their own."""
    from analysis.record.attention_maps import write_attention_maps
    from analysis.record.layout import ATTENTION
    from experiments.diagnostic.attention_map import AttentionMap, maps
    from experiments.trial.diagnostics import DiagnosticCallback
    from experiments.trial.reopen import reopen_trial

    config, data, task = reopen_trial(folder)
    AttentionMap(prompts=tuple(prompts)).refuse_model(task.model, lambda context: data)
    seen = DiagnosticCallback(task, []).trace()
    if not seen.attention:
        raise ValueError(f"mixer={config['mixer']['name']}: this model has no attention to map")
    with torch.no_grad():
        return write_attention_maps(folder / ATTENTION, "probe", maps(task, prompts, seen))


def measure_trained(folder: Path, names: list[str]) -> str:
    """What these diagnostics measure of the trained model, also left in `probe.json`."""
    from analysis.record.files import write_text
    from experiments.diagnostic import diagnostics
    from experiments.trial import build
    from experiments.trial.diagnostics import DiagnosticCallback
    from experiments.trial.recorder import Recorder
    from experiments.trial.reopen import reopen_trial

    for name in names:
        if name not in diagnostics.names():
            raise ValueError(unknown("diagnostic", name, diagnostics.names()))
    config, _, task = reopen_trial(folder)
    known = {knobs["name"]: knobs for knobs in config["diagnostic"].values()}
    watching = [diagnostics.build(known.get(name, {"name": name}))() for name in names]
    for each in watching:
        each.refuse_model(task.model, lambda context: build.build_data_at(config, context))
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
    parser = command_parser("sample", "Let a trained model go on with a text.")
    parser.add_argument("trial", help="its id, the beginning of it, or its folder")
    parser.add_argument("--prompt", required=True, help="what it goes on from, in tokens of the trial's data")
    parser.add_argument("--tokens", type=int, default=200, help="how many to add (default: 200)")
    parser.add_argument("--temperature", type=float, default=1.0, help="0: always the likeliest (default: 1)")
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn (default: 0)")
    given = parser.parse_args(words)
    if given.temperature < 0:
        raise ValueError(f"--temperature {given.temperature}: must be at least 0")
    from experiments.trial.reopen import (
        find_trial,  # loads Lightning, which nobody needs who only asks for help
        reopen_trial,  # loads Lightning, which nobody needs who only asks for help
    )

    _, data, task = reopen_trial(find_trial(given.results, given.trial))
    if task.objective.extra_tokens:
        raise ValueError("this model was trained to fill gaps, not to go on with a text")
    prompt = data.alphabet.encode(given.prompt)
    if not len(prompt):
        raise ValueError("--prompt is empty; give at least one token to go on from")
    generator = torch.Generator().manual_seed(given.seed)
    print(data.alphabet.decode(generate(task.model, prompt, given.tokens, given.temperature, generator).tolist()))


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
