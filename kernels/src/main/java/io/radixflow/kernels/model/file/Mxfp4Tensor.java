package io.radixflow.kernels.model.file;

import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * A matrix of an expert in MXFP4 as gpt_oss stores it: the codes of a block, in pairs of
 * neighbours, in one tensor and its exponent in another. Rows are rearranged into blocks of {@link
 * TensorType#MXFP4} when they are read.
 */
final class Mxfp4Tensor implements Tensor {

  private static final int BLOCK = TensorType.MXFP4.blockElements();
  private static final int CODE_BYTES = BLOCK / 2;

  private final String name;
  private final StoredPart part;
  private final ByteBuffer codes;
  private final ByteBuffer exponents;

  /**
   * @param part its place counts rows: the first of the expert's, and those from one to the next;
   *     in the place of the columns' distance it has the expert's number
   * @param codes of all rows of the expert
   * @param exponents of all rows of the expert
   */
  Mxfp4Tensor(String name, StoredPart part, ByteBuffer codes, ByteBuffer exponents) {
    this.name = name;
    this.part = part;
    this.codes = codes;
    this.exponents = exponents;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public TensorType type() {
    return TensorType.MXFP4;
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
    int blocks = part.columns() / BLOCK;
    long size = (long) count * blocks * TensorType.MXFP4.blockBytes();
    ByteBuffer copy = ByteBuffer.allocate(Math.toIntExact(size)).order(ByteOrder.LITTLE_ENDIAN);
    for (int row = first; row < first + count; row++) {
      long stored = part.place().offset() + row * part.place().rowStride();
      for (int block = 0; block < blocks; block++) {
        int at = Math.toIntExact(stored * blocks + block);
        copy.put(exponents.get(at));
        putCodes(copy, at * CODE_BYTES);
      }
    }
    return copy.flip().asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Byte i gets element i in its low and element i + 16 in its high nibble. */
  private void putCodes(ByteBuffer target, int at) {
    for (int i = 0; i < CODE_BYTES; i++) {
      target.put((byte) (code(at, i) | code(at, i + CODE_BYTES) << 4));
    }
  }

  private int code(int at, int element) {
    return codes.get(at + element / 2) >> 4 * (element % 2) & 15;
  }

  @Override
  public void dequantize(int row, float[] target, int offset) {
    ByteBuffer copy = rows(row, 1);
    Dequantizer.dequantize(TensorType.MXFP4, copy, 0, part.columns(), target, offset);
  }
}
