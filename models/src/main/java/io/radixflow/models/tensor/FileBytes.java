package io.radixflow.models.tensor;

import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;

/**
 * Bytes of a file from which rows are gathered out of order. All of them are read when they are
 * first needed, and again if they were garbage-collected. Thread-safe.
 */
public final class FileBytes implements LazyBytes {

  private final OpenFile file;
  private final String tensor;
  private final long position;
  private final int count;
  private volatile WeakReference<ByteBuffer> known = new WeakReference<>(null);

  /**
   * @param tensor name of the tensor, for errors
   * @param position first byte; the caller has checked that all bytes are inside the file
   */
  public FileBytes(OpenFile file, String tensor, long position, int count) {
    this.file = file;
    this.tensor = tensor;
    this.position = position;
    this.count = count;
  }

  /** The bytes, read-only and little-endian. Callers must not move the position of the buffer. */
  @Override
  public ByteBuffer get() {
    ByteBuffer bytes = known.get();
    return bytes == null ? read() : bytes;
  }

  @Override
  public long size() {
    return count;
  }

  private synchronized ByteBuffer read() {
    ByteBuffer bytes = known.get();
    if (bytes == null) {
      bytes = file.read(tensor, position, count);
      known = new WeakReference<>(bytes);
    }
    return bytes;
  }
}
