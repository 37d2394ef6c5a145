package io.radixflow.models;

/**
 * Element types of weights. The block layouts of quantised types follow the GGUF specification
 * (ggml-common.h). A row is a whole number of blocks.
 *
 * <p>The float value of a weight is the exact result of its formula below, rounded once to nearest
 * even. Scales have at most 11 significant bits and the integers are short, so every product in a
 * formula fits into the 24 bits of a float and is exact. Only the last addition rounds, so {@code
 * fma(q, d, m)} and {@code q·d + m} are the same float in any order of evaluation. INT4, INT8 and
 * FP8 have float scales and use the written order; the product of INT8 and FP8 is rounded once. A
 * backend that unpacks weights in floats therefore has the same bits as {@link Tensor#dequantize}.
 */
public enum TensorType {
  F32(1, 4),
  F16(1, 2),
  BF16(1, 2),
  /** 32 weights: f16 d, 32 × int8 q; w = q·d. */
  Q8_0(32, 34),
  /**
   * 32 weights: f16 d, 16 bytes of nibbles q; w = (q − 8)·d. Byte i has weight i in its low nibble
   * and weight i + 16 in its high nibble.
   */
  Q4_0(32, 18),
  /** 32 weights: f16 d, f16 m, 16 bytes of nibbles q as in Q4_0; w = fma(q, d, m). */
  Q4_1(32, 20),
  /** 32 weights: f16 d, 4 bytes of fifth bits, 16 bytes of nibbles as in Q4_0; w = (q − 16)·d. */
  Q5_0(32, 22),
  /** 32 weights: f16 d, f16 m, then as in Q5_0; w = fma(q, d, m). */
  Q5_1(32, 24),
  /**
   * 256 weights in 16 sub-blocks of 16: 16 bytes with a 4-bit scale s and minimum m, 64 bytes of
   * bit pairs q, f16 d, f16 e; w = fma(q, d·s, −(e·m)).
   */
  Q2_K(256, 84),
  /**
   * 256 weights in 16 sub-blocks of 16: 32 bytes of third bits, 64 bytes of bit pairs, 12 bytes of
   * 6-bit scales s, f16 d; w = (q − 4)·(d·(s − 32)).
   */
  Q3_K(256, 110),
  /**
   * 256 weights in 8 sub-blocks of 32: f16 d, f16 e, 12 bytes with a 6-bit scale s and minimum m
   * per sub-block, 128 bytes of nibbles q; w = fma(q, d·s, −(e·m)).
   */
  Q4_K(256, 144),
  /** 256 weights as in Q4_K, with 32 bytes of fifth bits before the nibbles. */
  Q5_K(256, 176),
  /**
   * 256 weights in 16 sub-blocks of 16: 128 bytes of low nibbles, 64 bytes of high bit pairs, 16
   * int8 scales s, f16 d; w = (d·s)·(q − 32).
   */
  Q6_K(256, 210),
  /**
   * 32 weights: f16 d, 16 bytes of nibbles as in Q4_0, each of which selects one of 16 values v; w
   * = v·d.
   */
  IQ4_NL(32, 18),
  /**
   * 256 weights in 8 sub-blocks of 32: f16 d, 2 bytes of high and 4 bytes of low bits of 6-bit
   * scales s, 128 bytes of nibbles with the values of IQ4_NL; w = v·(d·(s − 32)).
   */
  IQ4_XS(256, 136),
  /**
   * 32 weights: one byte e, 16 bytes of nibbles as in Q4_0, each a 4-bit float (E2M1); w =
   * v·2<sup>e − 127</sup>.
   */
  MXFP4(32, 17),
  /**
   * 32 weights: f32 d, f32 m, 16 bytes of nibbles q as in Q4_0; w = fma(q, d, m). No file has this
   * type; readers of 4-bit safetensors gather the codes and scales of a row into it.
   */
  INT4(32, 24),
  /** 32 weights: f32 d, 32 × int8 q; w = q·d. Gathered like INT4. */
  INT8(32, 36),
  /** 32 weights: f32 d, 32 bytes v, which {@link Float8} widens; w = v·d. Gathered like INT4. */
  FP8(32, 36);

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

  /** Elements that share a scale; 1 for the float types. */
  public int scaleElements() {
    return this == Q6_K || this == Q2_K || this == Q3_K ? 16 : Math.min(32, blockElements);
  }

  public int blockBytes() {
    return blockBytes;
  }

  /** Bytes of one block in a file, without scales if they are separate tensors. */
  public int fileBlockBytes() {
    return switch (this) {
      case INT4 -> 16;
      case INT8, FP8 -> 32;
      default -> blockBytes;
    };
  }
}
