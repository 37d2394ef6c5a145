package io.radixflow.kernels.cpu;

import io.radixflow.models.BlockCodes;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;

/** Rejects rows with weights that are not finite. */
final class FiniteRows {

  /** With a larger scale, a finite code could become an infinite weight. */
  private static final float MOST_SCALE = Float.MAX_VALUE / 512;

  private FiniteRows() {}

  /**
   * Rejects scales and minima that are not finite or so large that a weight may become infinite.
   */
  static void requireScales(StackedRows source, int number, float[] values) {
    for (float value : values) {
      if (!(Math.abs(value) <= MOST_SCALE)) {
        throw source.notFinite(number, value);
      }
    }
  }

  /** Rejects weights that are not finite. */
  static void requireWeights(StackedRows source, int number, float[] values) {
    for (float value : values) {
      if (!Float.isFinite(value)) {
        throw source.notFinite(number, value);
      }
    }
  }

  /**
   * Finds the first row of a range with a value that is not finite, and returns the error for it.
   */
  static ModelFormatException error(StackedRows source, int first, int count) {
    TensorType type = source.type(first);
    for (int number = first; number < first + count; number++) {
      if (type.blockElements() == 1) {
        float[] values = new float[source.columns()];
        source.dequantize(number, values);
        requireWeights(source, number, values);
      } else {
        BlockCodes row = new BlockCodes(type, source.columns());
        row.read(source.run(number, 1, ByteBuffer.allocate(0)));
        requireScales(source, number, row.scales);
        requireScales(source, number, row.minima);
      }
    }
    throw new IllegalStateException(
        source + ": the kernels found a value that is not finite, but all values are finite");
  }
}
