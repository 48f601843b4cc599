"""Let a trained model go on with a text: `knockout sample TRIAL --prompt "…"`."""

import argparse
from pathlib import Path

import torch
from torch import Tensor

from components.model import Decoder
from components.shapes import Tokens


def main(words: list[str]) -> None:
    """Print the prompt and what the model says next. Raises ValueError for a prompt that is no text of the data."""
    parser = argparse.ArgumentParser("knockout sample", description="Let a trained model go on with a text.")
    parser.add_argument("trial", help="its id, the beginning of it, or its folder")
    parser.add_argument("--prompt", required=True, help="what it goes on from, in tokens of the trial's data")
    parser.add_argument("--tokens", type=int, default=200, help="how many to add (default: 200)")
    parser.add_argument("--temperature", type=float, default=1.0, help="0: always the likeliest (default: 1)")
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn (default: 0)")
    parser.add_argument("--results", default="results", type=Path, help="the results folder (default: results)")
    given = parser.parse_args(words)
    if given.temperature < 0:
        raise ValueError(f"--temperature {given.temperature}: must be at least 0")
    from experiments.trained import found, opened  # loads Lightning, which nobody needs who only asks for help

    _, data, task = opened(found(given.results, given.trial))
    if task.objective.extra_tokens:
        raise ValueError("this model was trained to fill gaps, not to go on with a text")
    prompt = data.alphabet.read(given.prompt)
    if not len(prompt):
        raise ValueError("--prompt is empty; give at least one token to go on from")
    generator = torch.Generator().manual_seed(given.seed)
    print(data.alphabet.text(continued(task.model, prompt, given.tokens, given.temperature, generator).tolist()))


@torch.no_grad()
def continued(model: Decoder, prompt: Tensor, more: int, temperature: float, generator: torch.Generator) -> Tokens:
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
