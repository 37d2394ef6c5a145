package io.radixflow.kernels.cuda.weights;

import io.radixflow.models.BlockCodes;
import io.radixflow.models.Tensor;
import java.nio.ByteBuffer;
import java.util.stream.IntStream;

/**
 * Converts a matrix into the device's format and row order, one block of rows at a time. It needs
 * memory for the blocks only, whatever the size of the matrix.
 */
final class WeightStream {

  /** Provides and sends the blocks. */
  interface Blocks {
    /** Bytes per buffer of {@link #next}; always the same. */
    int capacity();

    /** An empty buffer in native byte order. Its earlier content has arrived on the device. */
    ByteBuffer next();

    /**
     * Sends the buffer that {@link #next} returned last, up to its limit, to byte {@code offset}.
     */
    void send(long offset, ByteBuffer block);
  }

  private final Blocks blocks;

  WeightStream(Blocks blocks) {
    this.blocks = blocks;
  }

  /** Sends all rows of a matrix in one format. */
  void send(WeightRowOrder order, WeightFormat format) {
    send(order, new FormatRun(format, 0, order.rows()));
  }

  /**
   * Sends a run of rows of a matrix.
   *
   * @throws IllegalArgumentException if a row does not fit into a block
   * @throws io.radixflow.models.ModelFormatException if a weight is not finite
   */
  void send(WeightRowOrder order, FormatRun run) {
    WeightFormat format = run.format();
    int unitBytes = format.unitBytes(order.columns());
    int units = (run.rows() + format.unitRows() - 1) / format.unitRows();
    int perBlock = blocks.capacity() / unitBytes;
    if (perBlock == 0) {
      throw new IllegalArgumentException(
          String.format(
              "%s row(s) of %s bytes exceed the staging buffer of %s",
              format.unitRows(), unitBytes, blocks.capacity()));
    }
    for (int first = 0; first < units; first += perBlock) {
      int count = Math.min(perBlock, units - first);
      ByteBuffer block = blocks.next();
      if (format.quantised()) {
        fillUnits(order, run, first, count, block);
      } else {
        fill(order, format, run.firstRow() + first, count, block);
      }
      blocks.send((long) first * unitBytes, block.limit(count * unitBytes));
    }
  }

  /** Packs units on all cores. The last unit is padded with rows of zeros. */
  private static void fillUnits(
      WeightRowOrder order, FormatRun run, int first, int count, ByteBuffer block) {
    WeightFormat format = run.format();
    int unitBytes = format.unitBytes(order.columns());
    IntStream.range(0, count)
        .parallel()
        .forEach(
            unit -> {
              int at = unit * unitBytes;
              int firstRow = (first + unit) * format.unitRows();
              int rows = Math.min(format.unitRows(), run.rows() - firstRow);
              for (int i = rows < format.unitRows() ? 0 : unitBytes; i < unitBytes; i++) {
                block.put(at + i, (byte) 0);
              }
              BlockCodes codes = null;
              ByteBuffer read = ByteBuffer.allocate(0);
              for (int i = 0; i < rows; i++) {
                int row = run.firstRow() + firstRow + i;
                Tensor tensor = order.tensor(row);
                if (codes == null || codes.type() != tensor.type()) {
                  codes = new BlockCodes(tensor.type(), tensor.columns());
                }
                if (!read.hasRemaining()) {
                  read = tensor.rows(order.sourceRow(row), order.consecutive(row, rows - i));
                }
                format.pack(read, codes, i, block, at);
                FiniteDeviceRows.requireScales(tensor, order.sourceRow(row), codes);
              }
            });
  }

  /** Converts rows on all cores. Each task writes its own bytes. */
  private static void fill(
      WeightRowOrder order, WeightFormat format, int first, int count, ByteBuffer block) {
    int columns = order.columns();
    int tasks = Math.min(count, 4 * Runtime.getRuntime().availableProcessors());
    IntStream.range(0, tasks)
        .parallel()
        .forEach(
            task -> {
              float[] scratch = new float[columns];
              for (int i = count * task / tasks; i < count * (task + 1) / tasks; i++) {
                int at = i * format.unitBytes(columns);
                int row = first + i;
                if (format == WeightFormat.F32) {
                  FiniteDeviceRows.read(order.tensor(row), order.sourceRow(row), scratch);
                  for (int column = 0; column < columns; column++) {
                    block.putFloat(at + column * Float.BYTES, scratch[column]);
                  }
                } else {
                  BFloat16.writeRow(order.tensor(row), order.sourceRow(row), block, at, scratch);
                }
              }
            });
  }
}
