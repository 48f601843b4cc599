"""The decoder: tokens to logits, assembled from parts."""

import torch
from torch import nn

from components.initialise import draw
from components.linear import Embedding
from components.parts import Parts, Sizes
from components.shapes import Hidden, Logits, Tokens
from components.sublayer import Absent, Nothing, Stage, Sublayer


class Decoder(nn.Module):
    """readout(norm(layers(before(position.embed(embedding(tokens))))))

    Children carry the names of their kinds, so that a weight's name says which part it belongs to:
    `layers.0.mixer.branch.projection.query.weight`. The norms before and after the layers stand only
    where the placement has them.

    Raises ValueError from `Sizes` and from parts that cannot be built at these sizes.
    """

    def __init__(self, sizes: Sizes, parts: Parts) -> None:
        super().__init__()
        self.sizes = sizes
        self.embedding = Embedding(sizes.vocabulary, sizes.width)
        self.position = parts["position"](sizes)
        placement = parts["placement"]()
        self.before = parts["norm"](sizes.width) if placement.first else nn.Identity()
        self.dropout = nn.Dropout(sizes.dropout)
        parts.refuse_layers_beyond(sizes.depth)
        self.layers = nn.ModuleList(_layer(sizes, parts.layer(number)) for number in range(sizes.depth))
        self.norm = parts["norm"](sizes.width) if placement.final else nn.Identity()
        self.readout = parts["readout"](self.embedding)

    def states(self, tokens: Tokens) -> list[Hidden]:
        """The residual stream before the first layer and after each."""
        states = [self.dropout(self.before(self.position.embed(self.embedding(tokens))))]
        for layer in self.layers:
            states.append(layer(states[-1], self.position))
        return states

    def forward(self, tokens: Tokens) -> Logits:
        return self.readout(self.norm(self.states(tokens)[-1]))


def assemble(sizes: Sizes, parts: Parts, seed: int) -> Decoder:
    """The model with its weights drawn from `seed`; on the meta device, without weights."""
    model = Decoder(sizes, parts)
    deviations = parts["init"](sizes.depth)
    if next(model.parameters()).device != torch.device("meta"):
        draw(model, seed, deviations)
    return model


def _layer(sizes: Sizes, parts: Parts) -> nn.Module:
    """A block of a mixer and an ffn, each wrapped in its sublayer."""
    mixer = _sublayer(parts["mixer"](sizes, parts), sizes, parts)
    return parts["block"](mixer, _sublayer(parts["ffn"](sizes.width), sizes, parts))


def _sublayer(branch: nn.Module, sizes: Sizes, parts: Parts) -> Stage:
    if isinstance(branch, Nothing):
        return Absent()
    return Sublayer(
        branch,
        lambda: parts["norm"](sizes.width),
        parts["placement"](),
        parts["residual"](sizes.width, sizes.depth),
        sizes.dropout,
    )
