package io.radixflow.models.tensor;

import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * A part of a stored tensor that the file stores in another order. Rows are copied when they are
 * read.
 */
abstract class RearrangedTensor implements Tensor {
  private final String name;
  private final String where;
  private final TensorType type;
  final StoredPart part;

  RearrangedTensor(String name, String where, TensorType type, StoredPart part) {
    this.name = name;
    this.where = where;
    this.type = type;
    this.part = part;
  }

  /** Appends the bytes of one row, in the layout of its type. */
  abstract void copyRow(int row, ByteBuffer target);

  @Override
  public final String name() {
    return name;
  }

  @Override
  public final String where() {
    return where;
  }

  @Override
  public final TensorType type() {
    return type;
  }

  @Override
  public final int rows() {
    return part.rows();
  }

  @Override
  public final int columns() {
    return part.columns();
  }

  @Override
  public final ByteBuffer rows(int first, int count) {
    long blocks = (long) count * (part.columns() / type.blockElements());
    ByteBuffer copy =
        ByteBuffer.allocate(Math.toIntExact(blocks * type.blockBytes()))
            .order(ByteOrder.LITTLE_ENDIAN);
    copyRows(first, count, copy);
    return copy.flip().asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public final void copyRows(int first, int count, ByteBuffer target) {
    Objects.checkFromIndexSize(first, count, part.rows());
    for (int row = first; row < first + count; row++) {
      copyRow(row, target);
    }
  }

  @Override
  public final void dequantize(int row, float[] target, int offset) {
    Dequantizer.dequantize(type, rows(row, 1), 0, part.columns(), target, offset);
  }
}
