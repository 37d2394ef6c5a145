package io.radixflow.models.tensor;

import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import java.lang.ref.SoftReference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Objects;

/**
 * A matrix whose columns are the rows of a stored matrix of any type. It is converted to floats
 * when it is first read, and again if the floats were garbage-collected.
 */
public final class TransposedTensor implements Tensor {

  private final String name;
  private final Tensor stored;
  private final int size;
  private SoftReference<ByteBuffer> values = new SoftReference<>(null);

  /**
   * @param stored its floats must fit into an array of bytes
   */
  public TransposedTensor(String name, Tensor stored) {
    this.name = name;
    this.stored = stored;
    size = Math.multiplyExact(Math.multiplyExact(stored.rows(), stored.columns()), Float.BYTES);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String where() {
    return stored.where() + ", transposed";
  }

  @Override
  public TensorType type() {
    return TensorType.F32;
  }

  @Override
  public int rows() {
    return stored.columns();
  }

  @Override
  public int columns() {
    return stored.rows();
  }

  @Override
  public ByteBuffer rows(int first, int count) {
    Objects.checkFromIndexSize(first, count, rows());
    return values()
        .slice(first * rowBytes(), count * rowBytes())
        .asReadOnlyBuffer()
        .order(ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public List<ByteBuffer> hold() {
    return List.of(values());
  }

  @Override
  public long heldBytes() {
    return size;
  }

  @Override
  public void dequantize(int row, float[] target, int offset) {
    rows(row, 1).asFloatBuffer().get(target, offset, columns());
  }

  private int rowBytes() {
    return columns() * Float.BYTES;
  }

  private synchronized ByteBuffer values() {
    ByteBuffer known = values.get();
    if (known != null) {
      return known;
    }
    ByteBuffer made = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    float[] column = new float[rows()];
    for (int c = 0; c < columns(); c++) {
      stored.dequantize(c, column, 0);
      for (int r = 0; r < column.length; r++) {
        made.putFloat(r * rowBytes() + c * Float.BYTES, column[r]);
      }
    }
    values = new SoftReference<>(made);
    return made;
  }
}
