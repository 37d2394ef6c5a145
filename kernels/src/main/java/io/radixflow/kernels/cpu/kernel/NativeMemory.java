package io.radixflow.kernels.cpu.kernel;

import java.util.Objects;

/**
 * Memory outside Java's heap that begins with zeros. It needs the native kernels.
 *
 * <p>No thread may use an address after {@link #close}.
 */
public final class NativeMemory implements AutoCloseable {

  private final long address;
  private final long bytes;
  private boolean closed;

  private NativeMemory(long address, long bytes) {
    this.address = address;
    this.bytes = bytes;
  }

  /**
   * Allocates memory. The system provides each page when it is first touched.
   *
   * @throws OutOfMemoryError if the system has no memory left
   */
  public static NativeMemory allocate(long bytes) {
    long size = Math.max(1, bytes);
    long address = allocatePages(size);
    if (address == 0) {
      throw new OutOfMemoryError("the system has no " + bytes + " bytes of memory left");
    }
    return new NativeMemory(address, size);
  }

  /**
   * Returns the address of a part.
   *
   * @throws IndexOutOfBoundsException if the part is not inside this memory
   */
  public long address(long offset, long length) {
    return address + Objects.checkFromIndexSize(offset, length, bytes);
  }

  /** The address of the first byte. */
  long address() {
    return address;
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      unmap(address, bytes);
    }
  }

  private static native long allocatePages(long bytes);

  private static native void unmap(long address, long bytes);
}
