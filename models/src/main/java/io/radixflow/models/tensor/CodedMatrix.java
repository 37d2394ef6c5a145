package io.radixflow.models.tensor;

import io.radixflow.models.ModelFormatException;
import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A quantised matrix as safetensors files store it: with separate tensors for codes, scales and
 * zero points. Rows are gathered into blocks of a {@link TensorType}.
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

  /** The name of the matrix in errors: its file and its name there. */
  final String where() {
    return name;
  }

  /** The type into which rows are gathered. */
  abstract TensorType type();

  /** The source bytes of the rows. They stay in memory while the list is reachable. */
  abstract List<ByteBuffer> hold();

  /** Size of {@link #hold} in bytes. */
  abstract long heldBytes();

  /** Appends one row, in blocks of {@link #type}. */
  abstract void copyRow(int row, ByteBuffer target);

  abstract float value(int row, int column);

  /** Appends one row as floats. */
  final void copyFloats(int row, ByteBuffer target) {
    for (int column = 0; column < columns; column++) {
      target.putFloat(value(row, column));
    }
  }

  /** Returns a scale of a row after checking that it is finite. */
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
