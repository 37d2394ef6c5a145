package io.radixflow.models;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * A weight matrix (or vector, which has one row) in its file's encoding. Rows are contiguous.
 *
 * <p>Thread-safe: each call of {@link #rows(int, int)} returns a new view.
 */
public interface Tensor {

  /** Canonical (GGUF) name, such as {@code blk.0.attn_q.weight}. */
  String name();

  TensorType type();

  /** Rows (outputs of a matrix product); 1 for a vector. */
  int rows();

  /** Columns (inputs). */
  int columns();

  /**
   * The bytes of {@code count} rows from row {@code first} on, as a read-only, little-endian view.
   */
  ByteBuffer rows(int first, int count);

  /**
   * Copies the bytes of rows into a little-endian buffer. Readers of many rows reuse the buffer.
   */
  default void copyRows(int first, int count, ByteBuffer target) {
    target.put(rows(first, count));
  }

  /**
   * The source bytes, if rows must be gathered because the file does not store them as they are
   * returned. A caller that reads many rows keeps a reference to the result until it is done.
   * Without a reference, the bytes may be read from the file again.
   */
  default List<ByteBuffer> hold() {
    return List.of();
  }

  /** Size of {@link #hold} in bytes, known without reading them. */
  default long heldBytes() {
    return 0;
  }

  /** Dequantises one row to floats, from {@code target[offset]} on. */
  void dequantize(int row, float[] target, int offset);

  /** The name of the tensor in errors: its file, if it is in a file, and its name there. */
  default String where() {
    return "tensor " + name();
  }

  /** Returns the error for a row with a weight that is not finite. */
  default ModelFormatException notFinite(int row, float value) {
    return new ModelFormatException(
        where() + ": row " + row + " has a weight or scale of " + value + "; the file is corrupt");
  }
}
