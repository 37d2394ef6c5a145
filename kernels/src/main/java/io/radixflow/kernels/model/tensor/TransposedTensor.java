package io.radixflow.kernels.model.tensor;

import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.TensorType;
import java.lang.ref.SoftReference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * A matrix whose columns are the rows of a stored one of any type. It is made of floats when it is
 * first read, and made again if memory was short meanwhile.
 */
public final class TransposedTensor implements Tensor {

  private final String name;
  private final Tensor stored;
  private SoftReference<float[]> values = new SoftReference<>(null);

  /**
   * @param stored has fewer elements than an array can hold
   */
  public TransposedTensor(String name, Tensor stored) {
    this.name = name;
    this.stored = stored;
    Math.multiplyExact(stored.rows(), stored.columns());
  }

  @Override
  public String name() {
    return name;
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
    ByteBuffer bytes =
        ByteBuffer.allocate(Math.multiplyExact(count * Float.BYTES, columns()))
            .order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(values(), first * columns(), count * columns());
    return bytes.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public void dequantize(int row, float[] target, int offset) {
    Objects.checkIndex(row, rows());
    System.arraycopy(values(), row * columns(), target, offset, columns());
  }

  private synchronized float[] values() {
    float[] known = values.get();
    if (known != null) {
      return known;
    }
    float[] made = new float[rows() * columns()];
    float[] column = new float[rows()];
    for (int c = 0; c < columns(); c++) {
      stored.dequantize(c, column, 0);
      for (int r = 0; r < column.length; r++) {
        made[r * columns() + c] = column[r];
      }
    }
    values = new SoftReference<>(made);
    return made;
  }
}
