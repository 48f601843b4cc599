"""Which of a model's parameters belong together: all, those of a layer, those of a kind of part."""

import torch
from torch import Tensor

from components.model import Decoder
from components.registry import options

SLOTS = {"before": "norm", "inside": "norm", "after": "norm", "query_norm": "qk_norm", "key_norm": "qk_norm"}


def groups(model: Decoder) -> dict[str, list[int]]:
    """Places in `model.parameters()` by group: `total`, `layers.0` …, then `embedding` and kinds (`mixer`, `norm`).

    A parameter is of the innermost kind that its name says: a norm before an FFN counts as norm.
    """
    names = [name for name, _ in model.named_parameters()]
    found: dict[str, list[int]] = {"total": list(range(len(names)))}
    found |= {f"layers.{number}": [] for number in range(len(model.layers))}
    for place, name in enumerate(names):
        if name.startswith("layers."):
            found[".".join(name.split(".")[:2])].append(place)
        found.setdefault(kind_of(name), []).append(place)
    return {group: members for group, members in found.items() if members}


def kind_of(name: str) -> str:
    """The innermost kind in a parameter's name.

    >>> kind_of("layers.0.ffn.before.weight"), kind_of("layers.0.mixer.branch.projection.query.weight")
    ('norm', 'projection')
    >>> kind_of("layers.0.gate")  # a block's own
    'block'
    """
    known = SLOTS | {kind: kind for kind in (*options("components"), "embedding")}
    return ["block", *(known[word] for word in name.split(".") if word in known)][-1]


class Norms:
    """‖·‖₂ of groups out of those of single parameters: √(M n²), a row of M for each group."""

    def __init__(self, model: Decoder, device: torch.device) -> None:
        members = groups(model)
        self.names = list(members)
        self.members = torch.zeros(len(members), len(members["total"]), device=device)
        for row, group in enumerate(members.values()):
            self.members[row, group] = 1.0

    def __call__(self, norms: Tensor) -> Tensor:
        """One norm a group, in the order of `names`."""
        return (self.members @ norms.float().square()).sqrt()
