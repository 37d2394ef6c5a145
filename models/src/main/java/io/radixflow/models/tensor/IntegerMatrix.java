package io.radixflow.models.tensor;

import io.radixflow.models.EightBytes;
import io.radixflow.models.Float16;
import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A matrix of integers with 2, 4 or 8 bits. Groups of columns have a scale and a zero point: {@code
 * w = fma(q, scale, -(zero * scale))}, which equals {@code (q - zero) * scale} if scales are 16-bit
 * floats. AutoAWQ ({@code awq/utils/packing_utils.py}), GPTQModel ({@code
 * nn_modules/qlinear/torch.py}) and compressed-tensors ({@code quantization/lifecycle/forward.py})
 * compute the same.
 *
 * <p>A row stays in integers if every 32 of its columns share a group. With GPTQ's activation order
 * ({@code desc_act}) they do not. Then a weight is rounded to the 16-bit float with which GPTQModel
 * computes.
 */
public final class IntegerMatrix extends CodedMatrix {

  /**
   * Codes and zero points.
   *
   * @param codes codes of the weights
   * @param zeros zero points of groups and rows; null if all are {@code zero}
   * @param zero a number to add to zero points, in the range of codes
   * @param transposed whether rows of the weight are columns of codes, zero points and scales
   */
  public record Integers(PackedIntegers codes, PackedIntegers zeros, int zero, boolean transposed) {

    private int code(int row, int column) {
      return transposed ? codes.at(column, row) : codes.at(row, column);
    }

    /** Copies the codes of a row of the weight. */
    private byte[] codes(int row, int columns) {
      byte[] copy = new byte[columns];
      if (transposed) {
        codes.copyColumn(row, copy);
      } else {
        codes.copyRow(row, copy);
      }
      return copy;
    }

    private int zero(int row, int group) {
      if (zeros == null) {
        return zero;
      }
      int stored = transposed ? zeros.at(group, row) : zeros.at(row, group);
      return stored + zero & (1 << codes.bits()) - 1;
    }
  }

  /**
   * The group of each column.
   *
   * @param count number of groups
   * @param size consecutive columns per group
   * @param ofColumn the group of each column; null if groups are consecutive columns
   */
  public record Groups(int count, int size, int[] ofColumn) {

    private int at(int column) {
      return ofColumn == null ? column / size : ofColumn[column];
    }

    private boolean areBlocks(int columns) {
      return ofColumn == null && columns % BLOCK == 0 && (size % BLOCK == 0 || count == 1);
    }
  }

  private final Integers integers;
  private final FloatGrid scales;
  private final Groups groups;
  private final TensorType type;

  public IntegerMatrix(
      String name, int rows, int columns, Integers integers, FloatGrid scales, Groups groups) {
    super(name, columns);
    this.integers = integers;
    this.scales = scales;
    this.groups = groups;
    type = chooseType(rows);
  }

  private TensorType chooseType(int rows) {
    if (groups.areBlocks(columns())) {
      if (integers.codes.bits() <= 4) {
        return TensorType.INT4;
      }
      if (isSymmetric(rows)) {
        return TensorType.INT8;
      }
    }
    boolean shuffled = groups.ofColumn != null;
    return shuffled && scales.type() == TensorType.F16 ? TensorType.F16 : TensorType.F32;
  }

  /** Returns whether 8-bit codes can become signed codes without a minimum. */
  private boolean isSymmetric(int rows) {
    for (int row = 0; row < rows && integers.zeros != null; row++) {
      for (int group = 0; group < groups.count; group++) {
        if (integers.zero(row, group) != 128) {
          return false;
        }
      }
    }
    return integers.zeros != null || integers.zero == 128;
  }

  @Override
  TensorType type() {
    return type;
  }

  @Override
  List<ByteBuffer> hold() {
    ByteBuffer codes = integers.codes.words().get();
    ByteBuffer zeros = integers.zeros == null ? codes : integers.zeros.words().get();
    return List.of(codes, zeros, scales.values().get());
  }

  @Override
  long heldBytes() {
    long zeros = integers.zeros == null ? 0 : integers.zeros.words().size();
    return integers.codes.words().size() + zeros + scales.values().size();
  }

  @Override
  void copyRow(int row, ByteBuffer target) {
    switch (type) {
      case INT4 -> copyNibbles(row, target);
      case INT8 -> copyBytes(row, target);
      case F16 -> {
        for (int column = 0; column < columns(); column++) {
          target.putShort(Float16.fromFloat(value(row, column)));
        }
      }
      default -> copyFloats(row, target);
    }
  }

  private void copyNibbles(int row, ByteBuffer target) {
    byte[] codes = integers.codes(row, columns());
    for (int column = 0; column < columns(); column += BLOCK) {
      int group = groups.at(column);
      float scale = scale(row, group);
      target.putFloat(scale).putFloat(minimum(row, group, scale));
      for (int i = 0; i < BLOCK / 2; i += Long.BYTES) {
        long low = EightBytes.get(codes, column + i);
        long high = EightBytes.get(codes, column + i + BLOCK / 2);
        target.putLong(low | high << 4);
      }
    }
  }

  private void copyBytes(int row, ByteBuffer target) {
    byte[] codes = integers.codes(row, columns());
    for (int column = 0; column < codes.length; column++) {
      codes[column] -= (byte) 128;
    }
    for (int column = 0; column < columns(); column += BLOCK) {
      target.putFloat(scale(row, groups.at(column)));
      target.put(codes, column, BLOCK);
    }
  }

  private float scale(int row, int group) {
    return checked(integers.transposed ? scales.at(group, row) : scales.at(row, group), row);
  }

  private float minimum(int row, int group, float scale) {
    return checked(-(integers.zero(row, group) * scale), row);
  }

  @Override
  float value(int row, int column) {
    int group = groups.at(column);
    float scale = scale(row, group);
    float value = Math.fma(integers.code(row, column), scale, minimum(row, group, scale));
    return type == TensorType.F16 ? Float16.toFloat(Float16.fromFloat(value)) : value;
  }
}
