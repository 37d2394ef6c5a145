package io.radixflow.models.tensor;

import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A matrix of an expert in MXFP4 as gpt_oss stores it: the codes of a block, in pairs of
 * neighbours, in one tensor and its exponent in another. Rows are rearranged into blocks of {@link
 * TensorType#MXFP4} when they are read.
 */
public final class Mxfp4Tensor extends RearrangedTensor {

  private static final int BLOCK = TensorType.MXFP4.blockElements();
  private static final int CODE_BYTES = BLOCK / 2;

  private final LazyBytes codes;
  private final LazyBytes exponents;

  /**
   * @param where names it in errors
   * @param part its place counts rows: the first of the expert's, and those from one to the next;
   *     in the place of the columns' distance it has the expert's number
   * @param codes of all rows of the expert
   * @param exponents of all rows of the expert
   */
  public Mxfp4Tensor(
      String name, String where, StoredPart part, LazyBytes codes, LazyBytes exponents) {
    super(name, where, TensorType.MXFP4, part);
    this.codes = codes;
    this.exponents = exponents;
  }

  @Override
  public List<ByteBuffer> hold() {
    return List.of(codes.get(), exponents.get());
  }

  @Override
  public long heldBytes() {
    return codes.size() + exponents.size();
  }

  @Override
  void copyRow(int row, ByteBuffer target) {
    ByteBuffer codes = this.codes.get();
    ByteBuffer exponents = this.exponents.get();
    int blocks = part.columns() / BLOCK;
    long stored = part.place().offset() + row * part.place().rowStride();
    for (int block = 0; block < blocks; block++) {
      int at = Math.toIntExact(stored * blocks + block);
      target.put(exponents.get(at));
      putCodes(codes, at * CODE_BYTES, target);
    }
  }

  /** Byte i gets element i in its low and element i + 16 in its high nibble. */
  private static void putCodes(ByteBuffer codes, int at, ByteBuffer target) {
    for (int i = 0; i < CODE_BYTES; i++) {
      target.put((byte) (code(codes, at, i) | code(codes, at, i + CODE_BYTES) << 4));
    }
  }

  private static int code(ByteBuffer codes, int at, int element) {
    return codes.get(at + element / 2) >> 4 * (element % 2) & 15;
  }
}
