package io.radixflow.kernels.cuda.driver;

import static io.radixflow.kernels.cuda.driver.CudaException.check;

import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/**
 * A range of device memory: an allocation, or a slice of one. Closing an allocation waits for the
 * device and frees the memory, including its slices. Closing a slice does nothing. Not thread-safe.
 */
public final class DeviceMemory extends ContextResource {

  /** A device address that can be read and set as a number. */
  private static final class DevicePointer extends CUdeviceptr {

    DevicePointer() {}

    /** Stores the address as an offset from null. */
    DevicePointer(long address) {
      super(new DevicePointer(), address);
    }

    long address() {
      return getNativePointer() + getByteOffset();
    }
  }

  private static final CUstream LEGACY = new CUstream();

  private final DevicePointer pointer;
  private final long bytes;

  private DeviceMemory(CudaContext context, DevicePointer pointer, long bytes, boolean owner) {
    super(context, owner ? "cuMemFree" : null);
    this.pointer = pointer;
    this.bytes = bytes;
  }

  static DeviceMemory allocate(CudaContext context, long bytes, String what) {
    DevicePointer pointer = new DevicePointer();
    check(JCudaDriver.cuMemAlloc(pointer, bytes), "cuMemAlloc", bytes + " bytes for " + what);
    DeviceMemory memory = new DeviceMemory(context, pointer, bytes, true);
    context.opened(memory);
    return memory;
  }

  /** A view of memory that another object owns. */
  static DeviceMemory at(CudaContext context, long address, long bytes) {
    return new DeviceMemory(context, new DevicePointer(address), bytes, false);
  }

  /** The address on the device. For an allocation it is a multiple of 256. */
  public long address() {
    return pointer.address();
  }

  public long bytes() {
    return bytes;
  }

  /**
   * Returns a view of bytes {@code offset} to {@code offset + length}, which is valid as long as
   * this memory is.
   */
  public DeviceMemory slice(long offset, long length) {
    checkRange(offset, length);
    return at(context, address() + offset, length);
  }

  /**
   * Copies a Java array, a buffer or pinned memory to the start of this memory, and waits until the
   * copy is done.
   */
  public void write(Pointer from, long length) {
    stage(from, length);
    check(JCudaDriver.cuStreamSynchronize(LEGACY), "cuStreamSynchronize", "the legacy stream");
  }

  /**
   * Starts to copy a Java array, a buffer or pinned memory to the start of this memory. When this
   * returns, {@code from} has been read. Bytes from pageable memory may not have arrived yet: the
   * legacy stream copies them, and our streams do not wait for that stream.
   */
  void stage(Pointer from, long length) {
    checkRange(0, length);
    check(JCudaDriver.cuMemcpyHtoD(pointer, from, length), "cuMemcpyHtoD", length + " bytes");
  }

  /**
   * Copies the start of this memory to a Java array, a buffer or pinned memory, and waits until the
   * copy is done.
   */
  public void read(Pointer to, long length) {
    checkRange(0, length);
    check(JCudaDriver.cuMemcpyDtoH(to, pointer, length), "cuMemcpyDtoH", length + " bytes");
  }

  /**
   * Queues a copy of the first {@code length} bytes of pinned memory to the start of this memory.
   */
  public void writeAsync(PinnedMemory from, long length, CudaStream stream) {
    checkRange(0, length);
    from.checkRange(0, length);
    check(
        JCudaDriver.cuMemcpyHtoDAsync(pointer, from.pointer(), length, stream.handle()),
        "cuMemcpyHtoDAsync",
        length + " bytes");
  }

  /** Queues a copy of the first {@code length} bytes of this memory to pinned memory. */
  public void readAsync(PinnedMemory to, long length, CudaStream stream) {
    checkRange(0, length);
    to.checkRange(0, length);
    check(
        JCudaDriver.cuMemcpyDtoHAsync(to.pointer(), pointer, length, stream.handle()),
        "cuMemcpyDtoHAsync",
        length + " bytes");
  }

  /**
   * Queues a copy of the first {@code length} bytes of another range to the start of this memory.
   */
  public void copyAsync(DeviceMemory from, long length, CudaStream stream) {
    checkRange(0, length);
    from.checkRange(0, length);
    check(
        JCudaDriver.cuMemcpyDtoDAsync(pointer, from.pointer, length, stream.handle()),
        "cuMemcpyDtoDAsync",
        length + " bytes");
  }

  /** Queues a fill of all bytes with {@code value}. */
  public void fillAsync(byte value, CudaStream stream) {
    check(
        JCudaDriver.cuMemsetD8Async(pointer, value, bytes, stream.handle()),
        "cuMemsetD8Async",
        bytes + " bytes");
  }

  @Override
  int destroy() {
    return JCudaDriver.cuMemFree(pointer);
  }

  private void checkRange(long offset, long length) {
    if (offset < 0 || length < 0 || length > bytes - offset) {
      throw new IndexOutOfBoundsException(
          "bytes " + offset + " to " + (offset + length) + " of device memory of " + bytes);
    }
  }
}
