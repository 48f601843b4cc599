"""Released models at small sizes, the settings that equal them, and which weight is which."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from torch import Tensor, nn

from components.position.sinusoidal import waves

Source = str | tuple[str, Callable[[Tensor], Tensor]]  # a module of the released model, and where in its weight to look
FLOAT64, FLOAT32 = 1e-12, 1e-5  # rounding: RMSNorms, rotations and BLOOM's softmax are float32 in a float64 model too
VOCABULARY = 11
PLAIN = ("model.width=24", "model.depth=2", "model.heads=3")
GROUPED = ("model.width=24", "model.depth=2", "model.heads=6", "model.key_value_heads=2")
ALIBI = ("position=alibi", "readout=tied")
BIASED = ("mixer.bias=true", "projection.bias=true", "ffn.bias=true")
MIX, FEED = "layers.#.mixer.branch", "layers.#.ffn.branch"
ROLES = ("query", "key", "value")


def third(number: int) -> Callable[[Tensor], Tensor]:
    """Queries, keys or values out of a map that holds them one after the other."""
    return lambda weight: weight.chunk(3)[number]


def third_of_head(number: int, heads: int) -> Callable[[Tensor], Tensor]:
    """The same out of a map that holds them head by head."""
    return lambda weight: weight.unflatten(0, (heads, 3, -1))[:, number].flatten(0, 1)


def turned(inner: Callable[[Tensor], Tensor] = lambda weight: weight) -> Callable[[Tensor], Tensor]:
    """Weights that are kept as (in, out)."""
    return lambda weight: inner(weight.t())


def split(name: str, inner: Callable[[int], Callable[[Tensor], Tensor]]) -> dict[str, Source]:
    """The three roles of attention, out of one map."""
    return {f"{MIX}.projection.{role}": (name, inner(number)) for number, role in enumerate(ROLES)}


def each(pattern: str, names: tuple[str, ...]) -> dict[str, Source]:
    """The three roles of attention, each in a map of its own."""
    return {f"{MIX}.projection.{role}": pattern.format(name) for role, name in zip(ROLES, names, strict=True)}


GPT2: dict[str, Source] = {
    "embedding": "transformer.wte", "position.table": "transformer.wpe", "norm": "transformer.ln_f",
    "layers.#.mixer.before": "transformer.h.#.ln_1", "layers.#.ffn.before": "transformer.h.#.ln_2",
    **split("transformer.h.#.attn.c_attn", lambda number: turned(third(number))),
    f"{MIX}.output": ("transformer.h.#.attn.c_proj", turned()),
    f"{FEED}.up": ("transformer.h.#.mlp.c_fc", turned()), f"{FEED}.down": ("transformer.h.#.mlp.c_proj", turned()),
}  # fmt: skip
LLAMA: dict[str, Source] = {
    "embedding": "model.embed_tokens", "norm": "model.norm", "readout.linear": "lm_head",
    "layers.#.mixer.before": "model.layers.#.input_layernorm",
    "layers.#.ffn.before": "model.layers.#.post_attention_layernorm",
    **each("model.layers.#.self_attn.{}_proj", ("q", "k", "v")), f"{MIX}.output": "model.layers.#.self_attn.o_proj",
    **{f"{FEED}.{name}": f"model.layers.#.mlp.{name}_proj" for name in ("gate", "up", "down")},
}  # fmt: skip
GEMMA2: dict[str, Source] = {
    **LLAMA,
    "layers.#.mixer.inside": "model.layers.#.post_attention_layernorm",
    "layers.#.ffn.before": "model.layers.#.pre_feedforward_layernorm",
    "layers.#.ffn.inside": "model.layers.#.post_feedforward_layernorm",
}
BERT: dict[str, Source] = {
    "embedding": "bert.embeddings.word_embeddings", "position.table": "bert.embeddings.position_embeddings",
    "before": "bert.embeddings.LayerNorm",
    **each("bert.encoder.layer.#.attention.self.{}", ROLES),
    f"{MIX}.output": "bert.encoder.layer.#.attention.output.dense",
    "layers.#.mixer.after": "bert.encoder.layer.#.attention.output.LayerNorm",
    f"{FEED}.up": "bert.encoder.layer.#.intermediate.dense", f"{FEED}.down": "bert.encoder.layer.#.output.dense",
    "layers.#.ffn.after": "bert.encoder.layer.#.output.LayerNorm", "readout": "cls.predictions",
    "readout.transform": "cls.predictions.transform.dense", "readout.norm": "cls.predictions.transform.LayerNorm",
}  # fmt: skip
MPT: dict[str, Source] = {
    "embedding": "transformer.wte", "norm": "transformer.norm_f",
    "layers.#.mixer.before": "transformer.blocks.#.norm_1", "layers.#.ffn.before": "transformer.blocks.#.norm_2",
    **split("transformer.blocks.#.attn.Wqkv", third), f"{MIX}.output": "transformer.blocks.#.attn.out_proj",
    f"{FEED}.up": "transformer.blocks.#.ffn.up_proj", f"{FEED}.down": "transformer.blocks.#.ffn.down_proj",
}  # fmt: skip
MARIAN: dict[str, Source] = {
    "embedding": "model.decoder.embed_tokens",
    **each("model.decoder.layers.#.self_attn.{}_proj", ("q", "k", "v")),
    f"{MIX}.output": "model.decoder.layers.#.self_attn.out_proj",
    "layers.#.mixer.after": "model.decoder.layers.#.self_attn_layer_norm",
    f"{FEED}.up": "model.decoder.layers.#.fc1", f"{FEED}.down": "model.decoder.layers.#.fc2",
    "layers.#.ffn.after": "model.decoder.layers.#.final_layer_norm",
}  # fmt: skip
T5_PARTS = (
    "norm=rmsnorm", "norm.eps=1e-6", "scale=none", "position=t5", "position.buckets=8", "position.far=10", "ffn=relu",
)  # fmt: skip
T5_NUMBERS = {
    "num_layers": 2, "d_model": 24, "d_kv": 8, "num_heads": 3, "d_ff": 96, "relative_attention_num_buckets": 8,
    "relative_attention_max_distance": 10,
}  # fmt: skip


def t5(fed: int) -> dict[str, Source]:
    """A stack of T5's; its feed-forward network is the sublayer of this number."""
    return {
        "embedding": "stack.embed_tokens", "norm": "stack.final_layer_norm", "readout.linear": "head",
        "position.table": "stack.block.0.layer.0.SelfAttention.relative_attention_bias",
        "layers.#.mixer.before": "stack.block.#.layer.0.layer_norm",
        **each("stack.block.#.layer.0.SelfAttention.{}", ("q", "k", "v")),
        f"{MIX}.output": "stack.block.#.layer.0.SelfAttention.o",
        "layers.#.ffn.before": f"stack.block.#.layer.{fed}.layer_norm",
        f"{FEED}.up": f"stack.block.#.layer.{fed}.DenseReluDense.wi",
        f"{FEED}.down": f"stack.block.#.layer.{fed}.DenseReluDense.wo",
    }  # fmt: skip


def bloom(heads: int) -> dict[str, Source]:
    """BLOOM's maps hold queries, keys and values head by head."""
    return {
        "embedding": "transformer.word_embeddings", "before": "transformer.word_embeddings_layernorm",
        "norm": "transformer.ln_f", "layers.#.mixer.before": "transformer.h.#.input_layernorm",
        "layers.#.ffn.before": "transformer.h.#.post_attention_layernorm",
        **split("transformer.h.#.self_attention.query_key_value", lambda number: third_of_head(number, heads)),
        f"{MIX}.output": "transformer.h.#.self_attention.dense", f"{FEED}.up": "transformer.h.#.mlp.dense_h_to_4h",
        f"{FEED}.down": "transformer.h.#.mlp.dense_4h_to_h",
    }  # fmt: skip


class Headed(nn.Module):
    """One of T5's stacks with a readout, as its version 1.1 has."""

    def __init__(self, stack: nn.Module, width: int) -> None:
        super().__init__()
        self.stack, self.head = stack, nn.Linear(width, VOCABULARY, bias=False)

    def forward(self, input_ids: Tensor) -> Any:
        return SimpleNamespace(logits=self.head(self.stack(input_ids=input_ids).last_hidden_state))


def t5_stack(library: Any, decodes: bool) -> nn.Module:
    config = library.T5Config(**T5_NUMBERS, vocab_size=VOCABULARY, is_decoder=decodes, use_cache=False)
    stack = importlib.import_module("transformers.models.t5.modeling_t5").T5Stack
    return Headed(stack(config), 24)


def grouped(library: Any, family: str, **numbers: Any) -> nn.Module:
    """LLaMA or a descendant with 6 query heads on 2 of keys and values."""
    config = getattr(library, f"{family}Config")(
        hidden_size=24, num_hidden_layers=2, num_attention_heads=6, num_key_value_heads=2, vocab_size=VOCABULARY,
        rms_norm_eps=1e-6, pad_token_id=None, bos_token_id=None, eos_token_id=None, attn_implementation="eager",
        max_position_embeddings=16, **numbers,
    )  # fmt: skip
    return getattr(library, f"{family}ForCausalLM")(config)


def gpt2(library: Any) -> nn.Module:
    config = library.GPT2Config(
        n_embd=24, n_layer=2, n_head=3, n_positions=16, vocab_size=VOCABULARY, bos_token_id=None, eos_token_id=None
    )
    return library.GPT2LMHeadModel(config)


def bert(library: Any) -> nn.Module:
    return library.BertForMaskedLM(
        library.BertConfig(
            hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=96,
            max_position_embeddings=16, vocab_size=VOCABULARY,
        )
    )  # fmt: skip


def marian(library: Any) -> nn.Module:
    config = library.MarianConfig(
        d_model=24, decoder_layers=2, decoder_attention_heads=3, decoder_ffn_dim=96, max_position_embeddings=16,
        vocab_size=VOCABULARY, scale_embedding=True, activation_function="relu", pad_token_id=0, eos_token_id=0,
        decoder_start_token_id=0,
    )  # fmt: skip
    return library.MarianForCausalLM(config)


@dataclass(frozen=True)
class Released:
    """A released model, the settings that equal it, where its weights are, and what is 0 or not used in it here."""

    settings: tuple[str, ...]
    build: Callable[[Any], nn.Module]
    names: Mapping[str, Source]
    within: float
    zero: str = "^$"
    unused: str = "^$"
    fixed: Mapping[str, Tensor] = field(default_factory=dict)
    offset: float = 0.0  # of the gains


WINDOWED = ("mask=window", "mask.size=5")
GEMMA = (
    "ffn=geglu", "ffn.approximate=tanh", "placement=sandwich", "readout=tied", "readout.scaled=true",
    "model.head_width=6", "layers={0: {mask: {name: window, size: 5}}}",
)  # fmt: skip
RELEASED = {
    "gpt2": Released(("model=gpt2", *PLAIN), gpt2, GPT2, FLOAT64),
    "bert": Released(("model=bert", *PLAIN), bert, BERT, FLOAT64, zero="token_type"),
    "vaswani, as Marian's decoder": Released(
        ("model=vaswani", *PLAIN), marian, MARIAN, FLOAT64, zero="self_attn.*bias", unused="encoder_attn|positions",
        fixed={"model.decoder.embed_positions.weight": waves(16, 24, 10_000.0)},
    ),
    "llama": Released(
        ("model=llama", *GROUPED), lambda library: grouped(library, "Llama", intermediate_size=64), LLAMA, FLOAT32
    ),
    "llama with mask=window, as Mistral": Released(
        ("model=llama", *GROUPED, *WINDOWED),
        lambda library: grouped(library, "Mistral", intermediate_size=64, sliding_window=5), LLAMA, FLOAT32,
    ),
    "llama with placement=sandwich, as Gemma 2 without its caps on logits": Released(
        ("model=llama", *GROUPED, *GEMMA),
        lambda library: grouped(
            library, "Gemma2", intermediate_size=64, head_dim=6, query_pre_attn_scalar=6, sliding_window=5,
            attn_logit_softcapping=None, final_logit_softcapping=None,
        ),
        GEMMA2, FLOAT32, offset=1.0,
    ),
    **{
        f"position=alibi with {heads} heads, as BLOOM": Released(
            (f"model.width={4 * heads}", f"model.heads={heads}", *ALIBI, *BIASED, "placement.first=true",
             "ffn.approximate=tanh"),
            lambda library, heads=heads: library.BloomForCausalLM(
                library.BloomConfig(hidden_size=4 * heads, n_layer=2, n_head=heads, vocab_size=VOCABULARY)
            ),
            bloom(heads), FLOAT32,
        )
        for heads in (4, 5, 12)
    },
    **{
        f"position=alibi with {heads} heads, as MPT": Released(
            (f"model.width={4 * heads}", f"model.heads={heads}", *ALIBI, "norm.bias=false"),
            lambda library, heads=heads: library.MptForCausalLM(
                library.MptConfig(d_model=4 * heads, n_layers=2, n_heads=heads, vocab_size=VOCABULARY)
            ),
            MPT, FLOAT32,
        )
        for heads in (4, 6)
    },
    "position=t5, as T5's decoder": Released(
        (*PLAIN, *T5_PARTS), lambda library: t5_stack(library, True), t5(2), FLOAT32, unused="EncDec|layer.1."
    ),
    "position=t5 on both sides, as T5's encoder": Released(
        (*PLAIN, *T5_PARTS, "mask=full", "position.both_sides=true"),
        lambda library: t5_stack(library, False), t5(1), FLOAT32,
    ),
}  # fmt: skip
