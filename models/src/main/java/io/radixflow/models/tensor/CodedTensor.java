package io.radixflow.models.tensor;

import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A part of a quantised matrix. It stays quantised if it consists of whole rows. Otherwise it is
 * widened to floats, for example the transposed heads of latent attention.
 */
public final class CodedTensor extends RearrangedTensor {

  private final CodedMatrix matrix;

  public CodedTensor(String name, StoredPart part, CodedMatrix matrix) {
    super(name, matrix.where(), hasWholeRows(part, matrix) ? matrix.type() : TensorType.F32, part);
    this.matrix = matrix;
  }

  private static boolean hasWholeRows(StoredPart part, CodedMatrix matrix) {
    StoredPart.Place place = part.place();
    boolean consecutive = part.columns() == matrix.columns() && place.columnStride() == 1;
    return consecutive
        && place.offset() % part.columns() == 0
        && place.rowStride() % part.columns() == 0;
  }

  @Override
  public List<ByteBuffer> hold() {
    return matrix.hold();
  }

  @Override
  public long heldBytes() {
    return matrix.heldBytes();
  }

  @Override
  void copyRow(int row, ByteBuffer target) {
    long first = part.place().offset() + row * part.place().rowStride();
    int width = matrix.columns();
    if (hasWholeRows(part, matrix)) {
      matrix.copyRow(Math.toIntExact(first / width), target);
      return;
    }
    for (int column = 0; column < part.columns(); column++) {
      long at = first + column * part.place().columnStride();
      target.putFloat(matrix.value(Math.toIntExact(at / width), (int) (at % width)));
    }
  }
}
