"""Makes tiny random models and their reference logits with transformers; see ../resources/tiny/README.md.

    pip install torch==2.15.0 transformers==5.23.0 gguf==0.19.0 && python make_tiny_models.py ../resources/tiny
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import torch
import transformers
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFWriter
from gguf.quants import dequantize, quantize
from safetensors.torch import save_file

BASE = dict(
    vocab_size=96,
    hidden_size=64,
    intermediate_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=256,
    rms_norm_eps=1e-5,
)
LLAMA3 = dict(
    rope_type="llama3",
    rope_theta=10000.0,
    factor=4.0,
    low_freq_factor=1.0,
    high_freq_factor=4.0,
    original_max_position_embeddings=32,
)
HF_TO_GGUF = {
    "model.embed_tokens": "token_embd",
    "lm_head": "output",
    "model.norm": "output_norm",
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def random_model(config, seed, dtype):
    """A model whose every tensor matters: norms off 1, biases off 0, values exact in dtype."""
    torch.manual_seed(seed)
    config._attn_implementation = "eager"
    model = transformers.AutoModelForCausalLM.from_config(config)
    config.architectures = [type(model).__name__]
    with torch.no_grad():
        for name, tensor in model.named_parameters():
            if "norm" in name:
                tensor.copy_(1 + 0.3 * torch.randn_like(tensor))
            elif name.endswith("bias"):
                tensor.copy_(0.5 * torch.randn_like(tensor))
            else:
                tensor.copy_(torch.randn_like(tensor) * 1.5 / tensor.shape[1] ** 0.5)
            tensor.copy_(tensor.to(dtype).float())
    return model.eval()


def reference(model, seed):
    """Float64 where transformers keeps it: its norms, softmax and rotary angles are float32."""
    rng = np.random.default_rng(seed)
    cases = []
    model = model.double()
    for length, positions in [(1, None), (17, None), (100, [0, 1, 15, 16, 31, 32, 33, 63, 64, 98, 99])]:
        ids = rng.integers(0, model.config.vocab_size, length).tolist()
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0].double().numpy()
        positions = positions or list(range(length))
        rows = [[float(f"{x:.8g}") for x in logits[p]] for p in positions]
        cases.append({"ids": ids, "positions": positions, "logits": rows})
    return {"cases": cases}


def write_json(path, value):
    path.write_text(json.dumps(value, separators=(",", ":")) + "\n")


def write_config(folder, config):
    """config.json in the form that released checkpoints have: rope_theta and rope_scaling apart."""
    values = config.to_dict()
    rope = dict(values.pop("rope_parameters"))
    values["rope_theta"] = rope.pop("rope_theta")
    values["rope_scaling"] = rope if rope.get("rope_type", "default") != "default" else None
    for key in ["_name_or_path", "transformers_version", "dtype", "id2label", "label2id"]:
        values.pop(key, None)
    folder.joinpath("config.json").write_text(json.dumps(values, indent=1, sort_keys=True) + "\n")


def write_hugging_face(folder, model, dtype, shards=1):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_config(folder, model.config)
    tensors = {k: v.to(dtype).contiguous() for k, v in model.state_dict().items()}
    if model.config.tie_word_embeddings:
        tensors.pop("lm_head.weight", None)
    if shards == 1:
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        return
    names = sorted(tensors)
    index = {}
    for s in range(shards):
        file = f"model-{s + 1:05d}-of-{shards:05d}.safetensors"
        part = {n: tensors[n] for n in names[s::shards]}
        save_file(part, folder / file, metadata={"format": "pt"})
        index.update({n: file for n in part})
    write_json(folder / "model.safetensors.index.json", {"metadata": {}, "weight_map": index})


def gguf_name(name):
    stem, kind = name.rsplit(".", 1)
    if stem.startswith("model.layers."):
        _, _, layer, part = stem.split(".", 3)
        return f"blk.{layer}.{HF_TO_GGUF[part]}.{kind}"
    return f"{HF_TO_GGUF[stem]}.{kind}"


def interleave(weight, heads, back=False):
    """Rows of each head from halves (i, i + d/2) to pairs (2i, 2i + 1), as GGUF stores llama, or back."""
    d = weight.shape[0] // heads
    split = (heads, d // 2, 2) if back else (heads, 2, d // 2)
    return weight.reshape(*split, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)


def heads_of(config, name):
    if config.model_type != "llama":
        return 0
    return {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}.get(name.split(".")[-2], 0)


def rope_divisors(config):
    rope = config.rope_parameters
    d = config.head_dim
    frequencies = 1 / rope["rope_theta"] ** (np.arange(0, d, 2, dtype=np.float64) / d)
    turns = rope["original_max_position_embeddings"] * frequencies / (2 * np.pi)
    low, high, factor = rope["low_freq_factor"], rope["high_freq_factor"], rope["factor"]
    smooth = np.clip((turns - low) / (high - low), 0, 1)
    return (1 / ((1 - smooth) / factor + smooth)).astype(np.float32)


def write_gguf(path, model, encode):
    """Writes a GGUF file; encode(name, array) gives (stored array, type); the model takes the stored values."""
    config = model.config
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = GGUFWriter(path, config.model_type)
    writer.add_name(path.stem)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    writer.add_key_length(head_dim)
    writer.add_value_length(head_dim)
    writer.add_rope_dimension_count(head_dim)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    if config.rope_parameters.get("rope_type") == "llama3":
        writer.add_tensor("rope_freqs.weight", rope_divisors(config))
    with torch.no_grad():
        for hf_name, tensor in model.state_dict().items():
            if hf_name == "lm_head.weight" and config.tie_word_embeddings:
                continue
            name = gguf_name(hf_name)
            heads = heads_of(config, name)
            values = tensor.float().numpy()
            stored = interleave(values, heads) if heads else values
            data, kind = (stored, GGMLQuantizationType.F32) if stored.ndim == 1 else encode(name, stored)
            writer.add_tensor(name, data, raw_dtype=kind)
            exact = dequantize(data, kind) if kind != GGMLQuantizationType.F32 else data
            exact = exact.reshape(stored.shape)
            tensor.copy_(torch.from_numpy(np.ascontiguousarray(interleave(exact, heads, back=True) if heads else exact)))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def as_type(kind):
    return lambda name, values: (quantize(values, kind), kind)


def k_quants(rng):
    """Random K-quant blocks whose weights have about the spread of a trained matrix."""

    def encode(name, values):
        kind = GGMLQuantizationType.Q4_K
        if "attn_v" in name or "token_embd" in name:
            kind = GGMLQuantizationType.Q5_K
        if "ffn_down" in name or "attn_k" in name:
            kind = GGMLQuantizationType.Q6_K
        elements, size = GGML_QUANT_SIZES[kind]
        rows, columns = values.shape
        data = rng.integers(0, 256, (rows, columns // elements, size), dtype=np.uint8)
        spread = 1.5 / columns**0.5
        if kind == GGMLQuantizationType.Q6_K:
            scales = (rng.uniform(0.5, 1.5, (rows, columns // elements, 1)) * spread / 1400).astype(np.float16)
            data[..., 208:210] = scales.view(np.uint8)
        else:
            levels = 15 if kind == GGMLQuantizationType.Q4_K else 31
            scales = (rng.uniform(0.5, 1.5, (rows, columns // elements, 1)) * spread / 32 / levels * 4).astype(np.float16)
            minima = (scales.astype(np.float32) * levels / 2).astype(np.float16)
            data[..., 0:2] = scales.view(np.uint8)
            data[..., 2:4] = minima.view(np.uint8)
        return data.reshape(rows, -1), kind

    return encode


def main():
    target = Path(sys.argv[1])
    llama = transformers.LlamaConfig(**BASE, tie_word_embeddings=True, rope_parameters={"rope_type": "default", "rope_theta": 10000.0})
    llama3 = transformers.LlamaConfig(
        **{**BASE, "num_key_value_heads": 1}, tie_word_embeddings=False, rope_parameters=LLAMA3
    )
    mistral = transformers.MistralConfig(
        **{**BASE, "num_hidden_layers": 1}, head_dim=24, sliding_window=None, tie_word_embeddings=False,
        rope_parameters={"rope_type": "default", "rope_theta": 1000000.0},
    )
    qwen2 = transformers.Qwen2Config(**BASE, tie_word_embeddings=True, rope_parameters={"rope_type": "default", "rope_theta": 1000000.0})
    qwen3 = transformers.Qwen3Config(
        **BASE, head_dim=32, tie_word_embeddings=False, rope_parameters={"rope_type": "default", "rope_theta": 1000000.0}
    )
    wide = transformers.LlamaConfig(
        **{**BASE, "hidden_size": 256, "intermediate_size": 256, "num_hidden_layers": 1, "num_key_value_heads": 1},
        tie_word_embeddings=True, rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
    )

    hugging_face = [
        ("llama", llama, torch.float32, 1),
        ("llama3", llama3, torch.bfloat16, 2),
        ("mistral", mistral, torch.bfloat16, 1),
        ("qwen2", qwen2, torch.float16, 1),
        ("qwen3", qwen3, torch.bfloat16, 1),
    ]
    for seed, (name, config, dtype, shards) in enumerate(hugging_face):
        model = random_model(config, seed, dtype)
        write_hugging_face(target / name, model, dtype, shards)
        write_json(target / name / "reference.json", reference(model, seed))

    types = GGMLQuantizationType
    gguf = [
        ("llama-f16", llama, as_type(types.F16)),
        ("llama3-bf16", llama3, as_type(types.BF16)),
        ("llama-q8_0", llama, as_type(types.Q8_0)),
        ("llama-q4_0", llama, as_type(types.Q4_0)),
        ("llama-q4_1", llama, as_type(types.Q4_1)),
        ("llama-k", wide, k_quants(np.random.default_rng(7))),
        ("qwen2-q8_0", qwen2, as_type(types.Q8_0)),
        ("qwen3-f16", qwen3, as_type(types.F16)),
    ]
    for seed, (name, config, encode) in enumerate(gguf, start=100):
        model = random_model(config, seed, torch.float32)
        write_gguf(target / "gguf" / f"{name}.gguf", model, encode)
        write_json(target / "gguf" / f"{name}.reference.json", reference(model, seed))


main()
