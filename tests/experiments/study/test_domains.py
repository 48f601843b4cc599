"""Every setting has a domain; what lies outside is refused in a sentence while a study is planned."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig

from components.domains import declared
from experiments.settings.errors import explain_error
from experiments.settings.schema import DIAGNOSTICS, KINDS, SECTIONS, General
from experiments.study.arm import resolved_settings
from experiments.study.checks import refuse_invalid_settings
from experiments.study.plan import plan_study
from tests.outside import is_a_sentence, outside

Compose = Callable[..., DictConfig]
FREE = {"layers", "knobs", "plugins", "trial", "study.design", "study.factors", "study.seeds", "study.endpoints"}
FREE |= {
    "study.expect",
    "study.margin",
    "study.tune",
    "study.exclude",
}  # the user's own keys, or not a single value
SETTINGS = {f"{section}.{name}": hint for section, kind in SECTIONS.items() for name, hint in declared(kind).items()}
SETTINGS |= declared(General)
SETTINGS = {name: hint for name, hint in SETTINGS.items() if name not in FREE}


@pytest.fixture(scope="module")
def settings(compose: Compose) -> dict[str, Any]:
    """The default configuration, as a trial has it."""
    config = resolved_settings(compose())
    del config["knobs"]
    return config


def changed(config: dict[str, Any], setting: str, value: Any) -> dict[str, Any]:
    own = copy.deepcopy(config)
    *places, name = setting.split(".")
    section = own
    for place in places:
        section = section[place]
    section[name] = value
    return own


def test_the_defaults_are_inside_every_domain(settings: dict[str, Any]) -> None:
    refuse_invalid_settings(settings)


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_setting_refuses_every_value_outside_its_domain(settings: dict[str, Any], setting: str) -> None:
    for value in outside(SETTINGS[setting]):
        with pytest.raises(ValueError) as caught:
            refuse_invalid_settings(changed(settings, setting, value))
        assert is_a_sentence(str(caught.value), setting, SETTINGS[setting])


@pytest.mark.parametrize("kind", [*KINDS, "diagnostic"])
def test_a_plan_refuses_a_knob_outside_its_domain_under_its_full_name(settings: dict[str, Any], kind: str) -> None:
    registry = KINDS.get(kind, DIAGNOSTICS)
    for name in registry.names():
        place = kind if kind in KINDS else f"{kind}.{name}"
        for knob, hint in registry.domains(name).items():
            with pytest.raises(ValueError) as caught:
                refuse_invalid_settings(changed(settings, place, {"name": name, knob: outside(hint)[0]}))
            assert is_a_sentence(str(caught.value), f"{place}.{knob}", hint)


def refused(compose: Compose, words: list[str]) -> str:
    """The sentence that a command with these words ends with."""
    with pytest.raises(Exception) as caught:
        plan_study(OverridesParser.create().parse_overrides(words), lambda lines: compose(*lines))
    return explain_error(caught.value)


SEED = "a whole number from 0 to 9223372036854775807"
SEEDS = f"a whole number from 1 to 1000000, or a list of values, at least 1 of them, all different, each {SEED}"


SENSELESS = {
    "trainer.gradient_clip_val=-1": "trainer.gradient_clip_val=-1.0: must be a finite number of at least 0, or null",
    "optimizer.lr=inf": "optimizer.lr=inf: must be a finite number of at least 0",
    "optimizer.lr=nan": "optimizer.lr=nan: must be a finite number of at least 0",
    "optimizer.betas=[0.9,1.0]": "optimizer.betas=[0.9, 1.0]: must be 2 values, each a number of at least 0",
    "runtime.timeout_minutes=0": "runtime.timeout_minutes=0.0: must be a finite number above 0, or null",
    "runtime.keep_gb=nan": "runtime.keep_gb=nan: must be a number of at least 0",
    "model.head_width=0": "model.head_width=0: must be a whole number of at least 1, or null",
    "model.context=0": "model.context=0: must be a whole number of at least 1",
    "model.dropout=1": "model.dropout=1.0: must be a number of at least 0 and below 1",
    "ffn.expansion=0.001": "ffn.expansion leaves model.width=16 a hidden width of 0; give a larger one",
    "diagnostic.gradient_norm.every=0": "diagnostic.gradient_norm.every=0: must be a whole number of at least 1",
    "trainer.precision=16-mixed": "trainer.precision=16-mixed scales gradients",
    "trainer.precision=16-tru": "or 16-true (did you mean '16-true'?)",
    "trainer.compile=inductro": "must be none, inductor, aot_eager or cudagraphs (did you mean 'inductor'?)",
    "trainer.accelerator=gpus": "must be cpu, gpu, cuda or mps (did you mean 'gpu'?)",
    "budget=flop": "budget=flop: must be none, parameters or flops (did you mean 'flops'?)",
    "runtime.code=samee": "runtime.code=samee: must be same or any (did you mean 'same'?)",
    "seed=-1": f"seed=-1: must be {SEED}",
    "seed=1.5": "seed: Value '1.5' of type 'float' could not be converted to Integer",
    "seed=9223372036854775808": f"seed=9223372036854775808: must be {SEED}",
    "seed=1.5,2": f"seed=1.5: must be {SEED}",
    "seed=1,-2": f"seed=-2: must be {SEED}",
    "seed=1,9223372036854775808": f"seed=9223372036854775808: must be {SEED}",
    "seed_offset=9223372036854775808": f"seed_offset=9223372036854775808: must be {SEED}",
    "study.seeds=[]": f"study.seeds=[]: must be {SEEDS}",
    "study.seeds=[1,1]": f"study.seeds=[1, 1]: must be {SEEDS}",
    "study.seeds=[1.5]": f"study.seeds=[1.5]: must be {SEEDS}",
    "study.seeds=1.5": f"study.seeds=1.5: must be {SEEDS}",
    "study.seeds=true": f"study.seeds=true: must be {SEEDS}",
    "study.seeds={a: 1}": f"study.seeds={{'a': 1}}: must be {SEEDS}",
    "+study.margin={val/loss: inf}": "study.margin.val/loss=inf: must be a finite number above 0",
    "+study.tune={optimizer.lr: [1, 2], seeds: 0}": "study.tune.seeds=0: must be a whole number from 1 to 1000000",
    "+study.tune={optimizer.lr: [1e-3, 0.001]}": "study.tune.optimizer.lr=0.001,0.001: the levels 0.001 and 0.001 are",
    "norm=rmsnorm,rmsnorm": "norm=rmsnorm,rmsnorm: the levels rmsnorm and rmsnorm are the same; leave one of them out",
    "optimizer.lr=1,1.0": "optimizer.lr=1,1.0: the levels 1 and 1.0 are the same; leave one of them out",
    "+study.factors={norm: [rmsnorm, rmsnorm]}": "norm=rmsnorm,rmsnorm: the levels rmsnorm and rmsnorm are the same",
    "+study.factors={norm: []}": "norm=[]: a factor must have at least one level",
    "study.design=5": "there is no design '5'",
    "study.design={resolution: 4}": "study.design={'resolution': 4}: must be {name: PART}",
    "study.design={name: fractional, resolution: 2}": "study.design.resolution=2: must be a whole number of at least 3",
    "layers=5": "layers=5: must be {LAYER: {KIND: PART}}",
    "layers={x: {ffn: none}}": "layers={x: {'ffn': 'none'}}: must be {LAYER: {KIND: PART}}",
    "layers={0: {ffn: 5}}": "layers.0.ffn=5: must be {name: PART}",
    "layers={0: {norm: {name: layernorm, eps: -1}}}": "layers.0.norm.eps=-1: must be a finite number above 0",
    "layers={0: {norm: {name: layernorm, eps: x}}}": "layers.0.norm.eps=x: must be a finite number above 0",
    "layers={0: {norm: {name: layernorm, epss: 1}}}": "layers.0.norm=layernorm: there is no setting 'epss'",
    "+trainer.num_nodes=2": "trainer: there is no setting 'num_nodes'",
    "+trainer.max_step=2": "trainer: there is no setting 'max_step' (did you mean 'max_steps'?)",
    "+anything.new=1": "the configuration: there is no setting 'anything'",
    "+modle.width=1": "the configuration: there is no setting 'modle' (did you mean 'model'?)",
    "+norm.epss=1": "norm=layernorm: there is no setting 'epss' (did you mean 'eps'?)",
    "+study.question_=1": "study: there is no setting 'question_' (did you mean 'question'?)",
    "+diagnostic.gradient_norm.evry=2": "diagnostic.gradient_norm: there is no setting 'evry' (did you mean 'every'?)",
    "+diagnostic.norms={name: gradient_nrom}": "no diagnostic 'gradient_nrom' (did you mean 'gradient_norm'?)",
    "~norm": "norm must be given: type norm=",
}


@pytest.mark.parametrize("word", SENSELESS)
def test_a_senseless_word_is_refused_while_planning(compose: Compose, word: str) -> None:
    assert SENSELESS[word] in refused(compose, [word])


def test_a_seed_that_its_offset_makes_too_large_is_refused(compose: Compose) -> None:
    said = refused(compose, ["seed=9223372036854775807", "seed_offset=1"])
    assert f"seed + seed_offset=9223372036854775808: must be {SEED}" in said


def test_what_makes_sense_at_an_end_of_a_domain_is_planned(compose: Compose) -> None:
    words = ["runtime.keep_gb=inf", "runtime.checkpoint_minutes=inf", "trainer.gradient_clip_val=0", "runtime.smoke=0"]
    words += ["schedule.warmup=0", "study.seeds=[3,9223372036854775807]", "+study.margin={val/loss: 1e-9}"]
    words += ["layers={1: {ffn: {name: gelu, expansion: 2}}}"]
    made = plan_study(OverridesParser.create().parse_overrides(words), lambda lines: compose(*lines))
    assert [trial.seed for trial in made.trials] == [3, 2**63 - 1]
