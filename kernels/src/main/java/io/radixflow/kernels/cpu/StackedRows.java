package io.radixflow.kernels.cpu;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.models.ModelFormatException;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/** The rows of the stacked tensors that become one matrix. Safe for many threads. */
final class StackedRows {

  /** The largest number of bytes that {@link #run} reads if it reads more than one row. */
  static final int RUN_BYTES = 1 << 20;

  private final List<Tensor> tensors;

  /** Keeps the sources of gathered rows in memory. */
  @SuppressWarnings("unused")
  private final List<List<ByteBuffer>> held;

  private final int rows;

  StackedRows(List<Tensor> tensors) {
    this.tensors = tensors;
    held = tensors.stream().map(Tensor::hold).toList();
    rows = Math.toIntExact(tensors.stream().mapToLong(Tensor::rows).sum());
  }

  int rows() {
    return rows;
  }

  int columns() {
    return tensors.get(0).columns();
  }

  /** Number of a panel's lanes that have rows. */
  int lanes(int panel) {
    return Math.min(PANEL, rows - panel * PANEL);
  }

  /** Bytes of a row in its file. */
  int bytes(int row) {
    return columns() / type(row).blockElements() * type(row).blockBytes();
  }

  /**
   * Reads consecutive rows in one read, as the file stores them: at least one row, and then the
   * rows after it in its tensor, up to one mebibyte.
   *
   * @param most the largest number of rows to read
   * @param reuse an earlier result that may be overwritten, or an empty buffer
   * @return a buffer with an array, or {@code reuse}
   */
  ByteBuffer run(int row, int most, ByteBuffer reuse) {
    Tensor tensor = tensor(row);
    int local = local(row);
    int each = bytes(row);
    int count = Math.min(Math.min(most, tensor.rows() - local), Math.max(1, RUN_BYTES / each));
    ByteBuffer run = reuse.capacity() < count * each ? ByteBuffer.allocate(count * each) : reuse;
    tensor.copyRows(local, count, run.clear().order(ByteOrder.LITTLE_ENDIAN));
    return run.flip();
  }

  TensorType type(int row) {
    return tensor(row).type();
  }

  void dequantize(int row, float[] target) {
    tensor(row).dequantize(local(row), target, 0);
  }

  /** Returns the error for a row whose value cannot be a weight. */
  ModelFormatException notFinite(int row, float value) {
    return tensor(row).notFinite(local(row), value);
  }

  private Tensor tensor(int row) {
    int end = 0;
    for (Tensor tensor : tensors) {
      end += tensor.rows();
      if (row < end) {
        return tensor;
      }
    }
    throw new IndexOutOfBoundsException(row);
  }

  private int local(int row) {
    int local = row;
    for (Tensor tensor : tensors) {
      if (local < tensor.rows()) {
        return local;
      }
      local -= tensor.rows();
    }
    throw new IndexOutOfBoundsException(row);
  }

  @Override
  public String toString() {
    return tensors.get(0).name();
  }
}
