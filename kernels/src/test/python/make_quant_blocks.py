"""Writes random quantised blocks and what the gguf package dequantises them to.

    pip install gguf==0.19.0 && python make_quant_blocks.py ../resources/quants

For each type, TYPE.blocks holds one row of blocks and TYPE.floats its weights as little-endian float32.
Scales are any finite f16, subnormals, both zeros and negatives included; all other bits are uniform.
"""

import sys
from pathlib import Path

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize

SCALES = {"Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}
FLOATS = {"F16", "BF16"}


def finite_halves(rng, count):
    halves = rng.integers(0, 1 << 16, count, dtype=np.uint16)
    return np.where((halves & 0x7C00) == 0x7C00, halves & 0x83FF, halves)


def blocks(rng, name):
    if name in FLOATS:
        bits = finite_halves(rng, 512)
        return bits.view(np.uint8)
    elements, size = GGML_QUANT_SIZES[GGMLQuantizationType[name]]
    count = 2048 // elements
    data = rng.integers(0, 256, (count, size), dtype=np.uint8)
    for offset in SCALES[name]:
        halves = finite_halves(rng, count)
        halves[:4] = [0x0001, 0x8000, 0x7BFF, 0xC000]
        data[:, offset : offset + 2] = halves.view(np.uint8).reshape(count, 2)
    return data.reshape(-1)


def main():
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(20260101)
    for name in [*SCALES, *sorted(FLOATS)]:
        data = blocks(rng, name)
        floats = dequantize(data, GGMLQuantizationType[name])
        assert floats.dtype == np.float32
        (target / f"{name}.blocks").write_bytes(data.tobytes())
        (target / f"{name}.floats").write_bytes(floats.astype("<f4").tobytes())


main()
