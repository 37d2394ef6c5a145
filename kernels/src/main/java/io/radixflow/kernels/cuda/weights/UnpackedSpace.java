package io.radixflow.kernels.cuda.weights;

import java.util.Set;

/**
 * Adds up the room that quantised matrices need to be unpacked to bf16 before a product of many
 * rows, one after another: that of the largest, within a bound, as a larger one is unpacked in
 * parts.
 */
final class UnpackedSpace {

  private static final long MOST_BYTES = 256L << 20;

  /** Whose products have few rows, the step's outputs, and unpack in registers. */
  private static final Set<String> OF_OUTPUTS = Set.of("token_embd.weight", "output.weight");

  private long bytes;

  /** Counts a part of a matrix that is one on the device. */
  void add(String name, FormatRun run, int columns) {
    if (run.format().quantised() && !OF_OUTPUTS.contains(name)) {
      long needed = WeightFormat.BF16.bytes(run.rows(), columns);
      bytes = Math.max(bytes, Math.min(MOST_BYTES, needed));
    }
  }

  /** Bytes that suffice for the matrices so far; 0 where none is quantised. */
  long bytes() {
    return bytes;
  }
}
