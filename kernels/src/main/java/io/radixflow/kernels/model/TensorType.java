package io.radixflow.kernels.model;

/**
 * Element types of weights. Block layouts of the quantised ones follow the GGUF specification
 * (ggml-common.h); a row is a whole number of blocks.
 */
public enum TensorType {
  F32(1, 4),
  F16(1, 2),
  BF16(1, 2),
  /** 32 weights: f16 d, 32 × int8; w = q·d. */
  Q8_0(32, 34),
  /** 32 weights: f16 d, 16 bytes of nibbles; w = (q − 8)·d. */
  Q4_0(32, 18),
  /** 32 weights: f16 d, f16 m, 16 bytes of nibbles; w = q·d + m. */
  Q4_1(32, 20),
  /** 256 weights in 8 sub-blocks with 6-bit scales and minima. */
  Q4_K(256, 144),
  /** 256 weights as Q4_K with a fifth bit each. */
  Q5_K(256, 176),
  /** 256 weights of 6 bits in 16 sub-blocks with 8-bit scales. */
  Q6_K(256, 210);

  private final int blockElements;
  private final int blockBytes;

  TensorType(int blockElements, int blockBytes) {
    this.blockElements = blockElements;
    this.blockBytes = blockBytes;
  }

  /** Elements of one block; 1 for the float types. */
  public int blockElements() {
    return blockElements;
  }

  /** Bytes of one block. */
  public int blockBytes() {
    return blockBytes;
  }
}
