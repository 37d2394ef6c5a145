package io.radixflow.kernels.cuda;

import io.radixflow.models.BlockCodes;
import io.radixflow.models.Float16;
import io.radixflow.models.Float8;
import io.radixflow.models.GraphTensors;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import io.radixflow.models.WeightSource;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Random weights for a small model. Each layer uses another type of file. */
final class SelfTestWeights implements WeightSource {

  /** The types. A matrix whose rows are not whole blocks is bf16 instead. */
  static final List<TensorType> TYPES =
      List.of(
          TensorType.BF16,
          TensorType.Q8_0,
          TensorType.Q4_0,
          TensorType.Q4_1,
          TensorType.Q4_K,
          TensorType.Q5_K,
          TensorType.Q6_K,
          TensorType.Q2_K,
          TensorType.IQ4_NL,
          TensorType.MXFP4,
          TensorType.FP8);

  private final ModelConfig config;
  private final Map<String, Tensor> tensors = new HashMap<>();

  SelfTestWeights(ModelConfig config, long seed) {
    this.config = config;
    SplittableRandom random = new SplittableRandom(seed);
    GraphTensors.of(config)
        .forEach(
            (name, shape) -> {
              TensorType type = shape.vector() ? TensorType.F32 : type(name, shape.columns());
              tensors.put(name, RandomTensor.of(name, type, shape.rows(), shape.columns(), random));
            });
  }

  private static TensorType type(String name, int columns) {
    if (!name.startsWith("blk.")) {
      return TensorType.BF16;
    }
    int layer = Integer.parseInt(name.substring(4, name.indexOf('.', 4)));
    TensorType type = TYPES.get(layer % TYPES.size());
    return columns % type.blockElements() == 0 ? type : TensorType.BF16;
  }

  @Override
  public ModelConfig config() {
    return config;
  }

  @Override
  public Tensor tensor(String name) {
    Tensor tensor = tensors.get(name);
    if (tensor == null) {
      throw new ModelFormatException("no tensor " + name);
    }
    return tensor;
  }

  @Override
  public String fingerprint() {
    return String.format("%016x", config.hashCode());
  }

  @Override
  public void close() {}

  /** A tensor of random blocks. */
  private record RandomTensor(String name, TensorType type, int rows, int columns, ByteBuffer all)
      implements Tensor {

    static RandomTensor of(
        String name, TensorType type, int rows, int columns, SplittableRandom random) {
      int blocks = rows * (columns / type.blockElements());
      ByteBuffer all =
          ByteBuffer.allocate(blocks * type.blockBytes()).order(ByteOrder.LITTLE_ENDIAN);
      float most = rows == 1 ? 0.3f : (float) (3 / Math.sqrt(columns));
      boolean gain = name.endsWith("norm.weight");
      for (int block = 0; block < blocks; block++) {
        fill(all, block * type.blockBytes(), type, most, gain ? 1 : 0, random);
      }
      return new RandomTensor(name, type, rows, columns, all);
    }

    private static void fill(
        ByteBuffer out,
        int at,
        TensorType type,
        float most,
        float centre,
        SplittableRandom random) {
      for (int i = 0; i < type.blockBytes(); i++) {
        // Neither mask allows a byte that is NaN in E4M3.
        out.put(at + i, (byte) (random.nextInt() & (random.nextBoolean() ? 0xfe : 0xfb)));
      }
      float value = centre + most * (2 * random.nextFloat() - 1);
      float unit = most * (1 + random.nextFloat()) / 2;
      switch (type) {
        case F32 -> out.putFloat(at, value);
        case BF16 -> out.putShort(at, (short) (Float.floatToRawIntBits(value) >>> 16));
        case Q8_0, IQ4_NL -> half(out, at, unit / 127);
        case Q4_0 -> half(out, at, unit / 8);
        case Q4_1 -> {
          half(out, at, unit / 8);
          half(out, at + 2, -unit);
        }
        case Q4_K, Q5_K -> {
          half(out, at, unit / 500);
          half(out, at + 2, unit / 31);
        }
        case Q6_K -> half(out, at + 208, unit / 2000);
        case Q2_K -> {
          half(out, at + 80, unit / 45);
          half(out, at + 82, unit / 15);
        }
        case MXFP4 -> out.put(at, (byte) (124 + Math.getExponent(unit)));
        case FP8 -> out.putFloat(at, unit / 448);
        default -> throw new IllegalArgumentException("no random " + type);
      }
    }

    private static void half(ByteBuffer out, int at, float value) {
      out.putShort(at, Float16.fromFloat(value));
    }

    @Override
    public ByteBuffer rows(int first, int count) {
      int rowBytes = columns / type.blockElements() * type.blockBytes();
      return all.slice(first * rowBytes, count * rowBytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public void dequantize(int row, float[] target, int offset) {
      ByteBuffer bytes = rows(row, 1);
      if (type == TensorType.F32) {
        bytes.asFloatBuffer().get(target, offset, columns);
        return;
      }
      if (type == TensorType.BF16) {
        for (int i = 0; i < columns; i++) {
          target[offset + i] = Float.intBitsToFloat(bytes.getShort(2 * i) << 16);
        }
        return;
      }
      BlockCodes codes = new BlockCodes(type, columns);
      codes.read(bytes);
      for (int i = 0; i < columns; i++) {
        byte code = codes.codes[i];
        float value = type == TensorType.FP8 ? Float8.toFloat(code) : code;
        int block = i / codes.block;
        target[offset + i] = Math.fma(value, codes.scales[block], codes.minima[block]);
      }
    }
  }
}
