#!/usr/bin/env python3
"""Writes GGUF files with the shape of a published model and random weights, to measure speed and memory with.

    bench-venv/bin/python bench/random_gguf.py --shape qwen3-0.6b --tokenizer SmolLM2-135M-Instruct.Q4_1.gguf \\
        --out DIRECTORY --quantize llama.cpp/build/bin/llama-quantize --type Q4_0 --type Q4_K_M

It writes SHAPE.F16.gguf, makes SHAPE.TYPE.gguf of it for each type with llama.cpp's llama-quantize, and deletes
SHAPE.F16.gguf. Without --quantize it keeps that file. The tokenizer is that of another model. If it has fewer tokens
than the shape's vocabulary, the rest are unused tokens. The weights are noise whose scale keeps the residual stream
and the logits in the range of a trained model.
"""
import argparse
import dataclasses
import pathlib
import subprocess

import gguf
import numpy as np

SLICE = 1 << 24
COPIED = ("tokenizer.",)


@dataclasses.dataclass(frozen=True)
class Shape:
    """The sizes of a model; experts is 0 for a dense one, kv_rank and rope for one without latent attention."""

    architecture: str
    layers: int
    hidden: int
    width: int
    heads: int
    kv_heads: int
    head: int
    tied: bool
    experts: int = 0
    chosen: int = 0
    expert_width: int = 0
    vocabulary: int = 151936
    context: int = 40960
    theta: float = 1e6
    kv_rank: int = 0
    rope: int = 0


SHAPES = {
    "qwen3-0.6b": Shape("qwen3", 28, 1024, 3072, 16, 8, 128, True),
    "qwen3-1.7b": Shape("qwen3", 28, 2048, 6144, 16, 8, 128, True),
    "qwen3-4b": Shape("qwen3", 36, 2560, 9728, 32, 8, 128, True),
    "qwen3-30b-a3b": Shape("qwen3moe", 48, 2048, 6144, 32, 4, 128, False, 128, 8, 768),
    # three kinds of attention in one size: the first is DeepSeek-V2-Lite's, without its experts
    "latent-1.4b": Shape("deepseek2", 27, 2048, 5632, 16, 16, 128, True, vocabulary=49152, kv_rank=512, rope=64),
    "ordinary-1.4b": Shape("llama", 27, 2048, 5632, 16, 16, 128, True, vocabulary=49152),
    "grouped-1.4b": Shape("llama", 27, 2048, 5632, 16, 4, 128, True, vocabulary=49152),
}


def tensors(shape):
    """Names and sizes of all tensors, rows before columns, in the order of the file."""
    if not shape.tied:
        yield "output.weight", (shape.vocabulary, shape.hidden)
    yield "token_embd.weight", (shape.vocabulary, shape.hidden)
    for layer in range(shape.layers):
        block = f"blk.{layer}."
        yield block + "attn_norm.weight", (shape.hidden,)
        yield block + "attn_q.weight", (shape.heads * (shape.head + shape.rope), shape.hidden)
        if shape.kv_rank:
            yield block + "attn_kv_a_mqa.weight", (shape.kv_rank + shape.rope, shape.hidden)
            yield block + "attn_kv_a_norm.weight", (shape.kv_rank,)
            yield block + "attn_k_b.weight", (shape.heads, shape.kv_rank, shape.head)
            yield block + "attn_v_b.weight", (shape.heads, shape.head, shape.kv_rank)
        else:
            yield block + "attn_k.weight", (shape.kv_heads * shape.head, shape.hidden)
            yield block + "attn_v.weight", (shape.kv_heads * shape.head, shape.hidden)
        yield block + "attn_output.weight", (shape.hidden, shape.heads * shape.head)
        if shape.architecture.startswith("qwen3"):
            yield block + "attn_q_norm.weight", (shape.head,)
            yield block + "attn_k_norm.weight", (shape.head,)
        yield block + "ffn_norm.weight", (shape.hidden,)
        if shape.experts:
            yield block + "ffn_gate_inp.weight", (shape.experts, shape.hidden)
            yield block + "ffn_gate_exps.weight", (shape.experts, shape.expert_width, shape.hidden)
            yield block + "ffn_up_exps.weight", (shape.experts, shape.expert_width, shape.hidden)
            yield block + "ffn_down_exps.weight", (shape.experts, shape.hidden, shape.expert_width)
        else:
            yield block + "ffn_gate.weight", (shape.width, shape.hidden)
            yield block + "ffn_up.weight", (shape.width, shape.hidden)
            yield block + "ffn_down.weight", (shape.hidden, shape.width)
    yield "output_norm.weight", (shape.hidden,)


def kind(name, size):
    """Vectors and routers stay floats, as converters leave them."""
    return np.float32 if len(size) == 1 or "ffn_gate_inp" in name else np.float16


def weights(name, size, random):
    """Noise; a matrix turns rows of deviation one into rows of deviation 0.8, a head into logits of deviation 3."""
    count = int(np.prod(size))
    values = np.empty(count, kind(name, size))
    if len(size) == 1:
        middle, deviation = 1.0, 0.1
    elif name == "token_embd.weight":
        middle, deviation = 0.0, 3 / size[-1] ** 0.5
    else:
        middle, deviation = 0.0, (3 if name == "output.weight" else 0.8) / size[-1] ** 0.5
    for start in range(0, count, SLICE):
        part = random.standard_normal(min(SLICE, count - start), np.float32)
        values[start : start + len(part)] = part * np.float32(deviation) + np.float32(middle)
    return values.reshape(size)


def copy_tokenizer(writer, path, vocabulary):
    """Copies all that a file says of its tokenizer, and fills its tokens up."""
    fields = gguf.GGUFReader(path).fields
    present = len(fields["tokenizer.ggml.tokens"].data)
    if present > vocabulary:
        raise SystemExit(f"{path} has {present} tokens; the shape has room for {vocabulary}")
    missing = range(present, vocabulary)
    fill = {
        "tokenizer.ggml.tokens": [f"[PAD{token}]" for token in missing],
        "tokenizer.ggml.token_type": [int(gguf.TokenType.UNUSED)] * len(missing),
        "tokenizer.ggml.scores": [-1e4] * len(missing),
    }
    for key, field in fields.items():
        if not key.startswith(COPIED):
            continue
        value = field.contents()
        if field.types[0] == gguf.GGUFValueType.ARRAY:
            writer.add_key_value(key, value + fill.get(key, []), gguf.GGUFValueType.ARRAY, field.types[-1])
        else:
            writer.add_key_value(key, value, field.types[0])


def add_latent_attention(writer, shape):
    """As llama.cpp's files have it: one head of compressed keys and values, and the widths that they stand for."""
    writer.add_head_count_kv(1)
    writer.add_key_length(shape.kv_rank + shape.rope)
    writer.add_value_length(shape.kv_rank)
    writer.add_key_length_mla(shape.head + shape.rope)
    writer.add_value_length_mla(shape.head)
    writer.add_kv_lora_rank(shape.kv_rank)
    writer.add_rope_dimension_count(shape.rope)
    writer.add_vocab_size(shape.vocabulary)
    writer.add_leading_dense_block_count(shape.layers)
    writer.add_expert_count(0)
    writer.add_expert_used_count(0)
    writer.add_expert_shared_count(0)
    writer.add_expert_feed_forward_length(shape.width)


def write(path, name, shape, options):
    """Writes one tensor after the other, so that memory holds but one."""
    writer = gguf.GGUFWriter(path, shape.architecture)
    writer.add_name(f"{name}, random weights")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.hidden)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.width)
    writer.add_head_count(shape.heads)
    if shape.kv_rank:
        add_latent_attention(writer, shape)
    else:
        writer.add_head_count_kv(shape.kv_heads)
        writer.add_key_length(shape.head)
        writer.add_value_length(shape.head)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(shape.theta)
    if shape.experts:
        writer.add_expert_count(shape.experts)
        writer.add_expert_used_count(shape.chosen)
        writer.add_expert_feed_forward_length(shape.expert_width)
    copy_tokenizer(writer, options.tokenizer, shape.vocabulary)
    for tensor, size in tensors(shape):
        dtype = np.dtype(kind(tensor, size))
        writer.add_tensor_info(tensor, size, dtype, int(np.prod(size)) * dtype.itemsize)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    random = np.random.default_rng(options.seed)
    for tensor, size in tensors(shape):
        writer.write_tensor_data(weights(tensor, size, random))
    writer.close()


def main():
    parser = argparse.ArgumentParser(description="GGUF files with random weights in the shape of a published model.")
    parser.add_argument("--shape", required=True, choices=SHAPES)
    parser.add_argument("--layers", type=int, help="fewer layers than the published model has")
    parser.add_argument("--tokenizer", required=True, help="a GGUF file whose tokenizer is copied")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="a directory for the files")
    parser.add_argument("--quantize", help="the program llama-quantize of llama.cpp")
    parser.add_argument("--type", action="append", default=[], help="such as Q4_0 or Q4_K_M; may stand several times")
    parser.add_argument("--threads", type=int, default=2, help="threads of llama-quantize")
    parser.add_argument("--seed", type=int, default=20260101)
    options = parser.parse_args()
    if bool(options.quantize) != bool(options.type):
        parser.error("--quantize and --type go together")
    shape = SHAPES[options.shape]
    name = options.shape
    if options.layers:
        shape = dataclasses.replace(shape, layers=options.layers)
        name += f"-{options.layers}-layers"
    options.out.mkdir(parents=True, exist_ok=True)
    floats = options.out / f"{name}.F16.gguf"
    write(floats, name, shape, options)
    files = [floats]
    try:
        for type_ in options.type:
            file = options.out / f"{name}.{type_}.gguf"
            subprocess.run([options.quantize, floats, file, type_, str(options.threads)], check=True)
            files.append(file)
    finally:
        if options.type:
            floats.unlink()
            files.remove(floats)
    for file in files:
        print(f"{file}: {file.stat().st_size / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()
