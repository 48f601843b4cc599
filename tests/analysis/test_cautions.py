"""What must not be concluded is said where a study lacks the control, and goes when it has it."""

from typing import Any

import pytest

from analysis.cautions import CAUTIONS, cautions
from analysis.compared import Compared

LARGE = {"batch_size": 512, "model.context": 1024, "trainer.max_steps": 100}
BASE = {
    "norm": "layernorm", "scale": "sqrt", "residual": "add", "placement": "pre", "ffn": "gelu", "mixer": "attention",
    "position": "rope", "mask": "causal", "readout": "untied", "model.heads": 4, "model.depth": 2, "model.width": 64,
    "init.embedding": 0.5, "optimizer.lr": 3e-3, "schedule.warmup": 50,
    "model.head_width": None, "batch_size": 16, "model.context": 64, "trainer.max_steps": 500,
}  # fmt: skip
DEEPER = {"model.depth": 4}
POST = {"placement": "post"}
FORGETFUL = {"mixer": "lstm", "mixer.forget_bias": 0.0}
FASTER = {"optimizer.lr": 1e-2}


def said(*changes: dict[str, Any], **seen: Any) -> str:
    """The cautions of the baseline and arms that differ from it in this."""
    factors = {factor for change in changes for factor in change}
    return "\n".join(cautions(Compared([BASE, *(BASE | change for change in changes)], factors, **seen)))


def crossed(change: dict[str, Any], *others: dict[str, Any]) -> list[dict[str, Any]]:
    """A change, each of the others alone, and it with each of them."""
    return [change, *others, *(change | other for other in others)]


@pytest.mark.parametrize(
    ("words", "without", "control"),
    [
        ("what makes attention trainable", [{"scale": "none"}], [{"scale": "none"}, {"scale": "at_init"}]),
        ("only sets where", [{"scale": "at_init"}, FASTER], crossed({"scale": "at_init"}, FASTER)),
        ("residuals keep gradients", [{"residual": "none"}], [{"residual": "rezero"}]),
        ("one placement", crossed(POST, DEEPER, FASTER), crossed(POST, DEEPER, FASTER, {"schedule.warmup": 0})),
        ("one placement", [POST, DEEPER, FASTER, {"schedule.warmup": 0}], [{"norm": "none"}]),
        ("SwiGLU", [{"ffn": "swiglu"}, {"ffn": "geglu"}], [{"ffn": "swiglu"}, {"ffn": "bilinear"}]),
        ("without gates", [{"ffn": "relu"}], [{"ffn": "swiglu"}]),
        ("more heads", [{"model.heads": 8}], [{"model.heads": 8, "model.head_width": 16}]),
        ("in parallel", [{"mixer": "gru"}], [{"mixer": "gru"}, {"mixer": "mingru"}]),
        ("recurrent cell", [{"mixer": "lstm"}, FASTER], crossed({"mixer": "lstm"}, FASTER)),
        ("an LSTM can do", [FORGETFUL], [FORGETFUL, FORGETFUL | {"mixer.forget_bias": 1.0}]),
        ("cannot know order", [{"position": "none"}], [{"position": "alibi"}]),
        ("cannot know order", [{"position": "none", "mask": "window"}], [{"mask": "window"}]),
        ("leaving out a norm", [{"norm": "none"}], [{"norm": "rmsnorm"}]),
        ("leaving out a norm", [{"layers.1.norm": "none"}], [{"norm": "none"} | LARGE]),
        ("tying embeddings", [{"readout": "tied"}], crossed({"readout": "tied"}, {"init.embedding": 0.02})),
        ("other learning rates", [{"norm": "none"}, FASTER], crossed({"norm": "none"}, FASTER)),
        ("at other sizes", [{"norm": "none"}, DEEPER], crossed({"norm": "none"}, DEEPER)),
        ("at other sizes", [{"norm": "none"}], [DEEPER]),
    ],
)
def test_a_caution_is_said_until_the_study_has_its_control(
    words: str, without: list[dict[str, Any]], control: list[dict[str, Any]]
) -> None:
    assert words in said(*without)
    assert words not in said(*control)


def test_what_each_arm_chose_for_itself_was_varied() -> None:
    words = said({"mixer": "gru"}, tuned=("optimizer.lr",))
    assert "recurrent cell" not in words and "other learning rates" not in words


def test_an_endpoint_that_measures_what_is_asked_is_the_control() -> None:
    assert "residuals" not in said({"residual": "none"}, endpoints=("stream/cosine/layers.1",))


def test_a_picture_wants_an_intervention_and_a_pace_a_caution() -> None:
    assert "picture" in said(measured=("attention_map/layers.0",))
    assert "picture" not in said(measured=("attention_map/layers.0", "zero_ablation/layers.0"))
    assert "so much faster" in said({"norm": "rmsnorm"}, measured=("tokens_per_second",))


def test_every_caution_can_be_said() -> None:
    shown = {
        **{f"arm {number}": change for number, change in enumerate([
            {"scale": "none"}, {"residual": "none"}, {"placement": "post"}, {"ffn": "swiglu"}, {"ffn": "geglu"},
            {"ffn": "relu"}, {"model.heads": 8}, {"mixer": "lstm", "mixer.forget_bias": 0.0}, {"position": "none"},
            {"norm": "none"}, {"readout": "tied"},
        ])},
    }  # fmt: skip
    found = said(*shown.values(), measured=("attention_map/best", "mfu")).splitlines()
    found += said({"scale": "at_init"}).splitlines()
    assert len(set(found)) == len(CAUTIONS)
