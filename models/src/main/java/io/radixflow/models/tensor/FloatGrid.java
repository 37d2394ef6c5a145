package io.radixflow.models.tensor;

import io.radixflow.models.Float16;
import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;

/**
 * A small matrix of floats in a file, such as the scales of a quantised matrix.
 *
 * @param values the floats, little-endian
 * @param type F32, F16 or BF16
 * @param width number of columns
 */
public record FloatGrid(LazyBytes values, TensorType type, int width) {

  float at(int row, int column) {
    int index = row * width + column;
    ByteBuffer values = this.values.get();
    return switch (type) {
      case F32 -> values.getFloat(index * Float.BYTES);
      case F16 -> Float16.toFloat(values.getShort(index * Short.BYTES));
      case BF16 -> Float.intBitsToFloat(values.getShort(index * Short.BYTES) << 16);
      default -> throw new IllegalStateException(type + " is not a type for scales");
    };
  }
}
