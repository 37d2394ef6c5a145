package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.step.WorkerTeam;
import io.radixflow.kernels.cpu.weights.Panels;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StackedRowsTest {

  private static Tensor tensor(TensorType type, int rows, int columns) {
    return new SyntheticTensor("t" + rows, type, rows, columns, 0.7f, 0f, rows);
  }

  private static int run(StackedRows rows, int row) {
    return rows.run(row, 32, ByteBuffer.allocate(0)).remaining();
  }

  @Test
  void aRunEndsWithItsTensorOrAtAMebibyte() {
    StackedRows narrow =
        new StackedRows(List.of(tensor(TensorType.Q8_0, 40, 32), tensor(TensorType.Q8_0, 9, 32)));
    assertThat(run(narrow, 3)).isEqualTo(32 * 34);
    assertThat(run(narrow, 30)).isEqualTo(10 * 34);
    assertThat(run(new StackedRows(List.of(tensor(TensorType.F32, 40, 1 << 14))), 0))
        .isEqualTo(1 << 20);
    assertThat(run(new StackedRows(List.of(tensor(TensorType.F32, 2, 1 << 19))), 0))
        .isEqualTo(1 << 21);
  }

  @Test
  void aBufferThatIsLargeEnoughIsUsedAgain() {
    StackedRows rows = new StackedRows(List.of(tensor(TensorType.Q8_0, 40, 32)));
    ByteBuffer first = rows.run(0, 32, ByteBuffer.allocate(0));
    assertThat(rows.run(32, 32, first)).isSameAs(first);
    assertThat(first.remaining()).isEqualTo(8 * 34);
  }

  @ParameterizedTest
  @EnumSource(TensorType.class)
  void aPanelHasRowsOfSeveralTensorsAndOfSeveralRuns(TensorType type) {
    assertSameWeights(List.of(tensor(type, 7, 256), tensor(type, 5, 256), tensor(type, 45, 256)));
    assertSameWeights(List.of(tensor(type, 20, 1 << 16), tensor(type, 20, 1 << 16)));
  }

  private static void assertSameWeights(List<Tensor> tensors) {
    try (WorkerTeam team = new WorkerTeam(2)) {
      Panels panels = new PanelLoader(team, null).load(tensors);
      float[] expected = new float[panels.columns()];
      Floats actual = Floats.allocate(panels.columns());
      int row = 0;
      for (Tensor tensor : tensors) {
        for (int local = 0; local < tensor.rows(); local++, row++) {
          tensor.dequantize(local, expected, 0);
          panels.row(row, actual, 0);
          for (int k = 0; k < expected.length; k++) {
            if (actual.get(k) != expected[k]) {
              assertThat(actual.get(k)).as("row %d, column %d", row, k).isEqualTo(expected[k]);
            }
          }
        }
      }
      assertThat(panels.rows()).isEqualTo(row);
    }
  }
}
