package io.radixflow.kernels.cpu.kernel;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;

/**
 * Zeroed memory that native code reads and writes by its address. With the native kernels it is
 * outside Java's heap: the system maps it, {@code -XX:MaxDirectMemorySize} does not limit it, and
 * {@link #close} returns it at once. Without them it is in arrays of the heap and has no address.
 */
public final class OffHeap implements AutoCloseable {

  /** The largest buffer. */
  private static final int MOST = 1 << 30;

  private final long bytes;
  private final int unit;
  private final int perBuffer;
  private final ByteBuffer[] buffers;
  private final NativeMemory memory;
  private long address;

  /**
   * Allocates units of equal size.
   *
   * @param unit bytes of a unit, at most 2^30
   * @throws OutOfMemoryError if there is not enough memory
   */
  public OffHeap(int units, long unit) {
    if (unit > MOST) {
      throw new IllegalArgumentException("a unit of " + unit + " bytes");
    }
    this.unit = (int) unit;
    bytes = Math.max(1, units * unit); // a pool whose layers are all in window parts
    perBuffer = (int) (MOST / Math.max(1, unit));
    memory = isUsed() ? NativeMemory.allocate(bytes) : null;
    address = memory == null ? 0 : memory.address(0, bytes);
    buffers = new ByteBuffer[(int) (((long) units + perBuffer - 1) / perBuffer)];
    for (int i = 0; i < buffers.length; i++) {
      long first = (long) i * perBuffer * unit;
      int size = (int) Math.min((long) perBuffer * unit, units * unit - first);
      ByteBuffer buffer = memory == null ? ByteBuffer.allocate(size) : memory.buffer(first, size);
      buffers[i] = buffer.order(ByteOrder.nativeOrder());
    }
  }

  /** Returns whether memory is outside the heap in this process. */
  public static boolean isUsed() {
    return !NativeKernels.supported().isEmpty();
  }

  /** Returns the address of a unit. The memory must be outside the heap and open. */
  public long address(int unit) {
    Objects.checkIndex(unit * (long) this.unit, address == 0 ? 0 : bytes);
    return address + unit * (long) this.unit;
  }

  /** Returns the buffer, in native byte order, that contains a unit from {@link #at} on. */
  public ByteBuffer buffer(int unit) {
    return buffers[unit / perBuffer];
  }

  /** Returns the index at which a unit begins in its {@link #buffer(int)}. */
  public int at(int unit) {
    return unit % perBuffer * this.unit;
  }

  /** Frees the memory. Idempotent; no thread may use the memory or its buffers afterwards. */
  @Override
  public synchronized void close() {
    Arrays.fill(buffers, null);
    address = 0;
    if (memory != null) {
      memory.close();
    }
  }

  /** Returns the address of a direct buffer. */
  static native long address(ByteBuffer buffer);

  /** Returns memory as a buffer. */
  static native ByteBuffer buffer(long address, int bytes);
}
