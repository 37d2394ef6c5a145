package io.radixflow.kernels.cuda.weights;

import io.radixflow.kernels.cuda.driver.CudaContext;
import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.model.Attention.Grouped;
import io.radixflow.kernels.model.ModelConfig;
import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.WeightLoader;
import io.radixflow.kernels.model.WeightSource;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts a model's weights on the device, in a {@link WeightFormat}, vectors as floats. The host
 * holds one staging buffer at a time, whatever the model's size; the memory is the context's.
 */
public final class CudaWeightLoader implements WeightLoader<CudaMatrix, DeviceMemory> {

  private static final Logger LOG = LoggerFactory.getLogger(CudaWeightLoader.class);

  /** Gate projections: of an MLP, of a numbered expert, of the expert that every row has. */
  private static final Pattern GATE =
      Pattern.compile("blk\\.\\d+\\.ffn_gate(\\.\\d+|_shexp)?\\.weight");

  private static final long REPORT_NANOS = 2_000_000_000L;

  private final WeightSource source;
  private final ModelConfig config;
  private final CudaContext context;
  private final StagingBlocks staging;
  private final WeightStream stream;
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

  /** The matrix that makes logits; that of the embedding in a model that has no other. */
  public CudaMatrix output() {
    return output;
  }

  @Override
  public CudaMatrix matrix(List<String> weights, List<String> biases) {
    String name = weights.get(0);
    List<Tensor> tensors = source.tensors(weights);
    WeightFormat format = WeightFormat.of(name, tensors);
    WeightRowOrder order = order(name, tensors);
    DeviceMemory memory =
        context.allocate(format.bytes(order.rows(), order.columns()), "weights " + name);
    DeviceMemory bias = biases.isEmpty() ? null : floats(biases.get(0), order.rows());
    CudaMatrix matrix = load(weights, biases, format, memory, bias);
    if (name.equals("output.weight") || name.equals("token_embd.weight") && output == null) {
      output = matrix;
    }
    return matrix;
  }

  /**
   * The matrices lie one behind another, all in one form, so that kernels find each by its number.
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
      matrices.add(load(weights.get(i), biases.get(i), format, memory, bias));
    }
    return matrices;
  }

  private DeviceMemory floats(String name, int count) {
    return context.allocate((long) count * Float.BYTES, name);
  }

  private CudaMatrix load(
      List<String> weights,
      List<String> biases,
      WeightFormat format,
      DeviceMemory memory,
      DeviceMemory bias) {
    String name = weights.get(0);
    WeightRowOrder order = order(name, source.tensors(weights));
    staging.to(memory);
    stream.send(order, format);
    report(name, memory.bytes());
    if (bias != null) {
      staging.to(bias).sendFloats(order.vector(source.tensors(biases)));
      report(biases.get(0), bias.bytes());
    }
    boolean gated = GATE.matcher(name).matches();
    return new CudaMatrix(format, memory, bias, order.rows(), order.columns(), gated);
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

  /** The order of the heads of the layer that a tensor {@code blk.N.*} belongs to, or null. */
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
    tensor.dequantize(0, values, 0);
    if (name.endsWith("attn_q_norm.weight") || name.endsWith("attn_k_norm.weight")) {
      values = inOrder(values, heads(name));
    }
    return floats(name, values);
  }

  /** The gains of one head, or of several below each other. */
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
