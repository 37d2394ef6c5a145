package io.radixflow.models.tensor;

import io.radixflow.models.ModelFormatException;
import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A quantised matrix as safetensors files have it: codes, scales and zero points are tensors of
 * their own. Rows are gathered into blocks of a {@link TensorType}.
 */
public abstract class CodedMatrix {
  static final int BLOCK = TensorType.INT4.blockElements();

  private final String name;
  private final int columns;

  /**
   * @param name the file and the stored tensor, for errors
   */
  CodedMatrix(String name, int columns) {
    this.name = name;
    this.columns = columns;
  }

  final int columns() {
    return columns;
  }

  /** The matrix in errors: its file, and its name there. */
  final String where() {
    return name;
  }

  /** The type that rows are gathered in. */
  abstract TensorType type();

  /** What rows are gathered from, in memory while the list is reachable. */
  abstract List<ByteBuffer> hold();

  /** Bytes of {@link #hold}. */
  abstract long heldBytes();

  /** Appends one row in blocks of {@link #type}. */
  abstract void copyRow(int row, ByteBuffer target);

  /** Returns one weight. */
  abstract float value(int row, int column);

  /** Appends one row as floats. */
  final void copyFloats(int row, ByteBuffer target) {
    for (int column = 0; column < columns; column++) {
      target.putFloat(value(row, column));
    }
  }

  /** Returns a scale of a row that was checked to be a number. */
  final float checked(float scale, int row) {
    if (!Float.isFinite(scale)) {
      throw new ModelFormatException(
          name + ": a scale of row " + row + " is " + scale + "; the file is corrupt");
    }
    return scale;
  }

  final ModelFormatException notANumber(int row) {
    return new ModelFormatException(
        name + ": row " + row + " has a value that is not a number; the file is corrupt");
  }
}
