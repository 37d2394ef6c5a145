package io.radixflow.kernels.cuda.weights;

import java.nio.ByteBuffer;
import java.util.stream.IntStream;

/**
 * Converts a matrix to bf16 block of rows by block of rows, in the device's row order: the memory
 * it takes is that of the blocks, whatever the matrix's size.
 */
final class WeightStream {

  /** The target of the blocks. */
  interface Blocks {
    /** Bytes of the buffers that {@link #next} hands out; the same each time. */
    int capacity();

    /** An empty buffer in native byte order whose earlier content has arrived. */
    ByteBuffer next();

    /** Sends the buffer handed out last, filled up to its limit, to {@code offset} in bytes. */
    void send(long offset, ByteBuffer block);
  }

  private final Blocks blocks;

  WeightStream(Blocks blocks) {
    this.blocks = blocks;
  }

  /**
   * Sends a matrix row by row.
   *
   * @throws IllegalArgumentException if a block cannot hold a row
   */
  void send(WeightRowOrder order) {
    int rowBytes = Math.multiplyExact(order.columns(), BFloat16.BYTES);
    int perBlock = blocks.capacity() / rowBytes;
    if (perBlock == 0) {
      throw new IllegalArgumentException(
          "a row of " + rowBytes + " bytes exceeds the staging buffer of " + blocks.capacity());
    }
    for (int first = 0; first < order.rows(); first += perBlock) {
      int count = Math.min(perBlock, order.rows() - first);
      ByteBuffer block = blocks.next();
      fill(order, first, count, block);
      blocks.send((long) first * rowBytes, block.limit(count * rowBytes));
    }
  }

  /** Rows are converted on all cores; each writes its own bytes. */
  private static void fill(WeightRowOrder order, int first, int count, ByteBuffer block) {
    int columns = order.columns();
    int tasks = Math.min(count, 4 * Runtime.getRuntime().availableProcessors());
    IntStream.range(0, tasks)
        .parallel()
        .forEach(
            task -> {
              float[] scratch = new float[columns];
              for (int i = count * task / tasks; i < count * (task + 1) / tasks; i++) {
                int at = i * columns * BFloat16.BYTES;
                int row = first + i;
                BFloat16.writeRow(order.tensor(row), order.sourceRow(row), block, at, scratch);
              }
            });
  }
}
