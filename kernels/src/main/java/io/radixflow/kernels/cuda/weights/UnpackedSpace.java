package io.radixflow.kernels.cuda.weights;

import java.util.Set;

/**
 * Computes the size of the space to which quantised matrices are unpacked, one after another,
 * before a product with many rows. The largest matrix decides, but the size is bounded: a matrix
 * that is larger than the bound is unpacked in parts.
 */
final class UnpackedSpace {

  private static final long MOST_BYTES = 256L << 20;

  /** Matrices for the step's outputs. Their products have few rows and unpack in registers. */
  private static final Set<String> OF_OUTPUTS = Set.of("token_embd.weight", "output.weight");

  private long bytes;

  /** Adds a part of a matrix; each part is a matrix of its own on the device. */
  void add(String name, FormatRun run, int columns) {
    if (run.format().quantised() && !OF_OUTPUTS.contains(name)) {
      long needed = WeightFormat.BF16.bytes(run.rows(), columns);
      bytes = Math.max(bytes, Math.min(MOST_BYTES, needed));
    }
  }

  /** Bytes that are enough for all matrices added so far; 0 if none is quantised. */
  long bytes() {
    return bytes;
  }
}
