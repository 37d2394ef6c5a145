package io.radixflow.kernels.cuda.weights;

import io.radixflow.models.BlockCodes;
import io.radixflow.models.Float16;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The format of a weight matrix on the device: bf16, floats, or groups of codes with their scales.
 * A format is used for all file types that it can store without loss. {@code gemm_quantised.cuh}
 * describes the layout of groups. Kernels unpack groups to bf16.
 */
public enum WeightFormat {
  BF16(0, 0),
  /** Floats, for routers. */
  F32(0, 0),
  Q8_0(32, 2, TensorType.Q8_0),
  Q4_0(16, 2, TensorType.Q4_0),
  Q4_1(16, 4, TensorType.Q4_1),
  /** 4 bits; scale and minimum as floats. */
  Q4_K(16, 8, TensorType.Q4_K, TensorType.INT4),
  /** 5 bits; scale and minimum as floats. */
  Q5_K(20, 8, TensorType.Q5_K, TensorType.Q5_0, TensorType.Q5_1),
  /** 8 bits; a float scale for each half of a group. */
  Q6_K(32, 8, TensorType.Q6_K, TensorType.INT8),
  /** 4 bits; two levels of scales and minima for each half of a group. */
  Q2_K(16, 8, TensorType.Q2_K, TensorType.Q3_K),
  /** 4 bits, which select a value from a table. */
  IQ4(16, 4, TensorType.IQ4_NL, TensorType.IQ4_XS),
  MXFP4(16, 2, TensorType.MXFP4),
  FP8(32, 4, TensorType.FP8);

  /** Elements per group. */
  private static final int GROUP = 32;

  /** Rows that share a chunk. */
  private static final int CHUNK_ROWS = 8;

  /** Matrices whose products are the logits for choosing or weighting experts. */
  private static final Pattern ROUTER =
      Pattern.compile("blk\\.\\d+\\.ffn_gate_inp(_shexp)?\\.weight");

  private static final Map<TensorType, WeightFormat> OF_TYPE = new EnumMap<>(TensorType.class);

  static {
    for (WeightFormat format : values()) {
      for (TensorType type : format.types) {
        OF_TYPE.put(type, format);
      }
    }
  }

  private final List<TensorType> types;
  private final int codeBytes;
  private final int scaleBytes;

  /**
   * @param codeBytes bytes of a group's codes
   * @param scaleBytes bytes of a group's scales and minima
   * @param types the tensor types that are converted to this format
   */
  WeightFormat(int codeBytes, int scaleBytes, TensorType... types) {
    this.types = List.of(types);
    this.codeBytes = codeBytes;
    this.scaleBytes = scaleBytes;
  }

  /**
   * Returns the format of a matrix on the device: floats for routers, else {@link #of(List)}.
   *
   * @param name name of the matrix's first tensor
   */
  static WeightFormat of(String name, List<Tensor> tensors) {
    return ROUTER.matcher(name).matches() ? F32 : of(tensors);
  }

  /**
   * Returns the format of a matrix that consists of these tensors: their common format if they have
   * one, else bf16.
   */
  static WeightFormat of(List<Tensor> tensors) {
    WeightFormat first = of(tensors.get(0).type());
    return tensors.stream().allMatch(tensor -> of(tensor.type()) == first) ? first : BF16;
  }

  /** Returns the format of weights of a type. */
  public static WeightFormat of(TensorType type) {
    return OF_TYPE.getOrDefault(type, BF16);
  }

  /** Returns the tensor types that are converted to this format; empty for plain floats. */
  public List<TensorType> types() {
    return types;
  }

  /** Returns whether weights are stored in groups that share a scale. */
  public boolean quantised() {
    return codeBytes > 0;
  }

  /** Returns the suffix of the names of kernels that read this format. */
  public String suffix() {
    return quantised() ? "_" + name().toLowerCase(Locale.ROOT) : "";
  }

  /** Bytes per chunk. A chunk contains one group of each of 8 rows. */
  public int chunkBytes() {
    return CHUNK_ROWS * (codeBytes + scaleBytes);
  }

  /** Rows that are sent to the device together. */
  int unitRows() {
    return quantised() ? CHUNK_ROWS : 1;
  }

  /** Bytes per {@link #unitRows} rows. */
  int unitBytes(int columns) {
    return quantised()
        ? Math.multiplyExact(columns / GROUP, chunkBytes())
        : Math.multiplyExact(columns, this == F32 ? Float.BYTES : BFloat16.BYTES);
  }

  /** Bytes of a matrix. */
  public long bytes(int rows, int columns) {
    return (long) (rows + unitRows() - 1) / unitRows() * unitBytes(columns);
  }

  /** Average bytes per weight. */
  public double bytesPerWeight() {
    return (double) unitBytes(GROUP) / (unitRows() * GROUP);
  }

  /**
   * Puts a row of a quantised tensor into the chunks of its unit.
   *
   * @param row the row's bytes in the tensor
   * @param codes unpacks rows of the tensor's type
   * @param within index of the row in its unit
   * @param target receives the row; the unit begins at byte {@code at}
   */
  void pack(ByteBuffer row, BlockCodes codes, int within, ByteBuffer target, int at) {
    codes.read(row);
    CodePacking packing = CodePacking.of(codes.type());
    for (int group = 0; group < codes.codes.length / GROUP; group++) {
      int chunk = at + group * chunkBytes();
      int scales = chunk + CHUNK_ROWS * codeBytes + within * scaleBytes;
      packScales(codes, group, target, scales);
      if (codeBytes == GROUP) {
        packing.bytes(codes.codes, group * GROUP, target, chunk + within * GROUP);
      } else {
        packing.nibbles(codes.codes, group * GROUP, target, chunk + within * GROUP / 2);
      }
      if (this == Q5_K) {
        int fifths = chunk + CHUNK_ROWS * GROUP / 2 + within * Integer.BYTES;
        packing.fifthBits(codes.codes, group * GROUP, target, fifths);
      }
    }
  }

  private void packScales(BlockCodes codes, int group, ByteBuffer target, int to) {
    float scale = codes.scales[group * GROUP / codes.block];
    switch (this) {
      case Q8_0, Q4_0 -> target.putShort(to, Float16.fromFloat(scale));
      case Q4_1 -> {
        target.putShort(to, Float16.fromFloat(scale));
        target.putShort(to + Short.BYTES, Float16.fromFloat(codes.minima[group]));
      }
      case Q4_K -> target.putFloat(to, scale).putFloat(to + Float.BYTES, codes.minima[group]);
      case Q5_K -> {
        boolean centred = codes.type() == TensorType.Q5_0;
        float minimum = centred ? -16 * scale : codes.minima[group];
        target.putFloat(to, scale).putFloat(to + Float.BYTES, minimum);
      }
      case Q6_K -> {
        int last = (group * GROUP + GROUP - 1) / codes.block;
        target.putFloat(to, scale).putFloat(to + Float.BYTES, codes.scales[last]);
      }
      case Q2_K -> packTwoLevels(codes, group, target, to);
      case IQ4, FP8 -> target.putFloat(to, scale);
      case MXFP4 -> target.putShort(to, BFloat16.fromFloat(scale));
      case BF16, F32 -> throw new IllegalStateException(this + " has no groups");
    }
  }

  /**
   * Packs the unit of the scales, the unit of the minima, two scale factors and two minimum
   * factors. Q3_K subtracts 4 from each code, so its minima are 4 times its scales.
   */
  private static void packTwoLevels(BlockCodes codes, int group, ByteBuffer target, int to) {
    boolean three = codes.type() == TensorType.Q3_K;
    int unit = group * GROUP / BlockCodes.UNIT;
    float scale = codes.scaleUnits[unit];
    target.putShort(to, Float16.fromFloat(scale));
    target.putShort(to + 2, Float16.fromFloat(three ? scale : -codes.minimumUnits[unit]));
    for (int half = 0; half < 2; half++) {
      int at = 2 * group + half;
      byte factor = codes.scaleFactors[at];
      target.put(to + 4 + half, factor);
      target.put(to + 6 + half, three ? (byte) (4 * factor) : codes.minimumFactors[at]);
    }
  }
}
