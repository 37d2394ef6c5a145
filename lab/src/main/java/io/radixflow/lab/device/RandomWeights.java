package io.radixflow.lab.device;

import io.radixflow.models.BlockCodes;
import io.radixflow.models.Float16;
import io.radixflow.models.GraphTensors;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import io.radixflow.models.WeightSource;
import io.radixflow.models.tensor.HeapTensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Untrained weights of any shape, for benchmarks: matrices of small random values and vectors of
 * ones. They take little memory, because rows repeat.
 */
final class RandomWeights implements WeightSource {

  private static final long SEED = 20260101;

  /** The most blocks beyond the widest row; this is the number of different rows. */
  private static final int SPARE = 8191;

  /** The approximate size of the largest weight. */
  private static final float LARGEST = 0.02f;

  /** The types that matrices may have. */
  static final Set<TensorType> TYPES =
      Collections.unmodifiableSet(
          EnumSet.of(
              TensorType.BF16, TensorType.Q8_0, TensorType.Q4_0, TensorType.Q4_K, TensorType.Q6_K));

  private final ModelConfig config;
  private final Map<String, Tensor> tensors = new HashMap<>();

  /**
   * @param type one of {@link #TYPES}
   * @throws IllegalArgumentException if a matrix has rows that are not whole blocks of the type
   */
  RandomWeights(ModelConfig config, TensorType type) {
    this.config = config;
    Map<String, GraphTensors.Shape> shapes = GraphTensors.of(config);
    int widest = 0;
    for (Map.Entry<String, GraphTensors.Shape> tensor : shapes.entrySet()) {
      int columns = tensor.getValue().columns();
      if (!tensor.getValue().vector() && columns % type.blockElements() != 0) {
        throw new IllegalArgumentException(
            String.format(
                "%s has rows of %d weights, no multiple of the %d of a block of %s",
                tensor.getKey(), columns, type.blockElements(), type));
      }
      widest = Math.max(widest, columns);
    }
    ByteBuffer values = blocks(type, widest / type.blockElements() + SPARE);
    shapes.forEach(
        (name, shape) ->
            tensors.put(
                name,
                shape.vector()
                    ? new HeapTensor(name, name, ones(shape.columns()))
                    : new Rows(name, type, shape.rows(), shape.columns(), values)));
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

  private static float[] ones(int count) {
    float[] ones = new float[count];
    Arrays.fill(ones, 1);
    return ones;
  }

  private static ByteBuffer blocks(TensorType type, int count) {
    SplittableRandom random = new SplittableRandom(SEED);
    byte[] bytes = new byte[count * type.blockBytes()];
    random.nextBytes(bytes);
    ByteBuffer values = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (int at = 0; at < bytes.length; at += type.blockBytes()) {
      switch (type) {
        case BF16 -> values.putShort(at, bf16((float) (2 * random.nextDouble() - 1) * LARGEST));
        case Q8_0 -> values.putShort(at, Float16.fromFloat(LARGEST / 128));
        case Q4_0 -> values.putShort(at, Float16.fromFloat(LARGEST / 8));
        // codes up to 15 with factors up to 63, and minima that make the mean about zero
        case Q4_K -> {
          values.putShort(at, Float16.fromFloat(LARGEST / (8 * 63)));
          values.putShort(at + Short.BYTES, Float16.fromFloat(LARGEST / 63));
        }
        // after codes of 6 bits and factors of 7 bits
        case Q6_K -> values.putShort(at + 208, Float16.fromFloat(LARGEST / (32 * 128)));
        default -> throw new IllegalArgumentException(type + " is not one of " + TYPES);
      }
    }
    return values;
  }

  private static short bf16(float value) {
    return (short) (Float.floatToRawIntBits(value) >>> 16);
  }

  /** A matrix whose rows begin at different positions of the same values. */
  private record Rows(String name, TensorType type, int rows, int columns, ByteBuffer values)
      implements Tensor {

    @Override
    public ByteBuffer rows(int first, int count) {
      int bytes = columns / type.blockElements() * type.blockBytes();
      if (count == 1) {
        return row(first, bytes);
      }
      ByteBuffer all = ByteBuffer.allocate(count * bytes).order(ByteOrder.LITTLE_ENDIAN);
      for (int i = 0; i < count; i++) {
        all.put(row(first + i, bytes));
      }
      return all.flip();
    }

    private ByteBuffer row(int number, int bytes) {
      int from = Math.floorMod(number * 37, SPARE) * type.blockBytes();
      return values.slice(from, bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public void dequantize(int row, float[] target, int offset) {
      ByteBuffer bytes = rows(row, 1);
      if (type == TensorType.BF16) {
        for (int i = 0; i < columns; i++) {
          target[offset + i] = Float.intBitsToFloat(bytes.getShort(2 * i) << 16);
        }
        return;
      }
      BlockCodes codes = new BlockCodes(type, columns);
      codes.read(bytes);
      for (int i = 0; i < columns; i++) {
        int group = i / codes.block;
        target[offset + i] = codes.codes[i] * codes.scales[group] + codes.minima[group];
      }
    }
  }
}
