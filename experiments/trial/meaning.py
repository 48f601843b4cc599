"""What a trial's numbers are about: which tokens, which data, which scored sequences, which objective."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch

from components.initialise import key
from experiments.data import Batch, Data, datas
from experiments.objective import Objective, objectives
from experiments.trial.batches import pose

PROBE = (4, 64)  # sequences and tokens of a batch that an objective is shown


def trial_meaning(knobs: Mapping[str, Any], data: Data, objective: Objective) -> dict[str, str]:
    """The facets that measures name in `about`, by their names; trials with equal facets measured the same thing.

    `vocabulary`: how many tokens there are, and a digest of what they are called. `data`: what is read, and how it is
    cut (`knobs` are the settings of the data, of which paths do not count). `validation`: a digest of the sequences
    that are scored, as the objective poses them. `context`: tokens of such a sequence. `objective`: its name, and a
    digest of what it hides, asks for and counts. `text`: the part of a text that validates, where tokens spell one.
    """
    types = datas.knobs(str(knobs["name"]))
    cut = sorted((knob, str(value)) for knob, value in knobs.items() if knob == "name" or types[knob][0] is not Path)
    scored = posed_validation(data, objective)
    facets = {
        "vocabulary": f"{data.vocabulary_size} tokens {_digest(data.vocabulary.symbols)}",
        "data": f"{knobs['name']} {_digest([data.content, *map(str, cut)])}",
        "validation": hashlib.sha256(torch.stack([scored.inputs, scored.targets]).numpy().tobytes()).hexdigest()[:8],
        "context": str(scored.inputs.shape[1]),
        "objective": _objective_facet(objective),
    }
    return facets if data.text is None else facets | {"text": data.text}


def scored_bytes(data: Data, objective: Objective) -> int | None:
    """The bytes of text that the scored targets of the validation set spell.

    None where tokens spell no text, and where the objective scores other targets than the data's.
    """
    whole = data.validation().targets
    return data.validation_bytes if torch.equal(posed_validation(data, objective).targets, whole) else None


def posed_validation(data: Data, objective: Objective) -> Batch:
    """The whole validation set as the objective poses it."""
    return pose(objective, data.validation(), data.vocabulary_size, "validation")


def asks_for_later_tokens(objective: Objective) -> bool:
    """Whether most of the answers that an objective scores stand in its input one token later, so that a model that
    sees ahead can read them there.
    """
    posed = _posed_probe(objective)
    scored, later = posed.targets[:, :-1], posed.inputs[:, 1:]
    return bool((scored == later).sum() > (scored >= 0).sum() / 2)


def _objective_facet(objective: Objective) -> str:
    """Its name, and a digest of the answers it asks for and of the scores that it gives to fixed logits."""
    posed = _posed_probe(objective)
    logits = torch.linspace(-1, 1, PROBE[1] + objective.extra_tokens + 1).sin().expand(*posed.inputs.shape, -1)
    scores = f"{objective(logits, posed.targets).double().sum().item():.3f}"  # to digits that all machines agree on
    names = {objectives[name]: name for name in objectives.names()}
    name = names.get(type(objective), type(objective).__name__)
    return f"{name} {_digest([scores, str(posed.inputs.tolist()), str(posed.targets.tolist())])}"


def _posed_probe(objective: Objective) -> Batch:
    """Sequences in which every token is another, as the objective poses them."""
    rows = torch.arange(PROBE[1] + 1).repeat(PROBE[0], 1)
    generator = torch.Generator().manual_seed(key("objective"))
    return objective.pose(Batch.of(rows[:, :-1], rows[:, 1:]), PROBE[1] + 1, generator)


def _digest(words: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).hexdigest()[:8]
