package io.radixflow.kernels.cpu;

import io.radixflow.kernels.model.ModelConfig;
import io.radixflow.kernels.model.ModelConfig.Llama3Scaling;
import io.radixflow.kernels.model.ModelConfig.Rope;

/** Shapes of small models for tests. */
public final class Shapes {

  private static final Llama3Scaling SCALING = new Llama3Scaling(8, 1, 4, 64);

  private Shapes() {}

  /** Grouped queries, interleaved rotation, tied embedding. */
  public static ModelConfig llama() {
    return config("llama", 96, 3, 1, 32, new Rope(10000, true, null), false, false, true);
  }

  /** The llama shape with frequency scaling and its own output matrix. */
  public static ModelConfig llama3() {
    return config("llama", 64, 4, 2, 16, new Rope(500000, true, SCALING), false, false, false);
  }

  /** Biases on q, k and v; halves are rotated. */
  public static ModelConfig qwen2() {
    return config("qwen2", 64, 4, 2, 16, new Rope(1e6, false, null), true, false, true);
  }

  /** Norms on query and key heads, whose width is not hidden size by heads. */
  public static ModelConfig qwen3() {
    return config("qwen3", 64, 2, 2, 48, new Rope(1e6, false, null), false, true, true);
  }

  /** Widths that are no multiple of any vector: for the float types. */
  public static ModelConfig odd() {
    return config("llama", 52, 3, 3, 10, new Rope(10000, true, null), false, false, false);
  }

  /** One block of 256 columns a row: for the K-quants. */
  static ModelConfig wide() {
    return new ModelConfig(
        "llama",
        "wide",
        300,
        512,
        1,
        256,
        512,
        8,
        4,
        32,
        1e-5f,
        new Rope(10000, true, null),
        false,
        false,
        true);
  }

  private static ModelConfig config(
      String architecture,
      int hidden,
      int heads,
      int kvHeads,
      int headDim,
      Rope rope,
      boolean bias,
      boolean norm,
      boolean tied) {
    return new ModelConfig(
        architecture,
        architecture,
        203,
        1024,
        2,
        hidden,
        2 * hidden,
        heads,
        kvHeads,
        headDim,
        1e-5f,
        rope,
        bias,
        norm,
        tied);
  }
}
