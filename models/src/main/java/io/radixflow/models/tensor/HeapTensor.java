package io.radixflow.models.tensor;

import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * A vector of floats on the heap, which was computed from a vector in a file.
 *
 * @param where name of the vector in errors
 */
public record HeapTensor(String name, String where, float[] values) implements Tensor {

  @Override
  public TensorType type() {
    return TensorType.F32;
  }

  @Override
  public int rows() {
    return 1;
  }

  @Override
  public int columns() {
    return values.length;
  }

  @Override
  public ByteBuffer rows(int first, int count) {
    Objects.checkFromIndexSize(first, count, 1);
    ByteBuffer bytes = ByteBuffer.allocate(count * values.length * Float.BYTES);
    bytes.order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().put(values, 0, count * values.length);
    return bytes.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public void dequantize(int row, float[] target, int offset) {
    Objects.checkIndex(row, 1);
    System.arraycopy(values, 0, target, offset, values.length);
  }
}
