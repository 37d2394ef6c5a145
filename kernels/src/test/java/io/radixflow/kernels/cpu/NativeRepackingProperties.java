package io.radixflow.kernels.cpu;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.radixflow.kernels.cpu.kernel.CompiledKernels;
import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.cpu.kernel.NativeMemory;
import io.radixflow.kernels.cpu.kernel.ScalarKernels;
import io.radixflow.kernels.cpu.step.WorkerTeam;
import io.radixflow.kernels.cpu.weights.NativePanels;
import io.radixflow.kernels.cpu.weights.PanelForm;
import io.radixflow.kernels.cpu.weights.Panels;
import io.radixflow.kernels.cpu.weights.StackedPanels;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.lifecycle.BeforeTry;

/** Native code makes panels with the weights of Java's panels, bit for bit, of every encoding. */
class NativeRepackingProperties {

  private static final Kernels SCALAR = new ScalarKernels();

  private NativeKernels fast;

  @BeforeTry
  void needsTheLibrary() {
    assumeThat(NativeKernels.fastest()).isPresent();
    fast = new NativeKernels(NativeKernels.fastest().orElseThrow());
  }

  @Property(tries = 400)
  void panelsAreThoseOfJava(
      @ForAll TensorType type,
      @ForAll @Size(min = 1, max = 3) List<@IntRange(min = 1, max = 70) Integer> rows,
      @ForAll @IntRange(min = 1, max = 5) int units,
      @ForAll long seed) {
    int columns = type.blockElements() == 1 ? 37 * units : 256 * units;
    List<Tensor> tensors = new ArrayList<>();
    for (int i = 0; i < rows.size(); i++) {
      tensors.add(new SyntheticTensor("t" + i, type, rows.get(i), columns, 0.7f, 0f, seed + i));
    }
    try (WorkerTeam team = new WorkerTeam(2)) {
      assertSame(
          new PanelLoader(team, fast).load(tensors), new PanelLoader(team, null).load(tensors));
    }
  }

  @Example
  void rowsThatAreTooLongForNativeCodeAreLeftToJava() {
    for (TensorType type : List.of(TensorType.Q4_0, TensorType.F16)) {
      int blocks = StackedRows.RUN_BYTES / type.blockBytes() + 1;
      List<Tensor> tensors =
          List.of(new SyntheticTensor("t", type, 2, blocks * type.blockElements(), 0.7f, 0f, 1));
      try (WorkerTeam team = new WorkerTeam(1)) {
        Panels expected = new PanelLoader(team, null).load(tensors);
        assertSameRows(new PanelLoader(team, fast).load(tensors), expected);
      }
    }
  }

  @Property(tries = 100)
  void typesOfOneFormShareAPanel(
      @ForAll @IntRange(min = 1, max = 40) int first, @ForAll long seed) {
    for (TensorType[] pair :
        new TensorType[][] {
          {TensorType.Q8_0, TensorType.IQ4_NL}, {TensorType.Q3_K, TensorType.Q6_K}
        }) {
      List<Tensor> tensors =
          List.of(
              new SyntheticTensor("a", pair[0], first, 256, 0.7f, 0f, seed),
              new SyntheticTensor("b", pair[1], 33, 256, 0.7f, 0f, seed));
      try (WorkerTeam team = new WorkerTeam(1)) {
        assertSame(
            new PanelLoader(team, fast).load(tensors), new PanelLoader(team, null).load(tensors));
      }
    }
  }

  /** Bytes at random make scales of every kind, also such as are not finite. */
  @Property(tries = 400)
  void rowsOfAnyBytesAreTakenOrRefusedAsByJava(
      @ForAll TensorType type,
      @ForAll long seed,
      @ForAll @Size(min = 1, max = 300) byte[] pattern) {
    Tensor whole = new SyntheticTensor("t", type, 40, 512, 0.7f, 0f, seed);
    Tensor damaged = new DamagedTensor(whole, pattern);
    try (WorkerTeam team = new WorkerTeam(1)) {
      Panels expected;
      try {
        expected = new PanelLoader(team, null).load(List.of(damaged));
      } catch (ModelFormatException e) {
        assertThatThrownBy(() -> new PanelLoader(team, fast).load(List.of(damaged)))
            .isInstanceOf(ModelFormatException.class)
            .hasMessage(e.getMessage());
        return;
      }
      assertSame(new PanelLoader(team, fast).load(List.of(damaged)), expected);
    }
  }

  @Property(tries = 200)
  void noBytesBeyondABufferOrPanelAreTouched(
      @ForAll @IntRange(min = 1, max = 32) int rows, @ForAll @IntRange(max = 4) int wrong) {
    int bytes = rows * 2 * TensorType.Q4_0.blockBytes();
    ByteBuffer buffer = ByteBuffer.allocateDirect(wrong == 0 ? bytes - 1 : bytes);
    TensorType type = wrong == 1 ? TensorType.Q4_1 : TensorType.Q4_0;
    int panel = wrong == 2 ? 2 : 1;
    int lane = wrong == 3 ? 33 - rows : 0;
    long size = NativePanels.size(PanelForm.Q4_0, 64 * 64);
    try (NativeMemory memory = NativeMemory.allocate(size)) {
      NativePanels panels = new NativePanels(PanelForm.Q4_0, 64, 64, fast, memory, 0);
      if (wrong == 4) {
        assertThat(panels.move(type, buffer, panel, lane, rows)).isTrue();
        assertThatThrownBy(() -> new NativePanels(PanelForm.Q4_0, 65, 64, fast, memory, 0))
            .isInstanceOf(IndexOutOfBoundsException.class);
        return;
      }
      assertThatThrownBy(() -> panels.move(type, buffer, panel, lane, rows))
          .isInstanceOfAny(IndexOutOfBoundsException.class, IllegalArgumentException.class);
    }
  }

  private static void assertSame(Panels actual, Panels expected) {
    if (expected instanceof StackedPanels parts) {
      for (int i = 0; i < parts.parts(); i++) {
        assertSame(((StackedPanels) actual).part(i), parts.part(i));
      }
      return;
    }
    assertThat(actual).isInstanceOf(NativePanels.class);
    assertThat(actual.bytes()).isEqualTo(expected.bytes());
    assertThat(actual.hasIntegers()).isEqualTo(expected.hasIntegers());
    for (NativeKernels.Isa isa : NativeKernels.supported()) {
      Kernels kernels = new CompiledKernels(new NativeKernels(isa));
      assertSame(((NativePanels) actual).with(new NativeKernels(isa)), expected, kernels);
    }
  }

  private static void assertSame(Panels actual, Panels expected, Kernels kernels) {
    assertSameRows(actual, expected);
    int columns = expected.columns();
    Floats scratch = Floats.allocate(Panels.DEPTH * PANEL);
    float[] scales = new float[Panels.SCALES];
    Floats x = Floats.allocate(8 * columns);
    for (int i = 0; i < x.length(); i++) {
      x.set(i, (i * 7 % 31 - 15) / 8f);
    }
    Floats one = Floats.allocate(columns);
    Floats[] weights = {Floats.allocate(scratch.length()), Floats.allocate(scratch.length())};
    Floats[] outs = {Floats.allocate(8 * PANEL), Floats.allocate(8 * PANEL)};
    for (int panel = 0; panel < expected.count(); panel++) {
      for (int from = 0; from < columns; from += Panels.DEPTH) {
        int to = Math.min(columns, from + Panels.DEPTH);
        weights[0].fill(0, scratch.length(), 0f);
        weights[1].fill(0, scratch.length(), 0f);
        expected.unpack(SCALAR, panel, from, to, weights[0], scales);
        actual.unpack(kernels, panel, from, to, weights[1], scales);
        assertEqual(weights[1], weights[0]);
      }
      for (int rows = 1; rows <= Math.max(1, actual.fewRows(kernels)); rows++) {
        outs[0].fill(0, 8 * PANEL, 1f);
        outs[1].fill(0, 8 * PANEL, 1f);
        for (int row = 0; row < rows; row++) {
          one.put(0, x, row * columns, columns);
          expected.timesVector(SCALAR, panel, one, outs[0], row * PANEL, scratch, scales);
        }
        if (actual.fewRows(kernels) == 0) {
          actual.timesVector(kernels, panel, x, outs[1], 0, scratch, scales);
        } else {
          actual.timesRows(kernels, panel, x, columns, rows, outs[1], 0, PANEL);
        }
        assertEqual(outs[1], outs[0]);
      }
    }
  }

  private static void assertSameRows(Panels actual, Panels expected) {
    int columns = expected.columns();
    Floats[] both = {Floats.allocate(columns), Floats.allocate(columns)};
    for (int row = 0; row < expected.rows(); row++) {
      expected.row(row, both[0], 0);
      actual.row(row, both[1], 0);
      assertEqual(both[1], both[0]);
    }
  }

  /** Equal floats; the sign of a zero changes no sum. Model files give no 8-bit NaN. */
  private static void assertEqual(Floats actualFloats, Floats expectedFloats) {
    float[] actual = actualFloats.toArray();
    float[] expected = expectedFloats.toArray();
    for (int i = 0; i < expected.length; i++) {
      if (!Float.isNaN(expected[i]) && actual[i] != expected[i]) {
        assertThat(actual[i]).as("element %d", i).isEqualTo(expected[i]);
      }
    }
  }
}
