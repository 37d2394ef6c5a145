package io.radixflow.kernels.cuda.driver;

import static io.radixflow.kernels.cuda.driver.CudaException.check;

import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/**
 * A range of device memory: an allocation, or a slice of one. Closing the allocation waits for the
 * device and frees it, slices included; closing a slice does nothing. Not thread-safe.
 */
public final class DeviceMemory extends ContextResource {

  /** A device address that can be read and set as a number. */
  private static final class DevicePointer extends CUdeviceptr {

    DevicePointer() {}

    /** An address, kept as an offset from null. */
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

  /** The address on the device; a multiple of 256 for an allocation. */
  public long address() {
    return pointer.address();
  }

  public long bytes() {
    return bytes;
  }

  /** Bytes {@code offset} to {@code offset + length}; valid as long as this is. */
  public DeviceMemory slice(long offset, long length) {
    checkRange(offset, length);
    return at(context, address() + offset, length);
  }

  /**
   * Copies a Java array, a buffer or pinned memory to the start of this; waits until it is done.
   */
  public void write(Pointer from, long length) {
    stage(from, length);
    check(JCudaDriver.cuStreamSynchronize(LEGACY), "cuStreamSynchronize", "the legacy stream");
  }

  /**
   * Begins to copy a Java array, a buffer or pinned memory to the start of this. When this returns,
   * {@code from} has been read. Bytes from pageable memory may still be on their way: the legacy
   * stream copies them, and none of our streams waits for it.
   */
  void stage(Pointer from, long length) {
    checkRange(0, length);
    check(JCudaDriver.cuMemcpyHtoD(pointer, from, length), "cuMemcpyHtoD", length + " bytes");
  }

  /** Copies the start of this to a Java array, a buffer or pinned memory; waits for it. */
  public void read(Pointer to, long length) {
    checkRange(0, length);
    check(JCudaDriver.cuMemcpyDtoH(to, pointer, length), "cuMemcpyDtoH", length + " bytes");
  }

  /** Queues a copy of pinned memory's first {@code length} bytes to the start of this. */
  public void writeAsync(PinnedMemory from, long length, CudaStream stream) {
    checkRange(0, length);
    from.checkRange(0, length);
    check(
        JCudaDriver.cuMemcpyHtoDAsync(pointer, from.pointer(), length, stream.handle()),
        "cuMemcpyHtoDAsync",
        length + " bytes");
  }

  /** Queues a copy of this memory's first {@code length} bytes to pinned memory. */
  public void readAsync(PinnedMemory to, long length, CudaStream stream) {
    checkRange(0, length);
    to.checkRange(0, length);
    check(
        JCudaDriver.cuMemcpyDtoHAsync(to.pointer(), pointer, length, stream.handle()),
        "cuMemcpyDtoHAsync",
        length + " bytes");
  }

  /** Queues a copy of another range's first {@code length} bytes to the start of this. */
  public void copyAsync(DeviceMemory from, long length, CudaStream stream) {
    checkRange(0, length);
    from.checkRange(0, length);
    check(
        JCudaDriver.cuMemcpyDtoDAsync(pointer, from.pointer, length, stream.handle()),
        "cuMemcpyDtoDAsync",
        length + " bytes");
  }

  /** Queues setting every byte. */
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
