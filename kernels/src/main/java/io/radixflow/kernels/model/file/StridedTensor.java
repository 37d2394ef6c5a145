package io.radixflow.kernels.model.file;

import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * A matrix or vector whose elements do not lie one behind the other in its file, such as a
 * transposed one. Only for types without blocks; rows are copied when they are read.
 */
final class StridedTensor implements Tensor {

  private final String name;
  private final TensorType type;
  private final StoredPart part;
  private final ByteBuffer bytes;

  /**
   * @param span the elements from the first to the last, as one row
   */
  StridedTensor(String name, StoredPart part, Tensor span) {
    this.name = name;
    this.part = part;
    type = span.type();
    bytes = span.rows(0, 1);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public TensorType type() {
    return type;
  }

  @Override
  public int rows() {
    return part.rows();
  }

  @Override
  public int columns() {
    return part.columns();
  }

  @Override
  public ByteBuffer rows(int first, int count) {
    Objects.checkFromIndexSize(first, count, part.rows());
    int size = type.blockBytes();
    ByteBuffer copy =
        ByteBuffer.allocate(Math.toIntExact((long) count * part.columns() * size))
            .order(ByteOrder.LITTLE_ENDIAN);
    for (int row = first; row < first + count; row++) {
      for (int column = 0; column < part.columns(); column++) {
        int at =
            (int) (row * part.place().rowStride() + column * part.place().columnStride()) * size;
        if (size == Short.BYTES) {
          copy.putShort(bytes.getShort(at));
        } else {
          copy.putInt(bytes.getInt(at));
        }
      }
    }
    return copy.flip().asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public void dequantize(int row, float[] target, int offset) {
    ByteBuffer copy = rows(row, 1);
    Dequantizer.dequantize(type, copy, 0, part.columns(), target, offset);
  }
}
