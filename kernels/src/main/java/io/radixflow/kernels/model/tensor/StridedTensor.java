package io.radixflow.kernels.model.tensor;

import io.radixflow.kernels.model.Tensor;
import java.nio.ByteBuffer;

/**
 * A matrix or vector whose elements do not lie one behind the other in its file, such as a
 * transposed one. Only for types without blocks; rows are copied when they are read.
 */
public final class StridedTensor extends RearrangedTensor {

  private final ByteBuffer bytes;

  /**
   * @param span the elements from the first to the last, as one row
   */
  public StridedTensor(String name, StoredPart part, Tensor span) {
    super(name, span.type(), part);
    bytes = span.rows(0, 1);
  }

  @Override
  void copyRow(int row, ByteBuffer target) {
    int size = type().blockBytes();
    for (int column = 0; column < part.columns(); column++) {
      int at = (int) (row * part.place().rowStride() + column * part.place().columnStride()) * size;
      if (size == Short.BYTES) {
        target.putShort(bytes.getShort(at));
      } else {
        target.putInt(bytes.getInt(at));
      }
    }
  }
}
