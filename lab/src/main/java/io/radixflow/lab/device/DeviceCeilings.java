package io.radixflow.lab.device;

import io.radixflow.kernels.cuda.driver.CudaContext;
import io.radixflow.kernels.cuda.driver.CudaStream;
import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelModule;
import io.radixflow.kernels.cuda.driver.PinnedMemory;
import java.util.function.Consumer;

/**
 * The highest bandwidths of a device, in bytes per second.
 *
 * @param memory bandwidth of its memory, reads and writes together: the better result of a read and
 *     a copy
 * @param toDevice bandwidth from pinned memory
 * @param toHost bandwidth to pinned memory
 */
record DeviceCeilings(double memory, double toDevice, double toHost) {

  private static final long COPY_BYTES = 1L << 30;
  private static final long PINNED_BYTES = 256L << 20;

  /** Measures the bandwidths. */
  static DeviceCeilings measure(
      DeviceClock clock, KernelModule module, Consumer<GpuFigure> figures) {
    CudaContext context = clock.context();
    CudaStream stream = clock.stream();
    long bytes = Math.min(COPY_BYTES, context.freeMemory() / 8) & -16;
    long small = Math.min(PINNED_BYTES, bytes);
    try (DeviceMemory from = context.allocate(bytes, "a benchmark");
        DeviceMemory to = context.allocate(bytes, "a benchmark");
        PinnedMemory pinned = context.allocatePinned(small, "a benchmark")) {
      module.fillRandom(from, 1, stream);
      DeviceClock.Work read = DeviceClock.read(module, context, from, to);
      double reads = reported(figures, "device read", bytes, clock.seconds(read));
      DeviceClock.Work copy = queue -> to.copyAsync(from, bytes, queue);
      double copies = reported(figures, "device copy", 2 * bytes, clock.seconds(copy));
      DeviceClock.Work write = queue -> to.writeAsync(pinned, small, queue);
      double in = reported(figures, "host to device", small, clock.seconds(write));
      DeviceClock.Work load = queue -> to.readAsync(pinned, small, queue);
      double out = reported(figures, "device to host", small, clock.seconds(load));
      return new DeviceCeilings(Math.max(reads, copies), in, out);
    }
  }

  double bandwidth(KernelBench.Bus bus) {
    return switch (bus) {
      case MEMORY -> memory;
      case TO_DEVICE -> toDevice;
      case TO_HOST -> toHost;
    };
  }

  private static double reported(
      Consumer<GpuFigure> figures, String name, long bytes, double seconds) {
    figures.accept(new GpuFigure("ceiling", name, seconds, bytes, 0, 0));
    return bytes / seconds;
  }
}
