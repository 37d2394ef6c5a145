package io.radixflow.kernels.cuda.driver;

import static io.radixflow.kernels.cuda.driver.CudaException.check;

import java.nio.ByteBuffer;
import jcuda.Pointer;
import jcuda.driver.CUfunction;
import jcuda.driver.CUfunction_attribute;
import jcuda.driver.CUshared_carveout;
import jcuda.driver.JCudaDriver;

/**
 * A kernel with its sizes and parameters, which can be launched any number of times.
 *
 * <p>The parameters are in a pinned block: a table of addresses, ended by null, then the values, 8
 * bytes each. A launch passes the table as it is and allocates nothing. The launch copies the
 * parameters, so they may be changed right after it. Only one thread at a time may use it.
 */
public final class KernelLaunch {

  /** The largest number of parameters of a kernel. */
  public static final int MAX_PARAMETERS = 30;

  private static final int VALUES = (MAX_PARAMETERS + 2) * Long.BYTES;

  /** Bytes of a launch's pinned block. */
  static final int BYTES = VALUES + MAX_PARAMETERS * Long.BYTES + 16;

  private static final int DEFAULT_SHARED = 48 << 10;

  private final CudaContext context;
  private final String kernel;
  private final CUfunction function;
  private final ByteBuffer block;
  private final Pointer table;
  private final long address;
  private int parameters;
  private int gridX = 1;
  private int gridY = 1;
  private int gridZ = 1;
  private int threads = 1;
  private int shared;

  KernelLaunch(CudaContext context, String kernel, CUfunction function) {
    this.context = context;
    this.kernel = kernel;
    this.function = function;
    PinnedMemory memory = context.newParameters();
    block = memory.buffer();
    table = memory.pointer();
    address = memory.address();
    block.putLong(0, 0);
  }

  /** Appends a pointer to the start of {@code memory}. */
  public KernelLaunch pointer(DeviceMemory memory) {
    return wide(memory.address());
  }

  /** Appends a pointer to the byte at {@code offset} of {@code memory}. */
  public KernelLaunch pointer(DeviceMemory memory, long offset) {
    return wide(memory.address() + offset);
  }

  /**
   * Appends a pointer to the start of {@code memory}. If it is null, appends a pointer that the
   * kernel must not use.
   */
  public KernelLaunch pointerOrNull(DeviceMemory memory) {
    return memory == null ? nullPointer() : pointer(memory);
  }

  /** Appends a pointer that the kernel must not use. */
  public KernelLaunch nullPointer() {
    return wide(0);
  }

  /** Appends a 64-bit integer or an address. */
  public KernelLaunch wide(long value) {
    setWide(append(), value);
    return this;
  }

  /** Appends a 32-bit integer. */
  public KernelLaunch integer(int value) {
    setInteger(append(), value);
    return this;
  }

  /** Appends a 32-bit float. */
  public KernelLaunch real(float value) {
    return integer(Float.floatToRawIntBits(value));
  }

  /** Sets the number of blocks in each dimension of the grid. */
  public KernelLaunch grid(int x, int y, int z) {
    gridX = x;
    gridY = y;
    gridZ = z;
    return this;
  }

  public KernelLaunch grid(int x) {
    return grid(x, 1, 1);
  }

  /** Sets the number of threads per block. */
  public KernelLaunch block(int count) {
    threads = count;
    return this;
  }

  /** Sets the number of bytes of dynamic shared memory per block. */
  public KernelLaunch shared(int bytes) {
    boolean isMore = bytes > DEFAULT_SHARED && bytes > shared;
    shared = bytes;
    if (isMore) {
      set(CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
      // two such blocks fit on a multiprocessor only if it uses its cache as shared memory
      set(
          CUfunction_attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
          CUshared_carveout.CU_SHAREDMEM_CARVEOUT_MAX_SHARED);
    }
    return this;
  }

  private void set(int attribute, int value) {
    check(
        JCudaDriver.cuFuncSetAttribute(function, attribute, value),
        "cuFuncSetAttribute",
        kernel + " with " + shared + " bytes of shared memory");
  }

  /** Changes parameter {@code index}, a pointer or 64-bit integer. */
  public void setWide(int index, long value) {
    block.putLong(VALUES + index * Long.BYTES, value);
  }

  /** Changes parameter {@code index}, a 32-bit integer. */
  public void setInteger(int index, int value) {
    // if a kernel reads these 8 bytes as a pointer, the pointer is never valid
    block.putLong(VALUES + index * Long.BYTES, value & 0xffffffffL | 0xdeadL << 48);
  }

  /** Queues the kernel. */
  public void on(CudaStream stream) {
    int result =
        JCudaDriver.cuLaunchKernel(
            function, gridX, gridY, gridZ, threads, 1, 1, shared, stream.handle(), table, null);
    if (result != 0) {
      throw CudaException.of(result, "cuLaunchKernel", toString());
    }
    if (context.synchronous()) {
      check(JCudaDriver.cuStreamSynchronize(stream.handle()), "cuStreamSynchronize", toString());
    }
  }

  @Override
  public String toString() {
    return String.format(
        "%s with a grid of %d x %d x %d blocks of %d threads, %d bytes of shared memory,"
            + " %d parameters",
        kernel, gridX, gridY, gridZ, threads, shared, parameters);
  }

  private int append() {
    if (parameters == MAX_PARAMETERS) {
      throw new IllegalStateException(kernel + " has more than " + MAX_PARAMETERS + " parameters");
    }
    int index = parameters++;
    block.putLong(index * Long.BYTES, address + VALUES + (long) index * Long.BYTES);
    block.putLong((index + 1) * Long.BYTES, 0);
    return index;
  }
}
