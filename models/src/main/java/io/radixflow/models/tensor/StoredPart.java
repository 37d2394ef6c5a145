package io.radixflow.models.tensor;

/**
 * The part of a stored tensor that is one tensor of the graph.
 *
 * @param name name of the stored tensor
 * @param shape sizes of the stored tensor, rows first
 * @param rows rows of the graph's tensor
 * @param columns columns of the graph's tensor
 * @param added a number to add to each value of a vector, because the file stores the values
 *     without it
 */
public record StoredPart(
    String name, long[] shape, int rows, int columns, Place place, float added) {

  /**
   * Where the elements are: (row, column) is at {@code offset + row * rowStride + column *
   * columnStride}.
   */
  public record Place(long offset, long rowStride, long columnStride) {}

  /** A whole matrix or vector. */
  public static StoredPart whole(String name, int rows, int columns, boolean vector) {
    long[] shape = vector ? new long[] {columns} : new long[] {rows, columns};
    return new StoredPart(name, shape, rows, columns, new Place(0, columns, 1), 0);
  }

  /** Consecutive rows of a matrix or vector that has more rows. */
  public static StoredPart ofMore(StoredPart part, long first, long allRows) {
    long[] shape = part.shape.clone();
    shape[0] = allRows;
    long offset = shape.length == 1 ? first : first * part.columns;
    return new StoredPart(
        part.name, shape, part.rows, part.columns, new Place(offset, part.columns, 1), 0);
  }

  /** Returns whether the elements are contiguous in the file. */
  public boolean contiguous() {
    return place.columnStride == 1 && (rows == 1 || place.rowStride == columns);
  }

  /** Number of elements of the stored tensor. */
  public long storedElements() {
    long elements = 1;
    for (long size : shape) {
      elements = Math.multiplyExact(elements, size);
    }
    return elements;
  }

  /** Number of elements from the first to the last, including those in between. */
  public long span() {
    return (rows - 1) * place.rowStride + (columns - 1) * place.columnStride + 1;
  }
}
