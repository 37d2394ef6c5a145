package io.radixflow.kernels.cpu;

import io.radixflow.kernels.cpu.step.StepMemory;
import io.radixflow.kernels.device.HeapRegions;
import io.radixflow.kernels.device.MemoryNeeds;
import io.radixflow.models.ForwardGraph;
import io.radixflow.models.Tensor;
import io.radixflow.models.WeightLoader;
import io.radixflow.models.WeightSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Computes the memory that a model needs. It asks for the same weights as a load, but reads none.
 */
final class CpuMemoryNeeds implements WeightLoader<Long, Long> {

  private final WeightSource source;
  private final HeapRegions regions;
  private final boolean outside;
  private final MemoryNeeds.Sum sum = new MemoryNeeds.Sum();
  private final List<Long> held = new ArrayList<>();
  private long outsideBytes;
  private long lost;

  private CpuMemoryNeeds(WeightSource source, HeapRegions regions, boolean outside) {
    this.source = source;
    this.regions = regions;
    this.outside = outside;
  }

  /**
   * @param outside whether weights and rows are outside Java's heap, as native kernels need them
   */
  static MemoryNeeds of(WeightSource source, HeapRegions regions, boolean outside) {
    CpuMemoryNeeds needs = new CpuMemoryNeeds(source, regions, outside);
    new ForwardGraph<>(source.config(), needs);
    long rows = StepMemory.rowBytes(source.config());
    // Steps reuse the heap of the load's buffers.
    long heap = StepMemory.heapBytes(source.config()) + (outside ? 0 : rows);
    long work = Math.max(heap, needs.held()) + needs.lost + (outside ? rows : 0);
    needs.outsideBytes += outside ? rows : 0;
    return new MemoryNeeds(source.config().name(), needs.sum.sizes(), needs.outsideBytes, work);
  }

  /**
   * Returns the largest number of bytes of source tensors that a load keeps in memory at once: the
   * tensors of all matrices that are open at the same time.
   */
  private long held() {
    return held.stream()
        .sorted(Comparator.reverseOrder())
        .limit(LoadQueue.MOST_OPEN)
        .mapToLong(Long::longValue)
        .sum();
  }

  @Override
  public Long matrix(List<String> weights, List<String> biases) {
    long bytes = 0;
    for (PanelLoader.Part part : PanelLoader.plan(source.tensors(weights))) {
      for (Tensor tensor : part.tensors()) {
        long elements = (long) tensor.rows() * tensor.columns();
        sum.add(tensor.type(), elements, part.form().bytes(elements));
        outsideBytes += outside ? part.form().bytes(elements) : 0;
      }
      bytes += part.bytes();
      lost += outside ? 0 : part.lost(regions);
      held.add(part.tensors().stream().mapToLong(Tensor::heldBytes).sum());
    }
    biases.forEach(this::vector);
    return bytes;
  }

  @Override
  public Long vector(String name) {
    Tensor tensor = source.tensor(name);
    long bytes = (long) Float.BYTES * tensor.columns();
    sum.add(tensor.type(), tensor.columns(), bytes);
    outsideBytes += outside ? bytes : 0;
    return bytes;
  }
}
