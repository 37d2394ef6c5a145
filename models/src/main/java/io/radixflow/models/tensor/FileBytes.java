package io.radixflow.models.tensor;

import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;

/**
 * Bytes of a file from which rows are gathered out of order. They are read as a whole when first
 * needed, and again if they were garbage-collected meanwhile. Safe for many threads.
 */
public final class FileBytes implements LazyBytes {

  private final OpenFile file;
  private final String tensor;
  private final long position;
  private final int count;
  private volatile WeakReference<ByteBuffer> known = new WeakReference<>(null);

  /**
   * @param tensor named in errors
   * @param position first byte; the caller has checked that all bytes are within the file
   */
  public FileBytes(OpenFile file, String tensor, long position, int count) {
    this.file = file;
    this.tensor = tensor;
    this.position = position;
    this.count = count;
  }

  /** The bytes, read-only and little-endian; callers must not move their position. */
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
