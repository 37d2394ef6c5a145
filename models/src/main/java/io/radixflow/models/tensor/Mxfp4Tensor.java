package io.radixflow.models.tensor;

import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * The matrix of one expert in MXFP4, as gpt_oss stores it: the codes of a block, in pairs of
 * neighbours, are in one tensor and its exponent is in another. When rows are read, they are
 * rearranged into blocks of {@link TensorType#MXFP4}.
 */
public final class Mxfp4Tensor extends RearrangedTensor {

  private static final int BLOCK = TensorType.MXFP4.blockElements();
  private static final int CODE_BYTES = BLOCK / 2;

  private final LazyBytes codes;
  private final LazyBytes exponents;

  /**
   * @param where name of the tensor in errors
   * @param part its place in units of rows: {@code offset} is the expert's first row, {@code
   *     rowStride} is the distance between rows, and {@code columnStride} is the expert's number
   * @param codes codes of all rows of the expert
   * @param exponents exponents of all rows of the expert
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

  /** Byte i gets element i in its low nibble and element i + 16 in its high nibble. */
  private static void putCodes(ByteBuffer codes, int at, ByteBuffer target) {
    for (int i = 0; i < CODE_BYTES; i++) {
      target.put((byte) (code(codes, at, i) | code(codes, at, i + CODE_BYTES) << 4));
    }
  }

  private static int code(ByteBuffer codes, int at, int element) {
    return codes.get(at + element / 2) >> 4 * (element % 2) & 15;
  }
}
