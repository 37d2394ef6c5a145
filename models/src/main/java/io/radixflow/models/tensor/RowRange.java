package io.radixflow.models.tensor;

import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;

/**
 * Consecutive rows of a tensor, such as one expert of a tensor with all experts.
 *
 * @param first the first row in {@code all}
 */
public record RowRange(String name, Tensor all, int first, int rows) implements Tensor {

  @Override
  public String where() {
    return all.where() + " from row " + first;
  }

  @Override
  public TensorType type() {
    return all.type();
  }

  @Override
  public int columns() {
    return all.columns();
  }

  @Override
  public ByteBuffer rows(int from, int count) {
    Objects.checkFromIndexSize(from, count, rows);
    return all.rows(first + from, count);
  }

  @Override
  public void copyRows(int from, int count, ByteBuffer target) {
    Objects.checkFromIndexSize(from, count, rows);
    all.copyRows(first + from, count, target);
  }

  @Override
  public List<ByteBuffer> hold() {
    return all.hold();
  }

  @Override
  public long heldBytes() {
    return all.heldBytes();
  }

  @Override
  public void dequantize(int row, float[] target, int offset) {
    Objects.checkIndex(row, rows);
    all.dequantize(first + row, target, offset);
  }
}
