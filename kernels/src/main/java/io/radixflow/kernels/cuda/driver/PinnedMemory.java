package io.radixflow.kernels.cuda.driver;

import static io.radixflow.kernels.cuda.driver.CudaException.check;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import jcuda.Pointer;
import jcuda.driver.JCudaDriver;

/**
 * Page-locked host memory that the device can access: a slab, or a slice of one. A slab has at most
 * {@link #MAX_SLAB} bytes, because JCuda returns it as one buffer. Closing the slab waits for the
 * device and frees the memory; using a buffer of it afterwards crashes the process. Not
 * thread-safe.
 */
public final class PinnedMemory extends ContextResource {

  /** The largest size of a slab in bytes: 1 GiB. */
  public static final long MAX_SLAB = 1L << 30;

  /** A native host address that can be read as a number. */
  private static final class HostPointer extends Pointer {

    long address() {
      return getNativePointer();
    }
  }

  private final Pointer pointer;
  private final long address;
  private final ByteBuffer buffer;

  private PinnedMemory(
      CudaContext context, Pointer pointer, long address, ByteBuffer buffer, boolean owner) {
    super(context, owner ? "cuMemFreeHost" : null);
    this.pointer = pointer;
    this.address = address;
    this.buffer = buffer;
  }

  static PinnedMemory allocate(CudaContext context, long bytes, String what) {
    if (bytes <= 0 || bytes > MAX_SLAB) {
      throw new IllegalArgumentException(
          "a pinned slab has 1 to " + MAX_SLAB + " bytes, not " + bytes + " (" + what + ")");
    }
    HostPointer pointer = new HostPointer();
    int flags = JCudaDriver.CU_MEMHOSTALLOC_PORTABLE | JCudaDriver.CU_MEMHOSTALLOC_DEVICEMAP;
    check(
        JCudaDriver.cuMemHostAlloc(pointer, bytes, flags),
        "cuMemHostAlloc",
        bytes + " bytes for " + what);
    ByteBuffer buffer = pointer.getByteBuffer(0, bytes).order(ByteOrder.nativeOrder());
    PinnedMemory memory = new PinnedMemory(context, pointer, pointer.address(), buffer, true);
    context.opened(memory);
    return memory;
  }

  /** The address, which is the same for host and device. */
  public long address() {
    return address;
  }

  public long bytes() {
    return buffer.capacity();
  }

  /** The memory as a buffer in native byte order. Each call returns the same buffer. */
  public ByteBuffer buffer() {
    return buffer;
  }

  /**
   * Returns a view of bytes {@code offset} to {@code offset + length}, which is valid as long as
   * this memory is.
   */
  public PinnedMemory slice(long offset, long length) {
    checkRange(offset, length);
    ByteBuffer part = buffer.slice((int) offset, (int) length).order(ByteOrder.nativeOrder());
    return new PinnedMemory(context, pointer.withByteOffset(offset), address + offset, part, false);
  }

  @Override
  int destroy() {
    return JCudaDriver.cuMemFreeHost(pointer);
  }

  Pointer pointer() {
    return pointer;
  }

  void checkRange(long offset, long length) {
    if (offset < 0 || length < 0 || length > bytes() - offset) {
      throw new IndexOutOfBoundsException(
          "bytes " + offset + " to " + (offset + length) + " of pinned memory of " + bytes());
    }
  }
}
