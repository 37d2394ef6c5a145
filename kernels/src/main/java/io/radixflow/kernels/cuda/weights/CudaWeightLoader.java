package io.radixflow.kernels.cuda.weights;

import io.radixflow.kernels.cuda.driver.CudaContext;
import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.models.Attention.Grouped;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.Tensor;
import io.radixflow.models.WeightLoader;
import io.radixflow.models.WeightSource;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads a model's weights onto the device: matrices in a {@link WeightFormat}, vectors as floats.
 * The host needs only staging buffers of fixed size, whatever the model's size. The context owns
 * the memory.
 */
public final class CudaWeightLoader implements WeightLoader<CudaMatrix, DeviceMemory> {

  private static final Logger LOG = LoggerFactory.getLogger(CudaWeightLoader.class);

  /** Gate projections of an MLP, of a numbered expert and of the shared expert. */
  private static final Pattern GATE =
      Pattern.compile("blk\\.\\d+\\.ffn_gate(\\.\\d+|_shexp)?\\.weight");

  private static final long REPORT_NANOS = 2_000_000_000L;

  private final WeightSource source;
  private final ModelConfig config;
  private final CudaContext context;
  private final StagingBlocks staging;
  private final WeightStream stream;
  private final UnpackedSpace unpacked = new UnpackedSpace();
  private long bytes;
  private CudaMatrix output;
  private long reported = System.nanoTime();

  public CudaWeightLoader(WeightSource source, CudaContext context, StagingBlocks staging) {
    this.source = source;
    this.config = source.config();
    this.context = context;
    this.staging = staging;
    stream = new WeightStream(staging);
  }

  /** Bytes loaded so far. */
  public long bytes() {
    return bytes;
  }

  /** Bytes of the space to which the quantised matrices are unpacked, one after another. */
  public long unpackedBytes() {
    return unpacked.bytes();
  }

  /**
   * The matrix that computes logits: the output matrix, or the embedding if the model has no output
   * matrix.
   */
  public CudaMatrix output() {
    return output;
  }

  @Override
  public CudaMatrix matrix(List<String> weights, List<String> biases) {
    String name = weights.get(0);
    List<Tensor> tensors = source.tensors(weights);
    WeightRowOrder order = order(name, tensors);
    DeviceMemory bias = biases.isEmpty() ? null : floats(biases.get(0), order.rows());
    List<FormatRun> runs = runs(name, tensors);
    CudaMatrix matrix = null;
    for (int i = runs.size() - 1; i >= 0; i--) {
      FormatRun run = runs.get(i);
      DeviceMemory memory = context.allocate(run.bytes(order.columns()), "weights " + name);
      send(name, order, run, memory);
      unpacked.add(name, run, order.columns());
      matrix = matrix(name, order, run, memory, bias, matrix);
    }
    send(biases, order, bias);
    if (name.equals("output.weight") || name.equals("token_embd.weight") && output == null) {
      output = matrix;
    }
    return matrix;
  }

  /** The parts of a matrix. Gate and up projection, which alternate, are one part. */
  static List<FormatRun> runs(String name, List<Tensor> tensors) {
    if (!GATE.matcher(name).matches()) {
      return FormatRun.of(name, tensors);
    }
    int rows = tensors.stream().mapToInt(Tensor::rows).sum();
    return List.of(new FormatRun(WeightFormat.of(tensors), 0, rows));
  }

  /**
   * The matrices are contiguous and have one format, so that kernels find each matrix by its
   * number.
   */
  @Override
  public List<CudaMatrix> matrices(List<List<String>> weights, List<List<String>> biases) {
    List<Tensor> tensors = new ArrayList<>();
    weights.forEach(names -> tensors.addAll(source.tensors(names)));
    WeightFormat format = WeightFormat.of(tensors);
    String name = weights.get(0).get(0);
    WeightRowOrder order = order(name, source.tensors(weights.get(0)));
    long bytes = format.bytes(order.rows(), order.columns());
    DeviceMemory all =
        context.allocate(Math.multiplyExact(bytes, weights.size()), "weights " + name);
    int rows = order.rows();
    DeviceMemory allBiases =
        biases.get(0).isEmpty()
            ? null
            : floats(biases.get(0).get(0), Math.multiplyExact(rows, weights.size()));
    List<CudaMatrix> matrices = new ArrayList<>();
    for (int i = 0; i < weights.size(); i++) {
      DeviceMemory bias =
          allBiases == null
              ? null
              : allBiases.slice((long) i * rows * Float.BYTES, (long) rows * Float.BYTES);
      DeviceMemory memory = all.slice(i * bytes, bytes);
      FormatRun run = new FormatRun(format, 0, rows);
      WeightRowOrder own = order(weights.get(i).get(0), source.tensors(weights.get(i)));
      send(weights.get(i).get(0), own, run, memory);
      send(biases.get(i), own, bias);
      matrices.add(matrix(name, own, run, memory, bias, null));
    }
    return matrices;
  }

  private DeviceMemory floats(String name, int count) {
    return context.allocate((long) count * Float.BYTES, name);
  }

  private void send(String name, WeightRowOrder order, FormatRun run, DeviceMemory memory) {
    staging.to(memory);
    stream.send(order, run);
    report(name, memory.bytes());
  }

  private void send(List<String> biases, WeightRowOrder order, DeviceMemory memory) {
    if (memory != null) {
      staging.to(memory).sendFloats(order.vector(source.tensors(biases)));
      report(biases.get(0), memory.bytes());
    }
  }

  /**
   * @param bias the biases of all rows of the stack, or null
   */
  private static CudaMatrix matrix(
      String name,
      WeightRowOrder order,
      FormatRun run,
      DeviceMemory memory,
      DeviceMemory bias,
      CudaMatrix below) {
    DeviceMemory own =
        bias == null
            ? null
            : bias.slice((long) run.firstRow() * Float.BYTES, (long) run.rows() * Float.BYTES);
    boolean gated = GATE.matcher(name).matches();
    return new CudaMatrix(run.format(), memory, own, run.rows(), order.columns(), gated, below);
  }

  private WeightRowOrder order(String name, List<Tensor> tensors) {
    if (GATE.matcher(name).matches()) {
      return WeightRowOrder.interleaved(tensors.get(0), tensors.get(1));
    }
    HeadOrder heads = name.endsWith("attn_q.weight") ? heads(name) : null;
    return heads == null || heads.isPlain()
        ? WeightRowOrder.stacked(tensors)
        : WeightRowOrder.ofHeads(tensors.get(0), tensors.get(1), tensors.get(2), heads);
  }

  /** The head order of the layer to which a tensor {@code blk.N.*} belongs, or null. */
  private HeadOrder heads(String name) {
    int layer = Integer.parseInt(name.substring(4, name.indexOf('.', 4)));
    return config.layer(layer).attention() instanceof Grouped grouped
        ? HeadOrder.of(grouped.rope(), grouped.headDim())
        : null;
  }

  @Override
  public DeviceMemory vector(String name) {
    Tensor tensor = source.tensor(name);
    float[] values = new float[tensor.columns()];
    FiniteDeviceRows.read(tensor, 0, values);
    if (name.endsWith("attn_q_norm.weight") || name.endsWith("attn_k_norm.weight")) {
      values = inOrder(values, heads(name));
    }
    return floats(name, values);
  }

  /** Reorders the gains of one head, or of several stacked heads. */
  private static float[] inOrder(float[] gains, HeadOrder heads) {
    if (heads == null || heads.isPlain()) {
      return gains;
    }
    float[] ordered = new float[gains.length];
    for (int i = 0; i < gains.length; i++) {
      int element = i % heads.headDim();
      ordered[i] = gains[i - element + heads.source(element)];
    }
    return ordered;
  }

  private DeviceMemory floats(String name, float[] values) {
    DeviceMemory memory = context.allocate((long) values.length * Float.BYTES, name);
    staging.to(memory).sendFloats(values);
    report(name, memory.bytes());
    return memory;
  }

  private void report(String name, long loaded) {
    bytes += loaded;
    long now = System.nanoTime();
    if (now - reported > REPORT_NANOS) {
      reported = now;
      LOG.info("Loading weights: {} MB so far ({})", bytes >> 20, name);
    }
  }
}
