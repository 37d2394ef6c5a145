package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.radixflow.kernels.cpu.kernel.CodeForm;
import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.cpu.kernel.NativeRepacking;
import io.radixflow.kernels.cpu.step.WorkerTeam;
import io.radixflow.kernels.cpu.weights.BlockPanels;
import io.radixflow.kernels.cpu.weights.Float8Panels;
import io.radixflow.kernels.cpu.weights.FloatPanels;
import io.radixflow.kernels.cpu.weights.HalfPanels;
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

/** Native code makes the panels that Java makes, bit for bit, of every encoding. */
class NativeRepackingProperties {

  private NativeRepacking fast;

  @BeforeTry
  void needsTheLibrary() {
    assumeThat(NativeKernels.fastest()).isPresent();
    fast = new NativeRepacking(new NativeKernels(NativeKernels.fastest().orElseThrow()));
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
        assertSame(
            new PanelLoader(team, fast).load(tensors), new PanelLoader(team, null).load(tensors));
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
  void noBytesBeyondABufferOrArrayAreTouched(
      @ForAll @IntRange(min = 1, max = 32) int rows, @ForAll @IntRange(max = 3) int missing) {
    int columns = 64;
    int bytes = rows * columns / 32 * TensorType.Q4_0.blockBytes();
    int codes = (columns / 32 * 4 - 1) * 32 + rows;
    int scales = 32 + rows;
    assertThatThrownBy(
            () ->
                fast.codes(
                    TensorType.Q4_0,
                    CodeForm.SIGNED_NIBBLE,
                    ByteBuffer.allocateDirect(missing == 0 ? bytes - 1 : bytes),
                    columns,
                    missing == 1 ? rows + 1 : rows,
                    new int[missing == 2 ? codes - 1 : codes],
                    0,
                    new short[missing == 3 ? scales - 1 : scales],
                    0,
                    1,
                    null,
                    0))
        .isInstanceOfAny(IndexOutOfBoundsException.class, IllegalArgumentException.class);
  }

  @Example
  void panelsOfAnotherTypeAreRefused() {
    ByteBuffer rows = ByteBuffer.allocateDirect(TensorType.Q4_1.blockBytes());
    int[] codes = new int[8 * 32];
    CodeForm form = CodeForm.NIBBLE;
    short[] halves = new short[2 * 32];
    for (TensorType type : List.of(TensorType.Q4_0, TensorType.FP8, TensorType.F16)) {
      assertThatThrownBy(() -> fast.codes(type, form, rows, 32, 1, codes, 0, halves, 0, 2, null, 0))
          .isInstanceOf(IllegalArgumentException.class);
    }
    TensorType type = TensorType.Q4_1;
    assertThat(fast.codes(type, form, rows, 32, 1, codes, 0, halves, 0, 2, null, 0)).isTrue();
    assertThatThrownBy(() -> fast.codes(type, form, rows, 32, 1, codes, 0, halves, 0, 1, null, 0))
        .isInstanceOf(IllegalArgumentException.class);
    byte[] bytes = new byte[2 * 32];
    assertThatThrownBy(() -> fast.codes(type, form, rows, 32, 1, codes, 0, bytes, 0, 2, null, 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> fast.codes(type, form, rows, 32, 1, codes, 0, halves, 0, 2, halves, 0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static void assertSame(Panels actual, Panels expected) {
    assertThat(actual.getClass()).isEqualTo(expected.getClass());
    if (expected instanceof StackedPanels parts) {
      for (int i = 0; i < parts.parts(); i++) {
        assertSame(((StackedPanels) actual).part(i), parts.part(i));
      }
    } else if (expected instanceof BlockPanels blocks) {
      assertThat(((BlockPanels) actual).codes()).isEqualTo(blocks.codes());
      assertThat(((BlockPanels) actual).scales().floats()).isEqualTo(blocks.scales().floats());
      assertThat(((BlockPanels) actual).scales().halves()).isEqualTo(blocks.scales().halves());
      assertThat(((BlockPanels) actual).scales().factors()).isEqualTo(blocks.scales().factors());
    } else if (expected instanceof Float8Panels float8) {
      assertThat(((Float8Panels) actual).codes()).isEqualTo(float8.codes());
      assertThat(((Float8Panels) actual).scales()).isEqualTo(float8.scales());
    } else if (expected instanceof HalfPanels halves) {
      assertThat(((HalfPanels) actual).values()).isEqualTo(halves.values());
    } else {
      assertThat(((FloatPanels) actual).values()).isEqualTo(((FloatPanels) expected).values());
    }
  }
}
