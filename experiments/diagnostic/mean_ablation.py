"""Let each head, sublayer and layer of the trained model say the same to all tokens."""

from experiments.ablation import Ablation
from experiments.diagnostic import diagnostics
from experiments.intervene import mean


@diagnostics.register("mean_ablation")
class MeanAblation(Ablation):
    """Loss with a site's output at its mean over the batch's tokens, less the loss without: heads, sublayers, layers

    What is lost is what the site said of one token rather than of another.
    Source: Wang et al. 2022, arXiv:2211.00593, section 2.1 (mean ablation).
    """

    name, replacement = "mean_ablation", mean
