package io.radixflow.models.tensor;

import io.radixflow.models.ModelFormatException;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;
import java.util.Objects;

/** A tensor in an open file. Rows are read when they are requested. */
public final class FileTensor implements Tensor {

  private final OpenFile file;
  private final TensorSlot slot;
  private final String where;
  private final int rowBytes;

  /**
   * A tensor that has the same name in the file and in the graph. Throws the same errors as the
   * other constructor.
   */
  public FileTensor(OpenFile file, TensorSlot slot) {
    this(file, slot, file.path() + ": tensor " + slot.name());
  }

  /**
   * @param slot the position of the tensor, which the caller has checked against the file
   * @param where name of the tensor in errors
   * @throws ModelFormatException if a row has more than 1 GiB
   */
  public FileTensor(OpenFile file, TensorSlot slot, String where) {
    long bytes = (long) slot.columns() / slot.type().blockElements() * slot.type().blockBytes();
    if (bytes > OpenFile.MOST_BYTES) {
      throw new ModelFormatException(
          where + " has rows of " + bytes + " bytes; at most 1 GiB are read");
    }
    this.file = file;
    this.slot = slot;
    this.where = where;
    rowBytes = (int) bytes;
  }

  @Override
  public String name() {
    return slot.name();
  }

  @Override
  public String where() {
    return where;
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
    return file.read(name(), position(first, count), count * rowBytes);
  }

  @Override
  public void copyRows(int first, int count, ByteBuffer target) {
    file.read(name(), position(first, count), count * rowBytes, target);
  }

  private long position(int first, int count) {
    Objects.checkFromIndexSize(first, count, slot.rows());
    if ((long) count * rowBytes > OpenFile.MOST_BYTES) {
      throw new IllegalArgumentException(
          "tensor " + name() + ": " + count + " rows have more than 1 GiB; read fewer at a time");
    }
    return slot.position() + (long) first * rowBytes;
  }

  @Override
  public void dequantize(int row, float[] target, int offset) {
    Objects.checkFromIndexSize(offset, slot.columns(), target.length);
    Dequantizer.dequantize(slot.type(), rows(row, 1), 0, slot.columns(), target, offset);
  }
}
