package io.radixflow.kernels.cuda.weights;

import io.radixflow.kernels.device.MemoryNeeds;
import io.radixflow.kernels.model.ForwardGraph;
import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.WeightLoader;
import io.radixflow.kernels.model.WeightSource;
import java.util.List;

/** Adds up what weights take of a GPU's memory: asks for them as a load does, and reads none. */
public final class CudaWeightSizes implements WeightLoader<Long, Long> {

  private final WeightSource source;
  private final MemoryNeeds.Sum sum = new MemoryNeeds.Sum();

  private CudaWeightSizes(WeightSource source) {
    this.source = source;
  }

  /** What the weights take beside so many bytes of work space. */
  public static MemoryNeeds of(WeightSource source, long workBytes) {
    CudaWeightSizes sizes = new CudaWeightSizes(source);
    new ForwardGraph<>(source.config(), sizes);
    return new MemoryNeeds(source.config().name(), sizes.sum.sizes(), workBytes);
  }

  @Override
  public Long matrix(List<String> weights, List<String> biases) {
    List<Tensor> tensors = source.tensors(weights);
    WeightFormat format = WeightFormat.of(weights.get(0), tensors);
    long bytes = 0;
    for (Tensor tensor : tensors) {
      long own = format.bytes(tensor.rows(), tensor.columns());
      sum.add(tensor.type(), (long) tensor.rows() * tensor.columns(), own);
      bytes += own;
    }
    biases.forEach(this::vector);
    return bytes;
  }

  @Override
  public Long vector(String name) {
    Tensor tensor = source.tensor(name);
    sum.add(tensor.type(), tensor.columns(), (long) Float.BYTES * tensor.columns());
    return (long) Float.BYTES * tensor.columns();
  }
}
