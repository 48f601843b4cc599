"""Who looks at whom: every head's map on sentences, and what the maps say of the head."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from components.model import Decoder
from components.shapes import Weights
from experiments.attention_scores import induction, previous_token, repeated
from experiments.data import Data
from experiments.diagnostic import Look, diagnostics
from experiments.maps import FOLDER, Map, save
from experiments.measure import Measure
from experiments.observe import Seen, observed, reading

if TYPE_CHECKING:
    from experiments.task import LanguageModeling

SEQUENCES = 16  # of repeated tokens
SCORES: dict[str, Callable[[Weights], Tensor]] = {"previous_token": previous_token, "induction": induction}


@diagnostics.register("attention_map")
class AttentionMap(Look):
    """Maps of all heads on `prompts`, or else on a sequence of the validation set, as arrays in the trial's folder; of
    each head, and of the best, the mean share of the previous token and that of the token after this one's first copy

    Scores are of random tokens that come twice. Before the first step, after the last, and every `every` steps.
    Source: Olsson et al. 2022, arXiv:2209.11895 (prefix matching; previous-token heads).
    """

    def __init__(self, *, every: int = 0, prompts: tuple[str, ...] = ()) -> None:
        super().__init__(every=every)
        self.prompts = prompts

    def refuse(self, model: Decoder, at: Callable[[int], Data]) -> None:
        """Raises ValueError for a prompt that the data have no tokens for, or that is longer than the context."""
        for prompt in self.prompts:
            if (length := len(at(model.sizes.context).alphabet.read(prompt))) > model.sizes.context or not length:
                said = f"the prompt {prompt!r} has {length} tokens, model.context={model.sizes.context}"
                raise ValueError(f"diagnostic.attention_map: {said}")

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """Two scores for each head, and the best of each."""
        heads = [f"/{place}.heads.{head}" for place in reading(model) for head in range(model.sizes.heads)]
        ends = ["", *heads] if heads else []
        return [Measure(f"attention_map/{name}{end}", "share", "higher") for name in SCORES for end in ends]

    def on_look(self, task: LanguageModeling, seen: Seen) -> None:
        if not seen.reads:
            return
        save(task.recorder.folder / FOLDER, str(task.step), maps(task, self.prompts, seen))
        found = scores(task.model)
        for name, heads in found.items():
            task.recorder.record(f"attention_map/{name}", torch.stack(list(heads.values())).max())
            for place, shares in heads.items():
                for head, share in enumerate(shares.unbind()):
                    task.recorder.record(f"attention_map/{name}/{place}.heads.{head}", share)


def scores(model: Decoder) -> dict[str, dict[str, Tensor]]:
    """Each score of each head, by layer."""
    tokens = repeated(model.sizes.vocabulary, model.sizes.context, SEQUENCES).to(model.embedding.weight.device)
    reads = observed(model, tokens).reads
    return {name: {place: score(read.shares()) for place, read in reads.items()} for name, score in SCORES.items()}


def maps(task: LanguageModeling, prompts: Sequence[str], seen: Seen) -> list[Map]:
    """The maps of each prompt; of the first sequence that was looked at if there is none."""
    texts = [task.alphabet.read(prompt).to(task.device)[None] for prompt in prompts]
    looked = [observed(task.model, tokens) for tokens in texts] or [seen]
    found = scores(task.model)
    return [
        Map(
            tokens=task.alphabet.spelled(each.tokens[0].tolist()),
            shares={place: read.shares()[0].float().cpu().numpy() for place, read in each.reads.items()},
            scores={name: {p: s.cpu().numpy() for p, s in heads.items()} for name, heads in found.items()},
        )
        for each in looked
    ]
