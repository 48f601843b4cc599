"""What a study's numbers do not show, however much they look as if they did.

Each caution holds for what a study compares, and goes when the study has the control that it lacks. So a plan can say
it before anything is trained, and a page under its numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass

from analysis.compared import Compared

UNGATED = ("relu", "gelu", "silu", "relu2")
RECURRENT = ("rnn", "lstm", "gru")
MANY = 1e7  # tokens a trial, below which the sign of leaving out a norm has been seen to change


@dataclass(frozen=True)
class Caution:
    """What must not be concluded, and when."""

    sentence: str
    applies: Callable[[Compared], object]


def _asked(compared: Compared, family: str) -> bool:
    return any(name.startswith(f"{family}/") for name in compared.endpoints)


def _at_one_size(compared: Compared) -> list[str]:
    """Factors that were seen at one depth and one width."""
    others = [factor for factor in sorted(compared.factors) if factor not in ("model.depth", "model.width")]
    return [f for f in others if not compared.crossed(f, "model.depth") and not compared.crossed(f, "model.width")]


CAUTIONS = (
    Caution(
        "that dividing by √d_k is what makes attention trainable: no arm starts with logits as small without it; "
        "scale=at_init does",
        lambda c: c.among("scale", "sqrt", "none") == 2 and "at_init" not in c.levels("scale"),
    ),
    Caution(
        "that the division by √d_k only sets where attention starts, or that it does more: under Adam the logits of "
        "scale=at_init move √d_k times as far with each step, and fail at rates where scale=sqrt still learns; "
        "cross scale with optimizer.lr",
        lambda c: c.among("scale", "sqrt", "at_init") == 2 and not c.crossed("scale", "optimizer.lr"),
    ),
    Caution(
        "that residuals keep gradients from vanishing: beside a norm their size hardly tells; what goes without "
        "residuals is the difference between tokens; make stream/rank or stream/cosine of the last layer an endpoint",
        lambda c: c.among("residual", "none") and c.levels("norm") != {"none"} and not _asked(c, "stream"),
    ),
    Caution(
        "that one placement of norms is better: which one is has been seen to change with depth, warm-up and learning "
        "rate; cross it with model.depth, schedule.warmup and optimizer.lr (Nguyen & Salazar 2019; Takase et al. 2022)",
        lambda c: c.swept("placement") and not c.crossed("placement", "model.depth", "schedule.warmup", "optimizer.lr"),
    ),
    Caution(
        "that SwiGLU is better than GEGLU, or the other way: in large models their difference lay within the noise "
        "(Shazeer 2020, table 1; Narang et al. 2021)",
        lambda c: c.among("ffn", "swiglu", "geglu") == 2,
    ),
    Caution(
        "a ranking of activations without gates: longer training has reversed it (Shazeer 2020, table 1)",
        lambda c: c.among("ffn", *UNGATED) > 1,
    ),
    Caution(
        "that more heads are better, or fewer: the width of a head changes with their number unless model.head_width "
        "is given, and the best number with the task",
        lambda c: c.swept("model.heads") and c.levels("model.head_width") == {None},
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
        "one learning rate; cross mixer with optimizer.lr, or tune it (Melis et al. 2018)",
        lambda c: c.among("mixer", *RECURRENT) and not c.crossed("mixer", "optimizer.lr"),
    ),
    Caution(
        "what an LSTM can do: without a forget gate's bias of 1 it forgets within steps (Jozefowicz et al. 2015)",
        lambda c: (biases := c.levels("mixer.forget_bias") - {None}) and max(biases) < 1,
    ),
    Caution(
        "that a model without positions cannot know order: where the future is hidden, two layers can tell it",
        lambda c: c.among("position", "none") and c.levels("mask") != {"full"} and c.levels("model.depth") != {1},
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
        "that tying embeddings helps or hurts: a tied readout starts with logits as large as embeddings make it; cross "
        "readout with init.embedding",
        lambda c: c.swept("readout") and not c.crossed("readout", "init.embedding"),
    ),
    Caution(
        "that it is so at other learning rates: they were not tuned for each arm, nor crossed with every factor",
        lambda c: any(not c.crossed(factor, "optimizer.lr") for factor in c.factors if factor != "optimizer.lr"),
    ),
    Caution(
        "that it is so at other sizes: not every factor was crossed with model.depth or model.width",
        _at_one_size,
    ),
)


def cautions(compared: Compared) -> list[str]:
    """What must not be concluded from a comparison, a line each."""
    return [caution.sentence for caution in CAUTIONS if caution.applies(compared)]
