package io.radixflow.kernels.model.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.model.TensorType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ReadOnlyBufferException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MappedTensorTest {
  private static final int ROWS = 11;
  private static final int COLUMNS = 3;

  @TempDir Path directory;

  @ParameterizedTest
  @ValueSource(longs = {1, 12, 30, 36, 1 << 20})
  void rowsAreTheSameWhateverTheWindows(long windowBytes) throws IOException {
    MappedTensor tensor = tensor(windowBytes);
    for (int first = 0; first < ROWS; first++) {
      for (int count = 0; first + count <= ROWS; count++) {
        ByteBuffer rows = tensor.rows(first, count);
        assertThat(rows.order()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
        assertThat(rows.remaining()).isEqualTo(count * COLUMNS * 4);
        for (int i = 0; i < count * COLUMNS; i++) {
          assertThat(rows.getFloat(i * 4)).isEqualTo(first * COLUMNS + i);
        }
      }
    }
    float[] row = new float[COLUMNS + 2];
    tensor.dequantize(ROWS - 1, row, 1);
    assertThat(row).containsExactly(0, 30, 31, 32, 0);
  }

  @Test
  void viewsAreReadOnlyAndWithinTheTensor() throws IOException {
    MappedTensor tensor = tensor(12);
    assertThatThrownBy(() -> tensor.rows(0, 1).put((byte) 0))
        .isInstanceOf(ReadOnlyBufferException.class);
    assertThatThrownBy(() -> tensor.rows(0, 2).put((byte) 0))
        .isInstanceOf(ReadOnlyBufferException.class);
    assertThatThrownBy(() -> tensor.rows(ROWS, 1)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> tensor.dequantize(-1, new float[9], 0))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  private MappedTensor tensor(long windowBytes) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(5 + ROWS * COLUMNS * 4).order(ByteOrder.LITTLE_ENDIAN);
    bytes.position(5);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
      bytes.putFloat(i);
    }
    Path file = Files.write(directory.resolve("weights"), bytes.array());
    try (FileChannel channel = FileChannel.open(file)) {
      TensorSlot slot = new TensorSlot("w", TensorType.F32, ROWS, COLUMNS, 5);
      return MappedTensor.map(channel, slot, windowBytes);
    }
  }
}
