"""Conclusions that a study's numbers do not support although they may seem to.

Each caution depends on which settings a study varies and crosses, and disappears once the study has the missing
control. A plan can therefore show it before anything is trained, and a page below its numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass

from analysis.findings.coverage import StudyCoverage

UNGATED = ("relu", "gelu", "silu", "relu2")


RECURRENT = ("rnn", "lstm", "gru")


FEW_TOKENS = 1e7  # tokens per trial: beyond them the effect of leaving out a norm is known to change sign


@dataclass(frozen=True)
class Caution:
    """A conclusion that a study does not support, and the coverage for which that holds."""

    sentence: str  # beginning with "It does not show"
    applies: Callable[[StudyCoverage], object]


def _is_endpoint_family(coverage: StudyCoverage, family: str) -> bool:
    return any(name.startswith(f"{family}/") for name in coverage.endpoints)


def _factors_at_one_size(coverage: StudyCoverage) -> list[str]:
    """Factors that the study varies at a single depth and width."""
    others = [factor for factor in sorted(coverage.factors) if factor not in ("model.depth", "model.width")]
    return [
        factor
        for factor in others
        if not coverage.is_crossed_with(factor, "model.depth") and not coverage.is_crossed_with(factor, "model.width")
    ]


def _lstm_forgets(coverage: StudyCoverage) -> bool:
    """Whether every bias of a forget gate in the study is below 1."""
    biases = [bias for bias in coverage.levels("mixer.forget_bias") if isinstance(bias, int | float)]
    return bool(biases) and max(biases) < 1


CAUTIONS = (
    Caution(
        "It does not show that dividing by √d_k is what makes attention trainable: no arm without the division starts "
        "with logits as small. Add scale=at_init.",
        lambda c: c.levels_among("scale", "sqrt", "none") == 2 and "at_init" not in c.levels("scale"),
    ),
    Caution(
        "It does not show that the division by √d_k only sets where attention starts, nor that it does more: under "
        "Adam the logits of scale=at_init move √d_k times as far per step, and fail at rates where scale=sqrt still "
        "learns. Cross scale with optimizer.lr.",
        lambda c: c.levels_among("scale", "sqrt", "at_init") == 2 and not c.is_crossed_with("scale", "optimizer.lr"),
    ),
    Caution(
        "It does not show that residuals keep gradients from vanishing: next to a norm the size of a gradient says "
        "little. Without residuals the tokens become alike; make stream/rank or stream/cosine of the last layer an "
        "endpoint.",
        lambda c: (
            c.levels_among("residual", "none") and c.levels("norm") != {"none"} and not _is_endpoint_family(c, "stream")
        ),
    ),
    Caution(
        "It does not show that one placement of norms is better: the ranking is known to change with depth, warm-up "
        "and learning rate (Nguyen & Salazar 2019; Takase et al. 2022). Cross placement with model.depth, "
        "schedule.warmup and optimizer.lr.",
        lambda c: (
            c.varies("placement")
            and not c.is_crossed_with("placement", "model.depth", "schedule.warmup", "optimizer.lr")
        ),
    ),
    Caution(
        "It does not show that SwiGLU is better than GEGLU, nor the reverse: in large models their difference was "
        "within the noise (Shazeer 2020, table 1; Narang et al. 2021).",
        lambda c: c.levels_among("ffn", "swiglu", "geglu") == 2,
    ),
    Caution(
        "It does not show a ranking of activations without gates: longer training has reversed it (Shazeer 2020, "
        "table 1).",
        lambda c: c.levels_among("ffn", *UNGATED) > 1,
    ),
    Caution(
        "It does not show that more heads are better, nor fewer: the width of a head changes with their number unless "
        "model.head_width is set, and the best number depends on the task.",
        lambda c: c.varies("model.heads") and c.levels("model.head_width") == {None},
    ),
    Caution(
        "It does not show the function of a head by a picture of its attention: one sentence is an example. "
        "The diagnostics zero_ablation, mean_ablation and patching test the function.",
        lambda c: c.measures("attention_map") and not c.measures("zero_ablation", "mean_ablation", "patching"),
    ),
    Caution(
        "It does not show that recurrence cannot be trained in parallel: these cells cannot, mixer=mingru can.",
        lambda c: c.levels_among("mixer", *RECURRENT) and "mingru" not in c.levels("mixer"),
    ),
    Caution(
        "It does not show the best result of a recurrent cell: LSTMs that were tuned as carefully as their rivals have "
        "done far better than at one learning rate (Melis et al. 2018). Cross mixer with optimizer.lr, or tune it.",
        lambda c: c.levels_among("mixer", *RECURRENT) and not c.is_crossed_with("mixer", "optimizer.lr"),
    ),
    Caution(
        "It does not show what an LSTM can do: unless the bias of its forget gate is 1, it forgets within a few steps "
        "(Jozefowicz et al. 2015).",
        _lstm_forgets,
    ),
    Caution(
        "It does not show that a model without positions cannot know order: under a causal mask two layers can infer "
        "it.",
        lambda c: (
            c.levels_among("position", "none") and c.levels("mask") != {"full"} and c.levels("model.depth") != {1}
        ),
    ),
    Caution(
        "It does not show that a norm makes training so much faster in general: with fused kernels, on another device "
        "or in a larger model, it takes a different share of a step.",
        lambda c: c.varies("norm") and c.measures("tokens_per_second", "mfu"),
    ),
    Caution(
        "It does not show the effect of leaving out a norm on longer training: the sign is known to change beyond "
        "10⁷ tokens.",
        lambda c: c.levels_among("norm", "none", "dyt") and c.tokens() < FEW_TOKENS,
    ),
    Caution(
        "It does not show that tying embeddings helps or hurts: the scale of the embeddings sets the initial logits of "
        "a tied readout. Cross readout with init.embedding.",
        lambda c: c.varies("readout") and not c.is_crossed_with("readout", "init.embedding"),
    ),
    Caution(
        "It does not show what happens at other learning rates: the rate was neither tuned for each arm nor crossed "
        "with every factor.",
        lambda c: any(
            not c.is_crossed_with(factor, "optimizer.lr") for factor in c.factors if factor != "optimizer.lr"
        ),
    ),
    Caution(
        "It does not show what happens at other sizes: not every factor was crossed with model.depth or model.width.",
        _factors_at_one_size,
    ),
)


def cautions(coverage: StudyCoverage) -> list[str]:
    """The conclusions that a study of this coverage does not support, one sentence each."""
    return [caution.sentence for caution in CAUTIONS if caution.applies(coverage)]
