package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.cuda.driver.CudaDevice;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.Attention;
import io.radixflow.models.Attention.Latent;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The properties of a layer and its KV pool on which the kernels of attention.cuh depend.
 *
 * <p>Both kernels have the same parameters, in this order:
 *
 * <ol>
 *   <li>q, whose rows begin with the queries of all heads, and the distance between rows of q in
 *       elements
 *   <li>K and V of one layer, and out
 *   <li>partial, weight and arrived: memory for partial results
 *   <li>header, tiles and merge of the plan
 *   <li>chunkFirstRow, chunkPosition, chunkPageStart and pageIds of the step
 *   <li>{@link #kvHeads}, {@link #group}, {@link #pageTokens}
 *   <li>the parameters of {@link ScoreArguments}
 * </ol>
 *
 * <p>Their grid is any number of blocks by {@link #kvHeads}. A block has {@link #THREADS} threads
 * and takes tile after tile.
 *
 * @param heads query heads
 * @param kvHeads key and value heads; divides {@code heads} into groups of at most 16
 * @param headDim elements of a head, one of {@link #HEAD_DIMS}; of a compressed vector in latent
 *     attention, whose only kernel is in latent.cuh, with the same tiles as the keys kernel
 * @param rotatedDim elements of the rotated part that follows a compressed vector; 0 for attention
 *     that is not latent
 * @param pageTokens tokens of a page: a power of two from 16 on
 * @param type type of keys and values: bf16 or fp8
 */
public record AttentionShape(
    int heads, int kvHeads, int headDim, int rotatedDim, int pageTokens, KvSpec.Type type) {

  /** The head sizes, in elements, for which kernels exist. */
  public static final List<Integer> HEAD_DIMS = List.of(16, 32, 64, 80, 96, 128, 256);

  /**
   * The sizes of compressed vectors for which kernels exist, each with the size of the rotated
   * part.
   */
  private static final Map<Integer, Integer> LATENT_DIMS = Map.of(512, 64, 32, 8);

  private static final int LATENT_ROWS = 16;
  private static final int TILE_KEYS = 32;
  private static final int WARPS = 4;

  /** Threads per block of both attention kernels. */
  static final int THREADS = WARPS * 32;

  public AttentionShape {
    if (rotatedDim > 0) {
      checkLatent(headDim, rotatedDim);
    } else if (!HEAD_DIMS.contains(headDim)) {
      throw new IllegalArgumentException(
          "heads of " + headDim + " elements; the CUDA kernels support " + HEAD_DIMS);
    }
    if (rotatedDim > 0
        ? kvHeads != 1 || heads < 1
        : kvHeads < 1 || heads < 1 || heads % kvHeads != 0 || heads / kvHeads > 16) {
      throw new IllegalArgumentException(
          String.format(
              "%s query heads over %s key heads; the CUDA kernels support groups of 1 to 16 heads",
              heads, kvHeads));
    }
    if (pageTokens < 16 || Integer.bitCount(pageTokens) != 1) {
      throw new IllegalArgumentException(
          "pages of " + pageTokens + " tokens; the CUDA kernels support powers of two from 16 on");
    }
  }

  private static void checkLatent(int rank, int rotated) {
    if (!Integer.valueOf(rotated).equals(LATENT_DIMS.get(rank))) {
      String known =
          LATENT_DIMS.entrySet().stream()
              .map(dims -> dims.getKey() + " and " + dims.getValue())
              .sorted()
              .collect(Collectors.joining(", "));
      throw new IllegalArgumentException(
          String.format(
              "latent attention of %s and %s elements; the CUDA kernels support %s",
              rank, rotated, known));
    }
  }

  /** The shape of grouped attention over bf16 pages. */
  public AttentionShape(int heads, int kvHeads, int headDim, int pageTokens) {
    this(heads, kvHeads, headDim, 0, pageTokens, KvSpec.Type.BF16);
  }

  /** The suffix in the names of kernels that read or write keys and values of a type. */
  static String suffix(KvSpec.Type type) {
    return type == KvSpec.Type.FP8 ? "_float8" : "";
  }

  /**
   * @throws IllegalArgumentException if the kernels do not support the heads
   */
  public static AttentionShape of(Attention attention, KvSpec.Type type, int pageTokens) {
    if (attention instanceof Latent latent) {
      return new AttentionShape(
          latent.heads(), 1, latent.kvRank(), latent.rotatedDim(), pageTokens, type);
    }
    return new AttentionShape(
        attention.heads(), attention.kvHeads(), attention.keyWidth(), 0, pageTokens, type);
  }

  /** Returns whether the device has enough shared memory for at least one of the kernels. */
  public boolean runsOn(CudaDevice device) {
    return device.sharedMemory() >= leastSharedBytes();
  }

  /** Bytes of shared memory per block of the kernel that can compute all rows. */
  int leastSharedBytes() {
    return latent() ? keysSharedBytes() : rowsSharedBytes();
  }

  /** Returns whether this is latent attention. Its tiles all have few packed rows. */
  boolean latent() {
    return rotatedDim > 0;
  }

  /** Query heads per key head. */
  int group() {
    return heads / kvHeads;
  }

  /** Name of the kernel whose warps split the keys. */
  String keysKernel() {
    return (latent()
            ? "rf_attend_latent_" + headDim + "_" + rotatedDim
            : "rf_attend_keys_" + headDim)
        + suffix(type);
  }

  /**
   * Dynamic shared memory per block of {@link #keysKernel()}: the rings of four warps, and a total.
   */
  int keysSharedBytes() {
    if (latent()) {
      int width = (headDim + rotatedDim + 15) / 16 * 16;
      int scores = LATENT_ROWS * (TILE_KEYS + 4) * Float.BYTES;
      int stages = type == KvSpec.Type.FP8 ? 3 : 2;
      return stages * tileBytes(width) + LATENT_ROWS * width * Short.BYTES + scores;
    }
    return WARPS * stages() * tileBytes(headDim) + totalBytes();
  }

  /** Name of the kernel whose warps split the rows. */
  String rowsKernel() {
    return "rf_attend_rows_" + headDim + suffix(type);
  }

  /**
   * Dynamic shared memory per block of {@link #rowsKernel()}: a ring, and the totals of four warps.
   */
  int rowsSharedBytes() {
    return stages() * 2 * tileBytes(headDim) + WARPS * totalBytes();
  }

  /** Bytes for the sums of {@code partials} partial results. */
  long partialBytes(int partials) {
    return (long) partials * kvHeads * headDim * Float.BYTES;
  }

  /** Bytes for the weights of {@code partials} partial results. */
  long weightBytes(int partials) {
    return (long) partials * kvHeads * 2 * Float.BYTES;
  }

  /**
   * Bytes for the counters of {@code partials} partial results. They must be zero before the first
   * step.
   */
  long arrivedBytes(int partials) {
    return (long) partials * kvHeads * Integer.BYTES;
  }

  private int stages() {
    return headDim > 128 ? 2 : headDim >= 96 && type != KvSpec.Type.FP8 ? 3 : 4;
  }

  /** Bytes of a tile of keys or values in shared memory. */
  private int tileBytes(int width) {
    return TILE_KEYS * type.vectorBytes(width);
  }

  private int totalBytes() {
    return (headDim / 2 + 4) * 32 * Float.BYTES;
  }
}
