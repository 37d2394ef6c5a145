package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.model.ModelFormatException;
import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Weights that are no finite numbers are refused by name when they are loaded. */
class DamagedWeightsTest {
  private static final int ROWS = 40;
  private static final int DAMAGED = 37;

  /** A tensor of which one row has all bits set. */
  private record Damaged(Tensor whole, byte with) implements Tensor {
    @Override
    public String name() {
      return whole.name();
    }

    @Override
    public TensorType type() {
      return whole.type();
    }

    @Override
    public int rows() {
      return whole.rows();
    }

    @Override
    public int columns() {
      return whole.columns();
    }

    @Override
    public ByteBuffer rows(int first, int count) {
      ByteBuffer source = whole.rows(first, count);
      ByteBuffer copy = ByteBuffer.allocate(source.remaining()).order(ByteOrder.LITTLE_ENDIAN);
      copy.put(source);
      if (first == DAMAGED) {
        for (int i = 0; i < copy.capacity(); i++) {
          copy.put(i, with);
        }
      }
      return copy.flip();
    }

    @Override
    public void dequantize(int row, float[] target, int offset) {
      whole.dequantize(row, target, offset);
      if (row == DAMAGED) {
        target[offset + 5] = Float.NaN;
      }
    }
  }

  @ParameterizedTest
  @EnumSource(TensorType.class)
  void aScaleOrWeightThatIsNoNumberIsRefusedWithTensorAndRow(TensorType type) {
    Tensor whole = new SyntheticTensor("blk.3.ffn_up.weight", type, ROWS, 512, 0.7f, 0f, 1);
    try (WorkerTeam team = new WorkerTeam(2)) {
      assertThatThrownBy(() -> new PanelLoader(team).load(List.of(new Damaged(whole, (byte) 0xff))))
          .isInstanceOf(ModelFormatException.class)
          .hasMessageContaining("tensor blk.3.ffn_up.weight: row " + DAMAGED)
          .hasMessageContaining("the file is corrupt");
    }
  }
}
