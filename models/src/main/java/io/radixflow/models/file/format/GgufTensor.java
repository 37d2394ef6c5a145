package io.radixflow.models.file.format;

import io.radixflow.models.TensorType;

/**
 * A tensor as a GGUF file describes it.
 *
 * @param name name of the tensor
 * @param dimensions 1 to 4 positive sizes, columns first
 * @param ggmlType number of the element type
 * @param offset first byte: relative to the start of the data as read, relative to the file after
 *     {@link #at}
 */
public record GgufTensor(String name, long[] dimensions, int ggmlType, long offset) {

  /** Names of ggml's element types by number; null if the number was retired. */
  private static final String[] TYPE_NAMES = {
    "F32", "F16", "Q4_0", "Q4_1", null, null, "Q5_0", "Q5_1", "Q8_0", "Q8_1", "Q2_K", "Q3_K",
    "Q4_K", "Q5_K", "Q6_K", "Q8_K", "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S",
    "IQ2_S", "IQ4_XS", "I8", "I16", "I32", "I64", "F64", "IQ1_M", "BF16", null, null, null, "TQ1_0",
    "TQ2_0", null, null, null, "MXFP4"
  };

  /**
   * Returns the same tensor with its offset in the file. If the sum overflows, the offset is beyond
   * any file.
   */
  GgufTensor at(long dataStart) {
    long position = offset > Long.MAX_VALUE - dataStart ? Long.MAX_VALUE : offset + dataStart;
    return new GgufTensor(name, dimensions, ggmlType, position);
  }

  /** The element type, or null if it is not supported. */
  public TensorType type() {
    return switch (ggmlType) {
      case 0 -> TensorType.F32;
      case 1 -> TensorType.F16;
      case 2 -> TensorType.Q4_0;
      case 3 -> TensorType.Q4_1;
      case 6 -> TensorType.Q5_0;
      case 7 -> TensorType.Q5_1;
      case 8 -> TensorType.Q8_0;
      case 10 -> TensorType.Q2_K;
      case 11 -> TensorType.Q3_K;
      case 12 -> TensorType.Q4_K;
      case 13 -> TensorType.Q5_K;
      case 14 -> TensorType.Q6_K;
      case 20 -> TensorType.IQ4_NL;
      case 23 -> TensorType.IQ4_XS;
      case 30 -> TensorType.BF16;
      case 39 -> TensorType.MXFP4;
      default -> null;
    };
  }

  /** The display name of the element type. */
  public String typeName() {
    boolean known = ggmlType >= 0 && ggmlType < TYPE_NAMES.length && TYPE_NAMES[ggmlType] != null;
    return known ? TYPE_NAMES[ggmlType] : "number " + Integer.toUnsignedString(ggmlType);
  }

  /**
   * Bytes of data; 0 if the size of the type is unknown, -1 if the number does not fit into a long.
   */
  long bytes() {
    if (type() == null) {
      return 0;
    }
    try {
      long blocks = (dimensions[0] + type().blockElements() - 1) / type().blockElements();
      for (int d = 1; d < dimensions.length; d++) {
        blocks = Math.multiplyExact(blocks, dimensions[d]);
      }
      return Math.multiplyExact(blocks, (long) type().blockBytes());
    } catch (ArithmeticException e) {
      return -1;
    }
  }

  /** The sizes of the tensor, slowest dimension first. */
  public String shape() {
    StringBuilder text = new StringBuilder();
    for (int d = dimensions.length - 1; d >= 0; d--) {
      text.append(dimensions[d]).append(d > 0 ? " x " : "");
    }
    return text.toString();
  }
}
