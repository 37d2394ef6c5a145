package io.radixflow.kernels.cpu;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.model.BlockCodes;
import io.radixflow.kernels.model.ModelFormatException;
import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/** The rows of tensors, one below the other, that become one matrix. Safe for many threads. */
final class StackedRows {

  private final List<Tensor> tensors;
  private final int rows;

  StackedRows(List<Tensor> tensors) {
    this.tensors = tensors;
    rows = Math.toIntExact(tensors.stream().mapToLong(Tensor::rows).sum());
  }

  int rows() {
    return rows;
  }

  int columns() {
    return tensors.get(0).columns();
  }

  /** Rows of a panel that are not filling. */
  int lanes(int panel) {
    return Math.min(PANEL, rows - panel * PANEL);
  }

  /** The bytes of a row as its file has them. */
  ByteBuffer bytes(int row) {
    Tensor tensor = tensor(row);
    return tensor.rows(local(row), 1).order(ByteOrder.LITTLE_ENDIAN);
  }

  TensorType type(int row) {
    return tensor(row).type();
  }

  /**
   * Copies the bytes of a row.
   *
   * @param reuse an earlier result that may be overwritten
   */
  byte[] copy(int row, byte[] reuse) {
    ByteBuffer bytes = bytes(row);
    byte[] copy = reuse.length == bytes.remaining() ? reuse : new byte[bytes.remaining()];
    bytes.get(copy);
    return copy;
  }

  /**
   * Takes a row apart.
   *
   * @param reuse an earlier result that may be overwritten, or null
   */
  BlockCodes codes(int row, BlockCodes reuse) {
    Tensor tensor = tensor(row);
    boolean fits =
        reuse != null && reuse.type() == tensor.type() && reuse.codes.length == tensor.columns();
    BlockCodes codes = fits ? reuse : new BlockCodes(tensor.type(), tensor.columns());
    codes.read(bytes(row));
    return codes;
  }

  void dequantize(int row, float[] target) {
    tensor(row).dequantize(local(row), target, 0);
  }

  /** The error of a row that has a value which no weight can have. */
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
