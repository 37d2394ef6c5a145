package io.radixflow.kernels.cuda.weights;

import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Locale;

/**
 * The form of a weight matrix on the device: bf16, or the groups of a quantised file. {@code
 * gemm_quantised.cuh} describes how groups lie there; kernels unpack them to the bf16 that the
 * others have.
 */
public enum WeightFormat {
  BF16(null, 0, 0),
  Q8_0(TensorType.Q8_0, 32, 2),
  Q4_0(TensorType.Q4_0, 16, 2),
  Q4_1(TensorType.Q4_1, 16, 4);

  /** Elements of a group. */
  private static final int GROUP = 32;

  /** Rows that share a chunk. */
  private static final int CHUNK_ROWS = 8;

  private final TensorType type;
  private final int weightBytes;
  private final int scaleBytes;

  /**
   * @param weightBytes bytes of a group's weights
   * @param scaleBytes bytes of a group's scale and minimum
   */
  WeightFormat(TensorType type, int weightBytes, int scaleBytes) {
    this.type = type;
    this.weightBytes = weightBytes;
    this.scaleBytes = scaleBytes;
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

  /** The end of the names of kernels that read this format. */
  public String suffix() {
    return this == BF16 ? "" : "_" + name().toLowerCase(Locale.ROOT);
  }

  /** Bytes of a chunk: a group of each of 8 rows. */
  public int chunkBytes() {
    return CHUNK_ROWS * (weightBytes + scaleBytes);
  }

  /** Rows that are sent to the device together. */
  int unitRows() {
    return this == BF16 ? 1 : CHUNK_ROWS;
  }

  /** Bytes of {@link #unitRows} rows. */
  int unitBytes(int columns) {
    return this == BF16
        ? Math.multiplyExact(columns, BFloat16.BYTES)
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
    ByteBuffer source = row.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    int groups = row.remaining() / type.blockBytes();
    for (int group = 0; group < groups; group++) {
      int from = row.position() + group * type.blockBytes();
      int chunk = at + group * chunkBytes();
      int scales = chunk + CHUNK_ROWS * weightBytes + within * scaleBytes;
      for (int i = 0; i < scaleBytes; i += Short.BYTES) {
        target.putShort(scales + i, source.getShort(from + i));
      }
      packWeights(source, from + scaleBytes, target, chunk + within * weightBytes);
    }
  }

  /** Reorders a group: lane by lane, the pairs that each of four lanes holds of a fragment. */
  private void packWeights(ByteBuffer source, int from, ByteBuffer target, int to) {
    for (int lane = 0; lane < 4; lane++) {
      for (int run = 0; run < 4; run++) {
        int element = run * 8 + lane * 2;
        int pair = lane * 4 + run;
        if (this == Q8_0) {
          target.put(to + 2 * pair, source.get(from + element));
          target.put(to + 2 * pair + 1, source.get(from + element + 1));
        } else {
          int low = nibble(source, from, element);
          target.put(to + pair, (byte) (low | nibble(source, from, element + 1) << 4));
        }
      }
    }
  }

  private static int nibble(ByteBuffer source, int from, int element) {
    int both = source.get(from + element % 16);
    return element < 16 ? both & 15 : both >> 4 & 15;
  }
}
