package io.radixflow.kernels.cuda.weights;

import io.radixflow.kernels.cuda.driver.CudaContext;
import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.model.ModelConfig;
import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.WeightLoader;
import io.radixflow.kernels.model.WeightSource;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts a model's weights on the device, in a {@link WeightFormat}, vectors as floats. The host
 * holds one staging buffer at a time, whatever the model's size; the memory is the context's.
 */
public final class CudaWeightLoader implements WeightLoader<CudaMatrix, DeviceMemory> {

  private static final Logger LOG = LoggerFactory.getLogger(CudaWeightLoader.class);
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
    List<Tensor> tensors = tensors(weights);
    boolean gated = name.endsWith("ffn_gate.weight");
    WeightRowOrder order = order(name, tensors, gated);
    WeightFormat format = WeightFormat.of(tensors);
    DeviceMemory memory =
        context.allocate(format.bytes(order.rows(), order.columns()), "weights " + name);
    staging.to(memory);
    stream.send(order, format);
    report(name, memory.bytes());
    DeviceMemory bias =
        biases.isEmpty() ? null : floats(biases.get(0), order.vector(tensors(biases)));
    CudaMatrix matrix = new CudaMatrix(format, memory, bias, order.rows(), order.columns(), gated);
    if (name.equals("output.weight") || name.equals("token_embd.weight") && output == null) {
      output = matrix;
    }
    return matrix;
  }

  private WeightRowOrder order(String name, List<Tensor> tensors, boolean gated) {
    if (gated) {
      return WeightRowOrder.interleaved(tensors.get(0), tensors.get(1));
    }
    if (name.endsWith("attn_q.weight") && config.rope().interleaved()) {
      return WeightRowOrder.unpaired(
          tensors.get(0), tensors.get(1), tensors.get(2), config.headDim());
    }
    return WeightRowOrder.stacked(tensors);
  }

  private List<Tensor> tensors(List<String> names) {
    List<Tensor> tensors = new ArrayList<>();
    for (String name : names) {
      tensors.add(source.tensor(name));
    }
    return tensors;
  }

  @Override
  public DeviceMemory vector(String name) {
    Tensor tensor = source.tensor(name);
    float[] values = new float[tensor.columns()];
    tensor.dequantize(0, values, 0);
    return floats(name, values);
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
