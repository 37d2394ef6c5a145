package io.radixflow.models.tensor;

import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A matrix or vector whose elements are not contiguous in its file, for example a transposed
 * matrix. Only for types without blocks. Rows are copied when they are read.
 */
public final class StridedTensor extends RearrangedTensor {

  private final LazyBytes span;

  /**
   * @param where name of the tensor in errors
   * @param span the elements from the first to the last
   */
  public StridedTensor(
      String name, String where, TensorType type, StoredPart part, LazyBytes span) {
    super(name, where, type, part);
    this.span = span;
  }

  @Override
  public List<ByteBuffer> hold() {
    return List.of(span.get());
  }

  @Override
  public long heldBytes() {
    return span.size();
  }

  @Override
  void copyRow(int row, ByteBuffer target) {
    int size = type().blockBytes();
    ByteBuffer bytes = span.get();
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
