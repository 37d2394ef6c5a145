package io.radixflow.lab.device;

import io.radixflow.kernels.model.GraphTensors;
import io.radixflow.kernels.model.ModelConfig;
import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.TensorType;
import io.radixflow.kernels.model.WeightSource;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Untrained weights of any shape, for benchmarks: bf16 matrices of small random values and vectors
 * of ones. They take no memory to speak of; rows repeat.
 */
final class RandomWeights implements WeightSource {

  private static final long SEED = 20260101;
  private static final int SPARE = 8191;

  private final ModelConfig config;
  private final Map<String, Tensor> tensors = new HashMap<>();

  RandomWeights(ModelConfig config) {
    this.config = config;
    Map<String, GraphTensors.Shape> shapes = GraphTensors.of(config);
    int widest = shapes.values().stream().mapToInt(GraphTensors.Shape::columns).max().orElse(0);
    ByteBuffer values = values(widest + SPARE);
    shapes.forEach(
        (name, shape) ->
            tensors.put(
                name,
                shape.vector()
                    ? new Ones(name, shape.columns())
                    : new Rows(name, shape.rows(), shape.columns(), values)));
  }

  @Override
  public ModelConfig config() {
    return config;
  }

  @Override
  public Tensor tensor(String name) {
    return tensors.get(name);
  }

  @Override
  public String fingerprint() {
    return String.format("%016x", config.hashCode());
  }

  @Override
  public void close() {}

  private static ByteBuffer values(int count) {
    SplittableRandom random = new SplittableRandom(SEED);
    ByteBuffer values = ByteBuffer.allocate(2 * count).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < count; i++) {
      float value = (float) (random.nextDouble() - 0.5) * 0.04f;
      values.putShort((short) (Float.floatToRawIntBits(value) >>> 16));
    }
    return values.flip();
  }

  /** A matrix whose rows begin at different places of the same values. */
  private record Rows(String name, int rows, int columns, ByteBuffer values) implements Tensor {
    @Override
    public TensorType type() {
      return TensorType.BF16;
    }

    @Override
    public ByteBuffer rows(int first, int count) {
      if (count != 1) {
        throw new UnsupportedOperationException("random rows are read one by one");
      }
      return values
          .slice(2 * Math.floorMod(first * 37, SPARE), 2 * columns)
          .order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public void dequantize(int row, float[] target, int offset) {
      ByteBuffer bytes = rows(row, 1);
      for (int i = 0; i < columns; i++) {
        target[offset + i] = Float.intBitsToFloat(bytes.getShort(2 * i) << 16);
      }
    }
  }

  /** A vector of ones. */
  private record Ones(String name, int columns) implements Tensor {
    @Override
    public TensorType type() {
      return TensorType.F32;
    }

    @Override
    public int rows() {
      return 1;
    }

    @Override
    public ByteBuffer rows(int first, int count) {
      throw new UnsupportedOperationException("vectors are dequantised");
    }

    @Override
    public void dequantize(int row, float[] target, int offset) {
      for (int i = 0; i < columns; i++) {
        target[offset + i] = 1;
      }
    }
  }
}
