package io.radixflow.kernels.cuda.pages;

import io.radixflow.kernels.cuda.driver.CudaContext;
import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelModule;

/**
 * The memory of a pool's pages, or of its window parts, layer-first: [layer][K or V][unit][run],
 * with the layers whose entries the units have and one unit beyond the last, which padding writes
 * to. A run is what a unit has in one plane, which is one layer's keys or values.
 */
final class PoolMemory implements AutoCloseable {

  private final CudaContext context;
  private final int units;
  private final int layers;
  private final int planes;
  private final long runBytes;
  private final DeviceMemory memory;

  /**
   * @param planes planes of a layer: keys and values, or keys alone
   * @param runBytes bytes of a unit in one plane
   * @param what the memory, for messages
   */
  PoolMemory(CudaContext context, int units, int layers, int planes, long runBytes, String what) {
    this.context = context;
    this.units = units;
    this.layers = layers;
    this.planes = planes;
    this.runBytes = runBytes;
    long bytes = Math.multiplyExact((long) planes * layers * runBytes, units + 1L);
    memory = context.allocate(Math.max(1, bytes), what);
  }

  int units() {
    return units;
  }

  /** Bytes of one unit over all layers. */
  long unitBytes() {
    return planes * layers * runBytes;
  }

  /** All of it; a byte if no layer has its entries here. */
  DeviceMemory all() {
    return memory;
  }

  /**
   * All units of one plane.
   *
   * @param layer counts the layers that have their entries here
   */
  DeviceMemory plane(int layer, int plane) {
    long bytes = (units + 1) * runBytes;
    return memory.slice(((long) planes * layer + plane) * bytes, bytes);
  }

  /** A list of units to move in or out. */
  PageMoves moves(KernelModule module, int capacity) {
    return new PageMoves(
        context, module, memory, units + 1, planes, Math.toIntExact(runBytes), capacity);
  }

  @Override
  public void close() {
    memory.close();
  }
}
