package io.radixflow.kernels.cuda.weights;

import io.radixflow.kernels.model.Float16;
import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * The form of a weight matrix on the device: bf16, or the groups of a quantised file. {@code
 * gemm_quantised.cuh} describes how groups lie there; kernels unpack them to the bf16 that the
 * others have.
 */
public enum WeightFormat {
  BF16(null, 0, 0),
  /** Plain floats, as routers have them. */
  F32(null, 0, 0),
  Q8_0(TensorType.Q8_0, 32, 2),
  Q4_0(TensorType.Q4_0, 16, 2),
  Q4_1(TensorType.Q4_1, 16, 4),
  Q4_K(TensorType.Q4_K, 16, 8),
  Q6_K(TensorType.Q6_K, 32, 8);

  /** Elements of a group. */
  private static final int GROUP = 32;

  /** Rows that share a chunk. */
  private static final int CHUNK_ROWS = 8;

  /** Matrices whose products are logits that choose or weigh experts. */
  private static final Pattern ROUTER =
      Pattern.compile("blk\\.\\d+\\.ffn_gate_inp(_shexp)?\\.weight");

  private final TensorType type;
  private final int weightBytes;
  private final int scaleBytes;

  /**
   * @param weightBytes bytes of a group's weights
   * @param scaleBytes bytes of a group's scales and minimum
   */
  WeightFormat(TensorType type, int weightBytes, int scaleBytes) {
    this.type = type;
    this.weightBytes = weightBytes;
    this.scaleBytes = scaleBytes;
  }

  /**
   * The format that a matrix has on the device: routers are floats, others as {@link #of(List)}
   * says.
   *
   * @param name of the first of the tensors that it is made of
   */
  static WeightFormat of(String name, List<Tensor> tensors) {
    return ROUTER.matcher(name).matches() ? F32 : of(tensors);
  }

  /** The format that one matrix made of these tensors has: the file's if all have it and we can. */
  static WeightFormat of(List<Tensor> tensors) {
    for (WeightFormat format : values()) {
      if (tensors.stream().allMatch(tensor -> tensor.type() == format.type)) {
        return format;
      }
    }
    return BF16;
  }

  /** Returns whether weights lie in groups that share a scale. */
  public boolean quantised() {
    return type != null;
  }

  /** The end of the names of kernels that read this format. */
  public String suffix() {
    return type == null ? "" : "_" + name().toLowerCase(Locale.ROOT);
  }

  /** Bytes of a chunk: a group of each of 8 rows. */
  public int chunkBytes() {
    return CHUNK_ROWS * (weightBytes + scaleBytes);
  }

  /** Rows that are sent to the device together. */
  int unitRows() {
    return type == null ? 1 : CHUNK_ROWS;
  }

  /** Bytes of {@link #unitRows} rows. */
  int unitBytes(int columns) {
    return type == null
        ? Math.multiplyExact(columns, this == F32 ? Float.BYTES : BFloat16.BYTES)
        : Math.multiplyExact(columns / GROUP, chunkBytes());
  }

  /** Bytes of a matrix. */
  public long bytes(int rows, int columns) {
    return (long) (rows + unitRows() - 1) / unitRows() * unitBytes(columns);
  }

  /** Average bytes of a weight. */
  public double bytesPerWeight() {
    return (double) unitBytes(GROUP) / (unitRows() * GROUP);
  }

  /**
   * Puts a row of a quantised tensor into the chunks of its unit.
   *
   * @param row the tensor's bytes of the row
   * @param within number of the row in its unit
   * @param target receives the row from byte {@code at} of the unit on
   */
  void pack(ByteBuffer row, int within, ByteBuffer target, int at) {
    ByteBuffer source = row.slice().order(ByteOrder.LITTLE_ENDIAN);
    int groupsOfBlock = type.blockElements() / GROUP;
    int groups = source.limit() / type.blockBytes() * groupsOfBlock;
    for (int group = 0; group < groups; group++) {
      int block = group / groupsOfBlock * type.blockBytes();
      int part = group % groupsOfBlock;
      int chunk = at + group * chunkBytes();
      packScales(
          source, block, part, target, chunk + CHUNK_ROWS * weightBytes + within * scaleBytes);
      packWeights(source, block, part, target, chunk + within * weightBytes);
    }
  }

  private void packScales(ByteBuffer source, int block, int part, ByteBuffer target, int to) {
    switch (this) {
      case Q4_K -> {
        float scale = half(source, block);
        float minimum = half(source, block + 2);
        target.putFloat(to, scale * sixBits(source, block + 4, part, 0));
        target.putFloat(to + Float.BYTES, -(minimum * sixBits(source, block + 4, part, 4)));
      }
      case Q6_K -> {
        float scale = half(source, block + 208);
        target.putFloat(to, scale * source.get(block + 192 + 2 * part));
        target.putFloat(to + Float.BYTES, scale * source.get(block + 193 + 2 * part));
      }
      default -> {
        for (int i = 0; i < scaleBytes; i += Short.BYTES) {
          target.putShort(to + i, source.getShort(block + i));
        }
      }
    }
  }

  private static float half(ByteBuffer source, int at) {
    return Float16.toFloat(source.getShort(at));
  }

  /** One of the eight scales (kind 0) or minima (kind 4) of a Q4_K block. */
  private static int sixBits(ByteBuffer source, int at, int part, int kind) {
    if (part < 4) {
      return source.get(at + kind + part) & 63;
    }
    int low = source.get(at + 4 + part) >> kind & 15;
    return low | (source.get(at + kind + part - 4) >> 6 & 3) << 4;
  }

  /** Reorders a group: lane by lane, the pairs that each of four lanes holds of a fragment. */
  private void packWeights(ByteBuffer source, int block, int part, ByteBuffer target, int to) {
    for (int lane = 0; lane < 4; lane++) {
      for (int run = 0; run < 4; run++) {
        int element = run * 8 + lane * 2;
        int pair = lane * 4 + run;
        int first = weight(source, block, part, element);
        int second = weight(source, block, part, element + 1);
        if (weightBytes == GROUP) {
          target.put(to + 2 * pair, (byte) first).put(to + 2 * pair + 1, (byte) second);
        } else {
          target.put(to + pair, (byte) (first | second << 4));
        }
      }
    }
  }

  /** The integer of an element of a group, the {@code part}-th of its block. */
  private int weight(ByteBuffer source, int block, int part, int element) {
    return switch (this) {
      case Q8_0 -> source.get(block + scaleBytes + element);
      case Q4_0, Q4_1 -> source.get(block + scaleBytes + element % 16) >> element / 16 * 4 & 15;
      case Q4_K -> source.get(block + 16 + part / 2 * 32 + element) >> part % 2 * 4 & 15;
      case Q6_K -> {
        int low = source.get(block + part / 4 * 64 + part % 2 * 32 + element) >> part % 4 / 2 * 4;
        int high = source.get(block + 128 + part / 4 * 32 + element) >> part % 4 * 2;
        yield (low & 15 | (high & 3) << 4) - 32;
      }
      case BF16, F32 -> throw new IllegalStateException(this + " has no groups");
    };
  }
}
