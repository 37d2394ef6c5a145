package io.radixflow.models;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * A weight matrix (or vector, with one row) in its file's encoding; rows are contiguous.
 *
 * <p>Safe for many threads: {@link #rows(int, int)} returns a view of its own.
 */
public interface Tensor {

  /** Canonical (GGUF) name, such as {@code blk.0.attn_q.weight}. */
  String name();

  /** Element type. */
  TensorType type();

  /** Rows (outputs of a matrix product); 1 for a vector. */
  int rows();

  /** Columns (inputs). */
  int columns();

  /** The bytes of {@code count} rows from {@code first}: a read-only, little-endian view. */
  ByteBuffer rows(int first, int count);

  /** Puts the bytes of rows into a little-endian buffer, which readers of many use again. */
  default void copyRows(int first, int count, ByteBuffer target) {
    target.put(rows(first, count));
  }

  /**
   * The bytes from which rows are gathered, if the file does not store the rows as they are
   * returned. A caller that reads many rows keeps the result until it is done; without a holder the
   * bytes are read from the file again.
   */
  default List<ByteBuffer> hold() {
    return List.of();
  }

  /** Bytes of {@link #hold}, known before they are read. */
  default long heldBytes() {
    return 0;
  }

  /** Dequantises one row to floats, at {@code target[offset ..]}. */
  void dequantize(int row, float[] target, int offset);

  /** The tensor in errors, with its file and the name that it has there if it is in one. */
  default String where() {
    return "tensor " + name();
  }

  /** Returns the error for a row with a weight that is not finite. */
  default ModelFormatException notFinite(int row, float value) {
    return new ModelFormatException(
        where() + ": row " + row + " has a weight or scale of " + value + "; the file is corrupt");
  }
}
