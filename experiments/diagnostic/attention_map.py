"""Who looks at whom: every head's map on sentences, and what the maps say of the head."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from analysis.record.attention_maps import AttentionMaps, write_attention_maps
from analysis.record.layout import ATTENTION
from analysis.record.measure import Measure
from components.domains import Index
from components.model import Decoder
from components.shapes import Weights
from experiments.data import Data
from experiments.diagnostic import ModelDiagnostic, diagnostics
from experiments.instruments.head_scores import induction_score, previous_token_score, repeated_tokens
from experiments.instruments.observed_trial import ObservedTrial
from experiments.instruments.trace import ForwardTrace, attention_cores, trace_forward

SEQUENCES = 16  # of repeated tokens
SCORES: dict[str, Callable[[Weights], Tensor]] = {"previous_token": previous_token_score, "induction": induction_score}


@diagnostics.register("attention_map")
class AttentionMap(ModelDiagnostic):
    """Maps of all heads on `prompts`, or else on a sequence of the validation set, as arrays in the trial's folder; of
    each head, and of the best, the mean share of the previous token and that of the token after this one's first copy

    Scores are of random tokens that come twice. Before the first step, after the last, and every `every` steps.
    Source: Olsson et al. 2022, arXiv:2209.11895 (prefix matching; previous-token heads).
    """

    def __init__(self, *, every: Index = 0, prompts: tuple[str, ...] = ()) -> None:
        super().__init__(every=every)
        self.prompts = prompts

    def refuse_model(self, model: Decoder, at: Callable[[int], Data]) -> None:
        """Raises ValueError for a prompt that the data have no tokens for, or that is longer than the context."""
        for prompt in self.prompts:
            if (length := len(at(model.sizes.context).vocabulary.encode(prompt))) > model.sizes.context or not length:
                said = f"the prompt {prompt!r} has {length} tokens, model.context={model.sizes.context}"
                raise ValueError(f"diagnostic.attention_map: {said}")

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """Two scores for each head, and the best of each."""
        heads = [f"/{place}.heads.{head}" for place in attention_cores(model) for head in range(model.sizes.heads)]
        ends = ["", *heads] if heads else []
        return [Measure(f"attention_map/{name}{end}", "share", "higher") for name in SCORES for end in ends]

    def on_inspect(self, trial: ObservedTrial, seen: ForwardTrace) -> None:
        if not seen.attention:
            return
        drawn, recorder = maps(trial, self.prompts, seen), trial.recorder
        write_attention_maps(recorder.folder / ATTENTION, str(trial.step), drawn, recorder.replace)
        found = scores(trial.model)
        for name, heads in found.items():
            trial.recorder.record(f"attention_map/{name}", torch.stack(list(heads.values())).max())
            for place, shares in heads.items():
                for head, share in enumerate(shares.unbind()):
                    trial.recorder.record(f"attention_map/{name}/{place}.heads.{head}", share)


def scores(model: Decoder) -> dict[str, dict[str, Tensor]]:
    """Each score of each head, by layer."""
    tokens = repeated_tokens(model.sizes.vocabulary, model.sizes.context, SEQUENCES).to(model.embedding.weight.device)
    reads = trace_forward(model, tokens).attention
    return {name: {place: score(read.weights()) for place, read in reads.items()} for name, score in SCORES.items()}


def maps(trial: ObservedTrial, prompts: Sequence[str], seen: ForwardTrace) -> list[AttentionMaps]:
    """The maps of each prompt; of the first sequence that was looked at if there is none."""
    texts = [trial.vocabulary.encode(prompt).to(trial.device)[None] for prompt in prompts]
    looked = [trace_forward(trial.model, tokens) for tokens in texts] or [seen]
    found = scores(trial.model)
    return [
        AttentionMaps(
            tokens=trial.vocabulary.spell(each.tokens[0].tolist()),
            shares={place: read.weights()[0].float().cpu().numpy() for place, read in each.attention.items()},
            scores={name: {p: s.cpu().numpy() for p, s in heads.items()} for name, heads in found.items()},
        )
        for each in looked
    ]
