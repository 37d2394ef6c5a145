package io.radixflow.kernels.cpu;

import io.radixflow.models.ModelConfig;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import io.radixflow.models.WeightSource;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The weights of a model, all widened to floats. */
record FloatWeights(WeightSource narrow) implements WeightSource {

  @Override
  public ModelConfig config() {
    return narrow.config();
  }

  @Override
  public Tensor tensor(String name) {
    return new Floats(narrow.tensor(name));
  }

  @Override
  public String fingerprint() {
    return narrow.fingerprint() + " in floats";
  }

  @Override
  public void close() {}

  private record Floats(Tensor narrow) implements Tensor {

    @Override
    public String name() {
      return narrow.name();
    }

    @Override
    public TensorType type() {
      return TensorType.F32;
    }

    @Override
    public int rows() {
      return narrow.rows();
    }

    @Override
    public int columns() {
      return narrow.columns();
    }

    @Override
    public ByteBuffer rows(int first, int count) {
      float[] row = new float[columns()];
      ByteBuffer floats = ByteBuffer.allocate(count * columns() * Float.BYTES);
      floats.order(ByteOrder.LITTLE_ENDIAN);
      for (int i = 0; i < count; i++) {
        narrow.dequantize(first + i, row, 0);
        for (float value : row) {
          floats.putFloat(value);
        }
      }
      return floats.flip();
    }

    @Override
    public void dequantize(int row, float[] target, int offset) {
      narrow.dequantize(row, target, offset);
    }
  }
}
