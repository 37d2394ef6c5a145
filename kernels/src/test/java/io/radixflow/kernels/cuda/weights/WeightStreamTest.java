package io.radixflow.kernels.cuda.weights;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.models.Float16;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class WeightStreamTest {

  /** A tensor whose element [r][c] is {@code base + r + c / 16}. */
  private record Ramp(String name, TensorType type, int rows, int columns, int base)
      implements Tensor {
    float at(int row, int column) {
      return base + row + column / 16f;
    }

    @Override
    public ByteBuffer rows(int first, int count) {
      ByteBuffer bytes =
          ByteBuffer.allocate(count * columns * type.blockBytes()).order(ByteOrder.LITTLE_ENDIAN);
      for (int i = 0; i < count * columns; i++) {
        float value = at(first + i / columns, i % columns);
        switch (type) {
          case F32 -> bytes.putFloat(value);
          case F16 -> bytes.putShort(Float16.fromFloat(value));
          default -> bytes.putShort(BFloat16.fromFloat(value));
        }
      }
      return bytes.flip();
    }

    @Override
    public void dequantize(int row, float[] target, int offset) {
      for (int column = 0; column < columns; column++) {
        target[offset + column] = at(row, column);
      }
    }
  }

  /** Collects blocks in one array. */
  private static final class Memory implements WeightStream.Blocks {
    private final ByteBuffer all = ByteBuffer.allocate(1 << 16).order(ByteOrder.nativeOrder());
    private final int capacity;
    int sent;

    Memory(int capacity) {
      this.capacity = capacity;
    }

    @Override
    public int capacity() {
      return capacity;
    }

    @Override
    public ByteBuffer next() {
      return ByteBuffer.allocate(capacity).order(ByteOrder.nativeOrder());
    }

    @Override
    public void send(long offset, ByteBuffer block) {
      all.put((int) offset, block, 0, block.limit());
      sent++;
    }

    float at(int row, int columns, int column) {
      return BFloat16.toFloat(all.getShort(2 * (row * columns + column)));
    }
  }

  private static Ramp ramp(int rows, int base) {
    return new Ramp("ramp", TensorType.F32, rows, 24, base);
  }

  @ParameterizedTest
  @EnumSource(
      value = TensorType.class,
      names = {"F32", "F16", "BF16"})
  void everyTypeIsRoundedToTheSameBf16(TensorType type) {
    Ramp tensor = new Ramp("ramp", type, 5, 24, 0);
    Memory memory = new Memory(1000);
    new WeightStream(memory).send(WeightRowOrder.stacked(List.of(tensor)), WeightFormat.BF16);
    for (int row = 0; row < 5; row++) {
      for (int column = 0; column < 24; column++) {
        assertThat(memory.at(row, 24, column)).isEqualTo(tensor.at(row, column));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {48, 100, 999})
  void aSmallBufferIsFilledSeveralTimes(int capacity) {
    Memory memory = new Memory(capacity);
    new WeightStream(memory)
        .send(WeightRowOrder.stacked(List.of(ramp(7, 0), ramp(4, 20))), WeightFormat.BF16);
    int perBlock = capacity / 48;
    assertThat(memory.sent).isEqualTo((11 + perBlock - 1) / perBlock);
    assertThat(memory.at(6, 24, 0)).isEqualTo(6);
    assertThat(memory.at(7, 24, 0)).isEqualTo(20);
    assertThat(memory.at(10, 24, 16)).isEqualTo(24);
  }

  @Test
  void aRowThatDoesNotFitTheBufferIsRefused() {
    assertThatThrownBy(
            () ->
                new WeightStream(new Memory(47))
                    .send(WeightRowOrder.stacked(List.of(ramp(1, 0))), WeightFormat.BF16))
        .hasMessage("1 row(s) of 48 bytes exceed the staging buffer of 47");
  }

  @Test
  void gateAndUpTakeTurnsOfEightRows() {
    Memory memory = new Memory(500);
    new WeightStream(memory)
        .send(WeightRowOrder.interleaved(ramp(16, 0), ramp(16, 100)), WeightFormat.BF16);
    for (int row = 0; row < 32; row++) {
      int expected = row / 16 * 8 + row % 8 + (row / 8 % 2 == 0 ? 0 : 100);
      assertThat(memory.at(row, 24, 0)).as("row %d", row).isEqualTo(expected);
    }
  }

  @Test
  void anMlpThatIsNoMultipleOfEightIsRefused() {
    assertThatThrownBy(() -> WeightRowOrder.interleaved(ramp(12, 0), ramp(12, 0)))
        .hasMessageContaining("12 and 12 rows")
        .hasMessageContaining("multiple of 8");
  }

  @Test
  void pairsOfARotationBecomeHalvesInQueriesAndKeysOnly() {
    WeightRowOrder order =
        WeightRowOrder.ofHeads(ramp(8, 0), ramp(4, 20), ramp(4, 40), new HeadOrder(4, 2, true));
    Memory memory = new Memory(500);
    new WeightStream(memory).send(order, WeightFormat.BF16);
    int[] expected = {0, 2, 1, 3, 4, 6, 5, 7, 20, 22, 21, 23, 40, 41, 42, 43};
    for (int row = 0; row < expected.length; row++) {
      assertThat(memory.at(row, 24, 0)).as("row %d", row).isEqualTo(expected[row]);
    }
  }

  @Test
  void whatRotatesTogetherLiesHalfAHeadApartHoweverMuchOfAHeadRotates() {
    assertThat(sources(new HeadOrder(8, 4, false))).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
    assertThat(sources(new HeadOrder(8, 4, true))).containsExactly(0, 2, 4, 6, 1, 3, 5, 7);
    assertThat(sources(new HeadOrder(8, 2, false))).containsExactly(0, 1, 4, 5, 2, 3, 6, 7);
    assertThat(sources(new HeadOrder(8, 2, true))).containsExactly(0, 2, 4, 5, 1, 3, 6, 7);
    assertThat(sources(HeadOrder.of(null, 4))).containsExactly(0, 1, 2, 3);
  }

  private static int[] sources(HeadOrder order) {
    return IntStream.range(0, order.headDim()).map(order::source).toArray();
  }

  @Test
  void biasesFollowTheirRows() {
    WeightRowOrder order =
        WeightRowOrder.ofHeads(ramp(4, 0), ramp(4, 0), ramp(4, 0), new HeadOrder(4, 2, true));
    Ramp bias = new Ramp("bias", TensorType.F32, 1, 4, 0);
    assertThat(order.vector(List.of(bias, bias, bias)))
        .containsExactly(
            0, 2 / 16f, 1 / 16f, 3 / 16f, 0, 2 / 16f, 1 / 16f, 3 / 16f, 0, 1 / 16f, 2 / 16f,
            3 / 16f);
  }

  @Test
  void roundingIsToNearestWithTiesToEven() {
    assertThat(BFloat16.toFloat(BFloat16.fromFloat(0x1.01p0f))).isEqualTo(1f);
    assertThat(BFloat16.toFloat(BFloat16.fromFloat(0x1.03p0f))).isEqualTo(0x1.04p0f);
    assertThat(BFloat16.toFloat(BFloat16.fromFloat(0x1.0101p0f))).isEqualTo(0x1.02p0f);
    assertThat(BFloat16.toFloat(BFloat16.fromFloat(-Float.MAX_VALUE)))
        .isEqualTo(Float.NEGATIVE_INFINITY);
    assertThat(BFloat16.toFloat(BFloat16.fromFloat(Float.NaN))).isNaN();
    assertThat(BFloat16.toFloat(BFloat16.fromFloat(0x1p-133f))).isEqualTo(0x1p-133f);
  }
}
