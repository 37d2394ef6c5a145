package io.radixflow.kernels.model.tensor;

import io.radixflow.kernels.model.ModelFormatException;
import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.TensorType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.Objects;

/**
 * A tensor in a memory-mapped file. A mapping ends at 2 GiB, so a larger tensor is a list of
 * windows of whole rows. The mappings are released when the last buffer over them is collected:
 * unmapping by hand would crash a thread that still reads.
 */
public final class MappedTensor implements Tensor {
  public static final long WINDOW_BYTES = 1L << 30;

  private final TensorSlot slot;
  private final int rowBytes;
  private final int rowsPerWindow;
  private final ByteBuffer[] windows;

  private MappedTensor(TensorSlot slot, int rowBytes, int rowsPerWindow, ByteBuffer[] windows) {
    this.slot = slot;
    this.rowBytes = rowBytes;
    this.rowsPerWindow = rowsPerWindow;
    this.windows = windows;
  }

  /**
   * Maps a tensor whose bytes were checked to lie within the file.
   *
   * @param windowBytes largest mapping; at least one row is mapped whatever it is
   */
  public static MappedTensor map(FileChannel channel, TensorSlot slot, long windowBytes)
      throws IOException {
    long rowBytes = (long) slot.columns() / slot.type().blockElements() * slot.type().blockBytes();
    if (rowBytes > WINDOW_BYTES) {
      throw new ModelFormatException(
          "tensor " + slot.name() + " has rows of " + rowBytes + " bytes; at most 1 GiB are read");
    }
    int perWindow = (int) Math.min(slot.rows(), Math.max(1, windowBytes / rowBytes));
    ByteBuffer[] windows = new ByteBuffer[(slot.rows() + perWindow - 1) / perWindow];
    for (int w = 0; w < windows.length; w++) {
      long first = (long) w * perWindow;
      long size = Math.min(perWindow, slot.rows() - first) * rowBytes;
      windows[w] =
          channel
              .map(FileChannel.MapMode.READ_ONLY, slot.position() + first * rowBytes, size)
              .order(ByteOrder.LITTLE_ENDIAN);
    }
    return new MappedTensor(slot, (int) rowBytes, perWindow, windows);
  }

  @Override
  public String name() {
    return slot.name();
  }

  @Override
  public TensorType type() {
    return slot.type();
  }

  @Override
  public int rows() {
    return slot.rows();
  }

  @Override
  public int columns() {
    return slot.columns();
  }

  @Override
  public ByteBuffer rows(int first, int count) {
    Objects.checkFromIndexSize(first, count, slot.rows());
    if (count == 0) {
      return ByteBuffer.allocate(0).asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }
    int window = first / rowsPerWindow;
    int start = first % rowsPerWindow;
    if (start + (long) count <= rowsPerWindow) {
      return windows[window]
          .slice(start * rowBytes, count * rowBytes)
          .order(ByteOrder.LITTLE_ENDIAN);
    }
    return joined(first, count);
  }

  private ByteBuffer joined(int first, int count) {
    long size = (long) count * rowBytes;
    if (size > WINDOW_BYTES) {
      throw new IllegalArgumentException(
          "tensor " + name() + ": " + count + " rows are over 1 GiB; ask for fewer at a time");
    }
    ByteBuffer copy = ByteBuffer.allocate((int) size);
    for (int row = first; row < first + count; ) {
      int start = row % rowsPerWindow;
      int take = Math.min(rowsPerWindow - start, first + count - row);
      copy.put(windows[row / rowsPerWindow].slice(start * rowBytes, take * rowBytes));
      row += take;
    }
    return copy.flip().asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public void dequantize(int row, float[] target, int offset) {
    Objects.checkIndex(row, slot.rows());
    Objects.checkFromIndexSize(offset, slot.columns(), target.length);
    ByteBuffer window = windows[row / rowsPerWindow];
    int at = row % rowsPerWindow * rowBytes;
    Dequantizer.dequantize(slot.type(), window, at, slot.columns(), target, offset);
  }
}
