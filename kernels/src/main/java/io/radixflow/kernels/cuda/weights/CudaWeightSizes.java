package io.radixflow.kernels.cuda.weights;

import io.radixflow.kernels.device.MemoryNeeds;
import io.radixflow.models.ForwardGraph;
import io.radixflow.models.Tensor;
import io.radixflow.models.WeightLoader;
import io.radixflow.models.WeightSource;
import java.util.ArrayList;
import java.util.List;

/**
 * Computes the GPU memory that weights need. It asks for the same weights as a load, but reads
 * none.
 */
public final class CudaWeightSizes implements WeightLoader<Long, Long> {

  private final WeightSource source;
  private final MemoryNeeds.Sum sum = new MemoryNeeds.Sum();
  private final UnpackedSpace unpacked = new UnpackedSpace();

  private CudaWeightSizes(WeightSource source) {
    this.source = source;
  }

  /**
   * Returns the memory for the weights, for the space to which they are unpacked, and for {@code
   * workBytes} of work space.
   */
  public static MemoryNeeds of(WeightSource source, long workBytes) {
    CudaWeightSizes sizes = new CudaWeightSizes(source);
    new ForwardGraph<>(source.config(), sizes);
    return new MemoryNeeds(
        source.config().name(), sizes.sum.sizes(), 0, workBytes + sizes.unpacked.bytes());
  }

  @Override
  public Long matrix(List<String> weights, List<String> biases) {
    List<Tensor> tensors = source.tensors(weights);
    List<FormatRun> runs = CudaWeightLoader.runs(weights.get(0), tensors);
    runs.forEach(run -> unpacked.add(weights.get(0), run, tensors.get(0).columns()));
    return add(tensors, biases, runs);
  }

  @Override
  public List<Long> matrices(List<List<String>> weights, List<List<String>> biases) {
    List<List<Tensor>> tensors = weights.stream().map(source::tensors).toList();
    WeightFormat format = WeightFormat.of(tensors.stream().flatMap(List::stream).toList());
    List<Long> bytes = new ArrayList<>();
    for (int i = 0; i < tensors.size(); i++) {
      int rows = tensors.get(i).stream().mapToInt(Tensor::rows).sum();
      List<FormatRun> run = List.of(new FormatRun(format, 0, rows));
      bytes.add(add(tensors.get(i), biases.get(i), run));
    }
    return bytes;
  }

  /** Adds a matrix. The padding after a run's last row is counted with that row's tensor. */
  private long add(List<Tensor> tensors, List<String> biases, List<FormatRun> runs) {
    int columns = tensors.get(0).columns();
    long all = 0;
    int row = 0;
    int at = 0;
    for (Tensor tensor : tensors) {
      FormatRun run = runs.get(at);
      int within = row - run.firstRow();
      int end = within + tensor.rows();
      long bytes = run.format().bytes(end, columns) - run.format().bytes(within, columns);
      sum.add(tensor.type(), (long) tensor.rows() * columns, bytes);
      all += bytes;
      row += tensor.rows();
      at += end == run.rows() ? 1 : 0;
    }
    biases.forEach(this::vector);
    return all;
  }

  @Override
  public Long vector(String name) {
    Tensor tensor = source.tensor(name);
    sum.add(tensor.type(), tensor.columns(), (long) Float.BYTES * tensor.columns());
    return (long) Float.BYTES * tensor.columns();
  }
}
