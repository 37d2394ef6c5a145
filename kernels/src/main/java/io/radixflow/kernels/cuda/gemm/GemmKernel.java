package io.radixflow.kernels.cuda.gemm;

import io.radixflow.kernels.cuda.weights.WeightFormat;

/**
 * The kernels of gemm.cuh, gemm_hopper.cuh and gemm_quantised.cuh. A block multiplies one tile of
 * weights and rows.
 *
 * <p>All have these parameters: weights; bytes from one matrix to the next; x; out; extra (bias or
 * residual, else null); tiles (else null); the number of rows or of tiles, on the device; gather
 * (the row of x for each row; null for the same row); features; depth; {@link GemmEpilogue#code()};
 * scale; bound; the distances between rows of x and between matrices in x, in elements; the same
 * two distances in the result. Weights are [features][depth] in the kernel's {@link #format}; x is
 * [rows][depth] in bf16. Depth is a multiple of 8. The number of features is a multiple of 8, or of
 * 16 with an epilogue that gates; with {@link GemmEpilogue#LOGITS} it can be any number.
 */
public enum GemmKernel {
  F16_R8("rf_gemm_16x8", 16, 8, 64, 2, 2, 8),
  F32_R8("rf_gemm_32x8", 32, 8, 128, 2, 2, 8),
  F32_R16("rf_gemm_32x16", 32, 16, 128, 2, 2, 6),
  F64_R32("rf_gemm_64x32", 64, 32, 128, 2, 2, 4),
  F64_R64("rf_gemm_64x64", 64, 64, 256, 2, 1, 5),
  F128_R64("rf_gemm_128x64", 128, 64, 256, 2, 1, 4),
  F128_R128("rf_gemm_128x128", 128, 128, 256, 2, 1, 3),
  FAST_F16_R8("rf_gemm_fast_16x8", 16, 8, 128, 4, 4, 4),
  FAST_F16_R16("rf_gemm_fast_16x16", 16, 16, 128, 4, 4, 4),
  FAST_F32_R32("rf_gemm_fast_32x32", 32, 32, 128, 4, 2, 4),
  HOPPER_F64_R128("rf_gemm_hopper_64x128", 64, 128, 128, 2, 1, 6),
  HOPPER_F128_R128("rf_gemm_hopper_128x128", 128, 128, 256, 2, 1, 6),
  HOPPER_F192_R128("rf_gemm_hopper_192x128", 192, 128, 384, 2, 1, 5),
  FAST_HOPPER_F128_R256("rf_gemm_fast_hopper_128x256", 128, 256, 256, 1, 1, 4),
  Q8_0_F16_R8(WeightFormat.Q8_0, 16, 8, 64, 4, 6),
  Q8_0_F32_R8(WeightFormat.Q8_0, 32, 8, 128, 4, 5),
  Q8_0_F32_R16(WeightFormat.Q8_0, 32, 16, 128, 4, 4),
  Q8_0_F32_R32(WeightFormat.Q8_0, 32, 32, 128, 2, 4),
  Q8_0_F32_R64(WeightFormat.Q8_0, 32, 64, 128, 2, 4),
  Q4_0_F16_R8(WeightFormat.Q4_0, 16, 8, 64, 4, 6),
  Q4_0_F32_R8(WeightFormat.Q4_0, 32, 8, 128, 4, 5),
  Q4_0_F32_R16(WeightFormat.Q4_0, 32, 16, 128, 4, 4),
  Q4_0_F32_R32(WeightFormat.Q4_0, 32, 32, 128, 2, 4),
  Q4_0_F32_R64(WeightFormat.Q4_0, 32, 64, 128, 2, 4),
  Q4_1_F16_R8(WeightFormat.Q4_1, 16, 8, 64, 4, 6),
  Q4_1_F32_R8(WeightFormat.Q4_1, 32, 8, 128, 4, 5),
  Q4_1_F32_R16(WeightFormat.Q4_1, 32, 16, 128, 4, 4),
  Q4_1_F32_R32(WeightFormat.Q4_1, 32, 32, 128, 2, 4),
  Q4_1_F32_R64(WeightFormat.Q4_1, 32, 64, 128, 2, 4),
  Q4_K_F16_R8(WeightFormat.Q4_K, 16, 8, 64, 4, 6),
  Q4_K_F32_R8(WeightFormat.Q4_K, 32, 8, 128, 4, 5),
  Q4_K_F32_R16(WeightFormat.Q4_K, 32, 16, 128, 4, 4),
  Q4_K_F32_R32(WeightFormat.Q4_K, 32, 32, 128, 2, 4),
  Q4_K_F32_R64(WeightFormat.Q4_K, 32, 64, 128, 2, 4),
  Q6_K_F16_R8(WeightFormat.Q6_K, 16, 8, 64, 4, 6),
  Q6_K_F32_R8(WeightFormat.Q6_K, 32, 8, 128, 4, 5),
  Q6_K_F32_R16(WeightFormat.Q6_K, 32, 16, 128, 4, 4),
  Q6_K_F32_R32(WeightFormat.Q6_K, 32, 32, 128, 2, 4),
  Q6_K_F32_R64(WeightFormat.Q6_K, 32, 64, 128, 2, 4),
  Q5_K_F16_R8(WeightFormat.Q5_K, 16, 8, 64, 4, 6),
  Q5_K_F32_R8(WeightFormat.Q5_K, 32, 8, 128, 4, 5),
  Q5_K_F32_R16(WeightFormat.Q5_K, 32, 16, 128, 4, 4),
  Q5_K_F32_R32(WeightFormat.Q5_K, 32, 32, 128, 2, 4),
  Q5_K_F32_R64(WeightFormat.Q5_K, 32, 64, 128, 2, 4),
  Q2_K_F16_R8(WeightFormat.Q2_K, 16, 8, 64, 4, 6),
  Q2_K_F32_R8(WeightFormat.Q2_K, 32, 8, 128, 4, 5),
  Q2_K_F32_R16(WeightFormat.Q2_K, 32, 16, 128, 4, 4),
  Q2_K_F32_R32(WeightFormat.Q2_K, 32, 32, 128, 2, 4),
  Q2_K_F32_R64(WeightFormat.Q2_K, 32, 64, 128, 2, 4),
  IQ4_F16_R8(WeightFormat.IQ4, 16, 8, 64, 4, 6),
  IQ4_F32_R8(WeightFormat.IQ4, 32, 8, 128, 4, 5),
  IQ4_F32_R16(WeightFormat.IQ4, 32, 16, 128, 4, 4),
  IQ4_F32_R32(WeightFormat.IQ4, 32, 32, 128, 2, 4),
  IQ4_F32_R64(WeightFormat.IQ4, 32, 64, 128, 2, 4),
  MXFP4_F16_R8(WeightFormat.MXFP4, 16, 8, 64, 4, 6),
  MXFP4_F32_R8(WeightFormat.MXFP4, 32, 8, 128, 4, 5),
  MXFP4_F32_R16(WeightFormat.MXFP4, 32, 16, 128, 4, 4),
  MXFP4_F32_R32(WeightFormat.MXFP4, 32, 32, 128, 2, 4),
  MXFP4_F32_R64(WeightFormat.MXFP4, 32, 64, 128, 2, 4),
  FP8_F16_R8(WeightFormat.FP8, 16, 8, 64, 4, 6),
  FP8_F32_R8(WeightFormat.FP8, 32, 8, 128, 4, 5),
  FP8_F32_R16(WeightFormat.FP8, 32, 16, 128, 4, 4),
  FP8_F32_R32(WeightFormat.FP8, 32, 32, 128, 2, 4),
  FP8_F32_R64(WeightFormat.FP8, 32, 64, 128, 2, 4);

  /** The depth of a stage is a multiple of this number of elements. */
  private static final int PANEL = 64;

  private final String function;
  private final WeightFormat format;
  private final int features;
  private final int rows;
  private final int threads;
  private final int slices;
  private final int panels;
  private final int stages;

  GemmKernel(
      String function, int features, int rows, int threads, int slices, int panels, int stages) {
    this.function = function;
    format = WeightFormat.BF16;
    this.features = features;
    this.rows = rows;
    this.threads = threads;
    this.slices = slices;
    this.panels = panels;
    this.stages = stages;
  }

  /** A kernel of gemm_quantised.cuh. */
  GemmKernel(WeightFormat format, int features, int rows, int threads, int panels, int stages) {
    function = "rf_gemm" + format.suffix() + "_" + features + "x" + rows;
    this.format = format;
    this.features = features;
    this.rows = rows;
    this.threads = threads;
    slices = 2;
    this.panels = panels;
    this.stages = stages;
  }

  /** The form of the weights that the kernel reads. */
  public WeightFormat format() {
    return format;
  }

  /** The kernel's name in the module. */
  String function() {
    return function;
  }

  /** Features per tile. */
  int features() {
    return features;
  }

  /** Rows per tile. */
  int rows() {
    return rows;
  }

  /** Threads per block. */
  int threads() {
    return threads;
  }

  /** Blocks in the first dimension of the grid for a matrix. */
  int gridX(int matrixFeatures) {
    return (matrixFeatures + features - 1) / features;
  }

  /** Blocks in the second dimension of the grid for up to {@code maxRows} rows. */
  int gridY(int maxRows) {
    return (maxRows + rows - 1) / rows;
  }

  /** Dynamic shared memory per block: the ring of stages, or the sums that replace it. */
  int sharedBytes() {
    long weights = format.bytes(features, PANEL);
    int ring = (int) (stages * panels * (weights + (long) rows * PANEL * Short.BYTES));
    int sums = Math.max(1, slices - 1) * rows * (features + 4) * Float.BYTES;
    return Math.max(ring, sums);
  }

  /** Elements of depth per stage. */
  int stageDepth() {
    return panels * PANEL;
  }

  /** Number of consecutive products of 16 elements of depth in a stage. */
  int chain() {
    return 4 * panels / slices;
  }

  /** Returns whether the kernel adds in the order that deterministic mode requires. */
  public boolean deterministic() {
    return slices == 2;
  }

  /** Returns whether the kernel needs compute capability 9.0. */
  boolean hopper() {
    return function.contains("_hopper_");
  }
}
