"""What must not be concluded is said where a study lacks the control, and goes when it has it."""

from typing import Any

import pytest

from analysis.cautions import CAUTIONS, Compared, cautions

LARGE = {"batch_size": 512, "model.context": 1024, "trainer.max_steps": 100}
BASE = {
    "norm": "layernorm", "scale": "sqrt", "residual": "add", "placement": "pre", "ffn": "gelu", "mixer": "attention",
    "position": "rope", "mask": "causal", "readout": "untied", "model.heads": 4, "model.depth": 2, "model.width": 64,
    "init.embedding": 0.5, "optimizer.lr": 3e-3, "batch_size": 16, "model.context": 64, "trainer.max_steps": 500,
}  # fmt: skip
DEEPER = {"model.depth": 4}
FASTER = {"optimizer.lr": 1e-2}


def said(*changes: dict[str, Any], tuned: tuple[str, ...] = (), measured: tuple[str, ...] = ()) -> str:
    """The cautions of the baseline and arms that differ from it in this."""
    return "\n".join(cautions(Compared([BASE, *(BASE | change for change in changes)], tuned, measured)))


@pytest.mark.parametrize(
    ("words", "without", "control"),
    [
        ("√d_k", [{"scale": "none"}], [{"scale": "none"}, {"scale": "at_init"}]),
        ("only sets where", [{"scale": "at_init"}], [{"scale": "at_init"}, FASTER]),
        ("residuals keep gradients", [{"residual": "none"}], [{"residual": "rezero"}]),
        ("one placement", [{"placement": "post"}, DEEPER], [{"placement": "post"}, DEEPER, FASTER]),
        ("one gated FFN", [{"ffn": "swiglu"}, {"ffn": "geglu"}], [{"ffn": "swiglu"}]),
        ("without gates", [{"ffn": "relu"}], [{"ffn": "swiglu"}]),
        ("more heads", [{"model.heads": 8}], [{"norm": "none"}]),
        ("in parallel", [{"mixer": "gru"}], [{"mixer": "gru"}, {"mixer": "mingru"}]),
        ("recurrent cell", [{"mixer": "lstm"}], [{"mixer": "lstm"}, FASTER]),
        (
            "an LSTM can do",
            [{"mixer": "lstm", "mixer.forget_bias": 0.0}],
            [{"mixer": "lstm", "mixer.forget_bias": 1.0}],
        ),
        ("cannot know order", [{"position": "none"}], [{"position": "alibi"}]),
        ("leaving out a norm", [{"norm": "none"}], [{"norm": "rmsnorm"}]),
        ("leaving out a norm", [{"norm": "none"}], [{"norm": "none"} | LARGE]),
        ("tying embeddings", [{"readout": "tied"}], [{"readout": "tied"}, {"init.embedding": 0.02}]),
        ("at other sizes", [{"norm": "none"}], [{"norm": "none"}, DEEPER]),
    ],
)
def test_a_caution_is_said_until_the_study_has_its_control(
    words: str, without: list[dict[str, Any]], control: list[dict[str, Any]]
) -> None:
    assert words in said(*without)
    assert words not in said(*control)


def test_what_each_arm_chose_for_itself_was_varied() -> None:
    assert "recurrent cell" not in said({"mixer": "gru"}, tuned=("optimizer.lr",))


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
