package io.radixflow.kernels.model.tensor;

import io.radixflow.kernels.model.TensorType;
import java.nio.ByteBuffer;

/**
 * A matrix of an expert in MXFP4 as gpt_oss stores it: the codes of a block, in pairs of
 * neighbours, in one tensor and its exponent in another. Rows are rearranged into blocks of {@link
 * TensorType#MXFP4} when they are read.
 */
public final class Mxfp4Tensor extends RearrangedTensor {

  private static final int BLOCK = TensorType.MXFP4.blockElements();
  private static final int CODE_BYTES = BLOCK / 2;

  private final ByteBuffer codes;
  private final ByteBuffer exponents;

  /**
   * @param part its place counts rows: the first of the expert's, and those from one to the next;
   *     in the place of the columns' distance it has the expert's number
   * @param codes of all rows of the expert
   * @param exponents of all rows of the expert
   */
  public Mxfp4Tensor(String name, StoredPart part, ByteBuffer codes, ByteBuffer exponents) {
    super(name, TensorType.MXFP4, part);
    this.codes = codes;
    this.exponents = exponents;
  }

  @Override
  void copyRow(int row, ByteBuffer target) {
    int blocks = part.columns() / BLOCK;
    long stored = part.place().offset() + row * part.place().rowStride();
    for (int block = 0; block < blocks; block++) {
      int at = Math.toIntExact(stored * blocks + block);
      target.put(exponents.get(at));
      putCodes(target, at * CODE_BYTES);
    }
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
}
