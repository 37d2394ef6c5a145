package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.cpu.kernel.ScalarKernels;
import io.radixflow.kernels.cpu.step.WorkerTeam;
import io.radixflow.kernels.cpu.weights.Panels;
import io.radixflow.kernels.cpu.weights.StackedPanels;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import io.radixflow.models.TinyModels;
import io.radixflow.models.file.ModelFile;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Repacking changes no weight. */
class PanelsTest {

  private static final int COLUMNS = 768;

  private static Tensor tensor(String name, TensorType type, int rows) {
    return new SyntheticTensor(name, type, rows, COLUMNS, 0.7f, 0f, 1);
  }

  /** Equal floats; the sign of a zero weight changes no product's sum. */
  private static void assertSame(float[] actual, float[] expected) {
    for (int i = 0; i < expected.length; i++) {
      if (actual[i] != expected[i]) {
        assertThat(actual[i]).as("column %d", i).isEqualTo(expected[i]);
      }
    }
  }

  private static void assertSameWeights(List<Tensor> tensors) {
    try (WorkerTeam team = new WorkerTeam(2)) {
      Panels panels = new PanelLoader(team, null).load(tensors);
      int columns = panels.columns();
      Floats unpacked = Floats.allocate(Panels.DEPTH * Kernels.PANEL);
      float[] scales = new float[Panels.SCALES];
      float[] expected = new float[columns];
      float[] actual = new float[columns];
      Floats own = Floats.allocate(columns);
      int row = 0;
      for (Tensor tensor : tensors) {
        for (int local = 0; local < tensor.rows(); local++, row++) {
          tensor.dequantize(local, expected, 0);
          panels.row(row, own, 0);
          own.get(0, actual, 0, columns);
          assertSame(actual, expected);
          for (int from = 0; from < columns; from += Panels.DEPTH) {
            int to = Math.min(columns, from + Panels.DEPTH);
            panels.unpack(new ScalarKernels(), row / Kernels.PANEL, from, to, unpacked, scales);
            for (int k = from; k < to; k++) {
              actual[k] = unpacked.get((k - from) * Kernels.PANEL + row % Kernels.PANEL);
            }
          }
          assertSame(actual, expected);
        }
      }
      assertThat(panels.rows()).isEqualTo(row);
    }
  }

  @ParameterizedTest
  @EnumSource(TensorType.class)
  void everyEncodingKeepsItsWeights(TensorType type) {
    assertSameWeights(List.of(tensor("a", type, 45)));
  }

  @ParameterizedTest
  @EnumSource(TensorType.class)
  void matricesStackBelowOtherEncodings(TensorType type) {
    assertSameWeights(
        List.of(tensor("a", type, 64), tensor("b", TensorType.Q8_0, 32), tensor("c", type, 7)));
  }

  @ParameterizedTest
  @EnumSource(TensorType.class)
  void everyEncodingMayBeStackedAboveEveryOther(TensorType type) {
    for (TensorType other : TensorType.values()) {
      assertSameWeights(List.of(tensor("a", type, 32), tensor("b", other, 33)));
    }
  }

  /** Tensors whose rows are not whole panels become floats together. */
  @ParameterizedTest
  @EnumSource(TensorType.class)
  void aPanelMayHaveRowsOfSeveralEncodingsInTurns(TensorType type) {
    for (TensorType other : TensorType.values()) {
      assertSameWeights(
          List.of(tensor("a", type, 7), tensor("b", other, 40), tensor("c", type, 20)));
      assertSameWeights(
          List.of(tensor("a", type, 32), tensor("b", other, 5), tensor("c", type, 20)));
    }
  }

  /** Both have nibbles with scales, but only one of them minima. */
  @Test
  void nibblesWithAndWithoutMinimaStayPanelsOfTheirOwnThatHaveIntegers() {
    List<Tensor> tensors =
        List.of(
            tensor("a", TensorType.Q4_0, 32),
            tensor("b", TensorType.Q4_1, 64),
            tensor("c", TensorType.Q4_0, 20));
    try (WorkerTeam team = new WorkerTeam(2)) {
      Panels panels = new PanelLoader(team, null).load(tensors);
      assertThat(panels).isInstanceOf(StackedPanels.class);
      assertThat(((StackedPanels) panels).parts()).isEqualTo(3);
      assertThat(panels.hasIntegers()).isTrue();
    }
    assertSameWeights(tensors);
  }

  /** A matrix is multiplied in integers as a whole or not at all. */
  @Test
  void codesAboveFloatsHaveNoIntegers() {
    try (WorkerTeam team = new WorkerTeam(2)) {
      PanelLoader loader = new PanelLoader(team, null);
      for (TensorType type : TensorType.values()) {
        boolean codes = type.blockElements() > 1 && type != TensorType.FP8;
        Tensor whole = tensor("a", type, 32);
        assertThat(loader.load(List.of(whole)).hasIntegers()).isEqualTo(codes);
        Tensor floats = tensor("b", TensorType.BF16, 32);
        assertThat(loader.load(List.of(whole, floats)).hasIntegers()).isFalse();
        Tensor part = tensor("c", type, 7);
        assertThat(loader.load(List.of(part, floats)).hasIntegers()).isFalse();
      }
    }
  }

  /** A product with one row has a kernel of its own. */
  @ParameterizedTest
  @EnumSource(TensorType.class)
  void oneRowIsMultipliedWithTheWeightsThatPanelsUnpack(TensorType type) {
    Kernels kernels = new ScalarKernels();
    float[] one = new float[COLUMNS];
    tensor("x", TensorType.F32, 1).dequantize(0, one, 0);
    Floats x = Floats.of(one);
    Floats unpacked = Floats.allocate(Panels.DEPTH * Kernels.PANEL);
    float[] scales = new float[Panels.SCALES];
    try (WorkerTeam team = new WorkerTeam(2)) {
      Panels panels = new PanelLoader(team, null).load(List.of(tensor("a", type, 45)));
      for (int panel = 0; panel < panels.count(); panel++) {
        Floats expected = Floats.allocate(Kernels.PANEL);
        for (int from = 0; from < COLUMNS; from += Panels.DEPTH) {
          panels.unpack(kernels, panel, from, from + Panels.DEPTH, unpacked, scales);
          kernels.tile(1, x, from, unpacked, 0, Panels.DEPTH, expected, 0, Kernels.PANEL);
        }
        Floats actual = Floats.allocate(3 + Kernels.PANEL);
        panels.timesVector(kernels, panel, x, actual, 3, unpacked, scales);
        assertThat(Arrays.copyOfRange(actual.toArray(), 3, actual.length()))
            .isEqualTo(expected.toArray());
      }
    }
  }

  @Test
  void tensorsWithoutWholePanelsAreStacked() {
    assertSameWeights(List.of(tensor("a", TensorType.Q4_K, 7), tensor("b", TensorType.Q6_K, 9)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"llama-k", "llama-q4_0", "llama-q4_1", "llama-q8_0", "llama3-bf16"})
  void weightsEqualTheFilesTensors(String name) {
    try (ModelFile file = ModelFile.open(TinyModels.path(name))) {
      for (String part : List.of("attn_q", "attn_k", "attn_v", "ffn_down", "ffn_up")) {
        assertSameWeights(List.of(file.tensor("blk.0." + part + ".weight")));
      }
    }
  }

  @Test
  void partsOfDifferentWidthAreRefusedByName() {
    Tensor narrow = new SyntheticTensor("narrow", TensorType.F32, 4, 8, 1f, 0f, 1);
    try (WorkerTeam team = new WorkerTeam(1)) {
      assertThatThrownBy(
              () ->
                  new PanelLoader(team, null).load(List.of(tensor("a", TensorType.F32, 4), narrow)))
          .isInstanceOf(ModelFormatException.class)
          .hasMessageContaining("narrow");
    }
  }
}
