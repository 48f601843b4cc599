"""What is named after a released model equals it: logits and gradients, against the library `transformers`.

Both models are small and random, and one is given the other's weights; nothing is downloaded.
"""

import importlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from unittest import mock

import pytest
import torch
from omegaconf import DictConfig
from torch import Tensor, nn

from components.model import Decoder
from components.parts import Sizes
from components.position import positions
from experiments import build
from experiments.identity import understood
from tests.released import RELEASED, VOCABULARY, Released, Source

Compose = Callable[..., DictConfig]
TOKENS = 14


@pytest.fixture(scope="module")
def library() -> Iterator[Any]:
    """The library `transformers`, which is to download nothing, and takes seconds to import."""
    with mock.patch.dict(os.environ, HF_HUB_OFFLINE="1"):
        yield importlib.import_module("transformers")


def ours_of(compose: Compose, released: Released) -> Decoder:
    model, _ = build.model(understood(compose(*released.settings)).config, VOCABULARY)
    return model.double().eval()


@torch.no_grad()
def theirs_of(library: Any, released: Released) -> nn.Module:
    """The released model, every weight moved so that none is without effect."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        theirs = released.build(library).double().eval()
    generator = torch.Generator().manual_seed(0)
    for name, weight in theirs.named_parameters():
        weight.add_(0.3 * torch.randn(weight.shape, dtype=torch.double, generator=generator))
        if re.search(released.zero, name):
            weight.zero_()
        if name in released.fixed:
            weight.copy_(released.fixed[name])
    return theirs


def located(name: str, names: Mapping[str, Source]) -> tuple[str, Callable[[Tensor], Tensor]]:
    """The weight of the released model that a weight is, and how it is read out of it."""
    module, _, leaf = name.rpartition(".")
    number = next((word for word in module.split(".") if word.isdigit()), "")
    source = names[re.sub(r"\.\d+\.", ".#.", module, count=1)]
    theirs, read = source if isinstance(source, tuple) else (source, lambda weight: weight)
    return f"{theirs.replace('#', number)}.{'bias' if leaf == 'bias' else 'weight'}", read


def difference(ours: Tensor, theirs: Tensor, unit: Tensor | None = None) -> float:
    """max |ours − theirs| / max |unit|, the unit being theirs unless there is another"""
    return float((ours - theirs).detach().abs().max() / (theirs if unit is None else unit).detach().abs().max())


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")  # of the library's own imports
@pytest.mark.parametrize("name", RELEASED)
def test_logits_and_gradients_are_those_of_the_released_model(compose: Compose, library: Any, name: str) -> None:
    released = RELEASED[name]
    ours, theirs = ours_of(compose, released), theirs_of(library, released)
    weights = dict(theirs.named_parameters())
    places = {own: located(own, released.names) for own, _ in ours.named_parameters()}
    with torch.no_grad():
        for own, weight in ours.named_parameters():
            where, read = places[own]
            weight.copy_(read(weights[where]) + released.offset * own.endswith("gain"))
    left = set(weights) - {where for where, _ in places.values()}
    assert all(re.search(f"{released.zero}|{released.unused}", weight) for weight in left), left
    generator = torch.Generator().manual_seed(1)
    tokens = torch.randint(1, VOCABULARY, (2, TOKENS), generator=generator)
    direction = torch.randn(2, TOKENS, VOCABULARY, dtype=torch.double, generator=generator)
    logits = ours(tokens), theirs(input_ids=tokens).logits
    for each_logits in logits:
        (each_logits * direction).sum().backward()
    gradients: dict[str, Any] = {own: weight.grad for own, weight in ours.named_parameters()}
    largest = torch.stack([gradient.abs().max() for gradient in gradients.values()]).max()
    apart: dict[str, float] = {}
    for own, (where, read) in places.items():
        other: Any = weights[where].grad
        nil = own.endswith("key.bias")  # softmax does not feel a shift of all logits: this gradient is rounding
        apart[own] = difference(gradients[own], read(other), largest if nil else None)
    print(f"{name}: logits {difference(*logits):.1e}, gradients {max(apart.values()):.1e} apart")
    assert difference(*logits) < released.within
    assert max(apart.values()) < released.within, apart


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_bert_has_as_many_parameters_but_for_those_of_its_segments(compose: Compose, library: Any) -> None:
    config = library.BertConfig()
    with torch.device("meta"):
        theirs = library.BertForMaskedLM(config)
    settings = compose("model=bert", "model.width=768", "model.context=512")
    ours, _ = build.model(understood(settings).config, config.vocab_size, device="meta")
    assert sum(weight.numel() for weight in theirs.parameters()) == 109_514_298
    assert sum(weight.numel() for weight in ours.parameters()) == 109_514_298 - 2 * 768


@pytest.mark.parametrize("both_sides", [False, True])
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_buckets_of_distances_are_t5s_far_beyond_the_last(library: Any, both_sides: bool) -> None:
    ours: Any = positions["t5"](Sizes(vocabulary=2, context=4, width=8, depth=1, heads=4), both_sides=both_sides)
    attention = importlib.import_module("transformers.models.t5.modeling_t5").T5Attention
    config = library.T5Config(num_heads=4, is_decoder=not both_sides)
    theirs = attention(config, has_relative_attention_bias=True, layer_idx=0)
    with torch.no_grad():
        ours.table.weight.copy_(theirs.relative_attention_bias.weight)
    device = torch.device("cpu")
    assert torch.equal(ours.bias(700, device), theirs.compute_bias(700, 700, device))
