package io.radixflow.kernels.cpu;

import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A tensor of which one row has other bytes.
 *
 * @param with the bytes, again and again
 */
public record DamagedTensor(Tensor whole, byte... with) implements Tensor {

  /** The row. */
  public static final int ROW = 37;

  @Override
  public String name() {
    return whole.name();
  }

  @Override
  public TensorType type() {
    return whole.type();
  }

  @Override
  public int rows() {
    return whole.rows();
  }

  @Override
  public int columns() {
    return whole.columns();
  }

  @Override
  public ByteBuffer rows(int first, int count) {
    ByteBuffer source = whole.rows(first, count);
    ByteBuffer copy = ByteBuffer.allocate(source.remaining()).order(ByteOrder.LITTLE_ENDIAN);
    copy.put(source);
    int rowBytes = copy.capacity() / Math.max(1, count);
    for (int i = 0; i < copy.capacity(); i++) {
      if (first + i / rowBytes == ROW) {
        copy.put(i, with[i % rowBytes % with.length]);
      }
    }
    return copy.flip();
  }

  @Override
  public void dequantize(int row, float[] target, int offset) {
    whole.dequantize(row, target, offset);
    if (row == ROW) {
      target[offset + 5] = Float.NaN;
    }
  }
}
