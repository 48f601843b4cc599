"""What a study's numbers do not show, however much they look as if they did.

Each caution holds for what a study compares, and goes when the study has the control that it lacks. So a plan can say
it before anything is trained, and a page under its numbers.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from analysis.settings import settings

GATED = ("swiglu", "geglu", "reglu", "bilinear")
UNGATED = ("relu", "gelu", "silu", "relu2")
RECURRENT = ("rnn", "lstm", "gru")
SIZES = ("batch_size", "model.context", "trainer.max_steps")  # whose product is the tokens of a trial
MANY = 1e7  # tokens a trial, below which the sign of leaving out a norm has been seen to change


@dataclass(frozen=True)
class Compared:
    """What a study compares: each arm's settings as flat columns, what arms chose for themselves, what is measured."""

    arms: Sequence[Mapping[str, Any]]
    tuned: Collection[str]
    measured: Collection[str]

    @classmethod
    def of(cls, study: Mapping[str, Any], measured: Collection[str]) -> "Compared":
        """A study as it is written down before it runs."""
        arms = [settings(arm["settings"]) for arm in study["arms"].values()]
        return cls(arms, [key for key in study.get("tune", {}) if key != "seeds"], measured)

    def levels(self, setting: str) -> set[Any]:
        """The values that a setting takes."""
        return {arm.get(setting) for arm in self.arms}

    def swept(self, setting: str) -> bool:
        """Whether a setting takes several values, or was chosen by each arm."""
        return setting in self.tuned or len(self.levels(setting)) > 1

    def among(self, setting: str, *levels: str) -> int:
        """How many of these levels are compared."""
        return len(self.levels(setting) & set(levels)) if self.swept(setting) else 0

    def measures(self, *families: str) -> bool:
        """Whether anything of these families is measured."""
        return any(name.partition("/")[0] in families for name in self.measured)

    def tokens(self) -> float:
        """The most that a trial sees."""
        return max(prod(arm.get(size, 0) for size in SIZES) for arm in self.arms)


@dataclass(frozen=True)
class Caution:
    """What must not be concluded, and when."""

    sentence: str
    applies: Callable[[Compared], object]


CAUTIONS = (
    Caution(
        "that dividing by √d_k is what makes attention trainable: no arm starts with logits as small without it; "
        "scale=at_init does",
        lambda c: c.among("scale", "sqrt", "none") == 2 and "at_init" not in c.levels("scale"),
    ),
    Caution(
        "that the division by √d_k only sets where attention starts: under Adam the logits of scale=at_init move √d_k "
        "times as far with each step, and it fails at lower rates than scale=sqrt; vary optimizer.lr",
        lambda c: c.among("scale", "sqrt", "at_init") == 2 and not c.swept("optimizer.lr"),
    ),
    Caution(
        "that residuals keep gradients from vanishing: beside a norm their size hardly tells; what goes without "
        "residuals is the difference between tokens, which stream/rank and stream/cosine measure",
        lambda c: c.among("residual", "none"),
    ),
    Caution(
        "that one placement of norms is better: which one is has been seen to change with depth and with the learning "
        "rate; vary model.depth, and vary or tune optimizer.lr (Nguyen & Salazar 2019; Takase et al. 2022)",
        lambda c: c.swept("placement") and not (c.swept("model.depth") and c.swept("optimizer.lr")),
    ),
    Caution(
        "that one gated FFN is better than another: where it was measured in large, their differences lay within the "
        "noise (Shazeer 2020, table 1; Narang et al. 2021)",
        lambda c: c.among("ffn", *GATED) > 1,
    ),
    Caution(
        "a ranking of activations without gates: longer training has reversed it (Shazeer 2020, table 1)",
        lambda c: c.among("ffn", *UNGATED) > 1,
    ),
    Caution(
        "that more heads are better, or fewer: the width of a head changes with their number unless model.head_width "
        "is given, and the best number with the task",
        lambda c: c.swept("model.heads"),
    ),
    Caution(
        "what a head is for, from a picture of its attention: one sentence is an example; zero_ablation, mean_ablation "
        "and patching test it",
        lambda c: c.measures("attention_map") and not c.measures("zero_ablation", "mean_ablation", "patching"),
    ),
    Caution(
        "that recurrence cannot be trained in parallel: these cells cannot, mixer=mingru can",
        lambda c: c.among("mixer", *RECURRENT) and "mingru" not in c.levels("mixer"),
    ),
    Caution(
        "what a recurrent cell can do: LSTMs tuned as hard as what they are compared with have done far better than at "
        "one learning rate; vary or tune optimizer.lr (Melis et al. 2018)",
        lambda c: c.among("mixer", *RECURRENT) and not c.swept("optimizer.lr"),
    ),
    Caution(
        "what an LSTM can do: without a forget gate's bias of 1 it forgets within steps (Jozefowicz et al. 2015)",
        lambda c: any(bias is not None and bias < 1 for bias in c.levels("mixer.forget_bias")),
    ),
    Caution(
        "that a model without positions cannot know order: a causal mask tells it, from the second layer on",
        lambda c: c.among("position", "none") and "causal" in c.levels("mask"),
    ),
    Caution(
        "that a norm makes training so much faster: with fused kernels, on another device or in a larger model its "
        "share of a step is another",
        lambda c: c.swept("norm") and c.measures("tokens_per_second", "mfu"),
    ),
    Caution(
        "what leaving out a norm does to longer training: the sign has been seen to change with more than 10⁷ tokens",
        lambda c: c.among("norm", "none", "dyt") and c.tokens() < MANY,
    ),
    Caution(
        "that tying embeddings helps or hurts: a tied readout starts with logits as large as embeddings make it; vary "
        "init.embedding too",
        lambda c: c.swept("readout") and not c.swept("init.embedding"),
    ),
    Caution(
        "that it is so at other sizes: one depth and one width were tried",
        lambda c: not (c.swept("model.depth") or c.swept("model.width")),
    ),
)


def cautions(compared: Compared) -> list[str]:
    """What must not be concluded from a comparison, a line each."""
    return [caution.sentence for caution in CAUTIONS if caution.applies(compared)]
