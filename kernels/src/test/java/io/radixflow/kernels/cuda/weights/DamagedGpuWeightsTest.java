package io.radixflow.kernels.cuda.weights;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.cpu.DamagedTensor;
import io.radixflow.kernels.cpu.SyntheticTensor;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Weights that are no finite numbers are refused by name before they reach a GPU. */
class DamagedGpuWeightsTest {
  private static final int ROWS = 40;

  private static Tensor damaged(TensorType type) {
    String name = "blk.3.ffn_up.weight";
    return new DamagedTensor(new SyntheticTensor(name, type, ROWS, 512, 0.7f, 0f, 1), (byte) 0xff);
  }

  @ParameterizedTest
  @EnumSource(TensorType.class)
  void aScaleOrWeightThatIsNoNumberIsRefusedWithTensorAndRow(TensorType type) {
    assertThatThrownBy(() -> WeightMemory.packed(damaged(type)))
        .isInstanceOf(ModelFormatException.class)
        .hasMessageContaining("tensor blk.3.ffn_up.weight: row " + DamagedTensor.ROW)
        .hasMessageContaining("the file is corrupt");
  }

  @Test
  void aRowOfFloatsThatIsNoNumberIsRefusedWithTheTensor() {
    Tensor router = damaged(TensorType.F32);
    assertThatThrownBy(() -> FiniteDeviceRows.read(router, DamagedTensor.ROW, new float[512]))
        .isInstanceOf(ModelFormatException.class)
        .hasMessageContaining("has a weight or scale of NaN");
  }
}
