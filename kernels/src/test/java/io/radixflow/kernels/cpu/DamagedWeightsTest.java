package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.cpu.step.WorkerTeam;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Weights that are no finite numbers are refused by name when they are loaded. */
class DamagedWeightsTest {
  private static final int ROWS = 40;

  @ParameterizedTest
  @EnumSource(TensorType.class)
  void aScaleOrWeightThatIsNoNumberIsRefusedWithTensorAndRow(TensorType type) {
    Tensor whole = new SyntheticTensor("blk.3.ffn_up.weight", type, ROWS, 512, 0.7f, 0f, 1);
    try (WorkerTeam team = new WorkerTeam(2)) {
      assertThatThrownBy(
              () ->
                  new PanelLoader(team, null).load(List.of(new DamagedTensor(whole, (byte) 0xff))))
          .isInstanceOf(ModelFormatException.class)
          .hasMessageContaining("tensor blk.3.ffn_up.weight: row " + DamagedTensor.ROW)
          .hasMessageContaining("the file is corrupt");
    }
  }
}
