package io.radixflow.kernels.cuda.pages;

import io.radixflow.kernels.cuda.driver.CudaContext;
import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelModule;
import java.util.ArrayList;
import java.util.List;

/**
 * The memory of a pool's pages or window parts, layer-first: [layer][K or V][unit][run]. It has the
 * layers whose entries the units contain, and one more unit after the last, which padding writes
 * to. A run is the part of a unit in one plane; a plane is the keys or values of one layer.
 */
final class PoolMemory implements AutoCloseable {

  private final CudaContext context;
  private final int units;
  private final List<Planes> layers;

  /**
   * The offset of each layer in a unit whose planes are contiguous, and at the end the size of the
   * unit.
   */
  private final long[] offsets;

  private final DeviceMemory memory;

  /**
   * The planes of a layer.
   *
   * @param count 2 for keys and values, 1 for keys only
   * @param runBytes bytes of a unit in each plane
   */
  record Planes(int count, long runBytes) {}

  /**
   * @param layers the layers whose entries are in this memory
   * @param what name of the memory, for messages
   */
  PoolMemory(CudaContext context, int units, List<Planes> layers, String what) {
    this.context = context;
    this.units = units;
    this.layers = List.copyOf(layers);
    offsets = new long[layers.size() + 1];
    for (int layer = 0; layer < layers.size(); layer++) {
      Planes planes = layers.get(layer);
      offsets[layer + 1] = offsets[layer] + planes.count() * planes.runBytes();
    }
    memory = context.allocate(Math.max(1, Math.multiplyExact(unitBytes(), units + 1L)), what);
  }

  int units() {
    return units;
  }

  int layers() {
    return layers.size();
  }

  /** Bytes of one unit over all layers. */
  long unitBytes() {
    return offsets[layers.size()];
  }

  /** The whole memory; at least one byte, even if it contains no layers. */
  DeviceMemory all() {
    return memory;
  }

  /**
   * All units of one plane.
   *
   * @param layer index among the layers whose entries are in this memory
   */
  DeviceMemory plane(int layer, int plane) {
    long run = layers.get(layer).runBytes();
    return memory.slice((offsets[layer] + plane * run) * (units + 1), run * (units + 1));
  }

  /** Creates a list of units to move in or out. */
  PageMoves moves(KernelModule module, int capacity) {
    List<PageMoves.Band> bands = new ArrayList<>();
    int end;
    for (int first = 0; first < layers.size(); first = end) {
      Planes planes = layers.get(first);
      end = first + 1;
      while (end < layers.size() && layers.get(end).equals(planes)) {
        end++;
      }
      long bytes = (offsets[end] - offsets[first]) * (units + 1);
      bands.add(
          new PageMoves.Band(
              memory.slice(offsets[first] * (units + 1), bytes),
              offsets[first],
              first,
              end - first,
              planes.count(),
              Math.toIntExact(planes.runBytes())));
    }
    return new PageMoves(context, module, bands, units + 1, capacity);
  }

  @Override
  public void close() {
    memory.close();
  }
}
