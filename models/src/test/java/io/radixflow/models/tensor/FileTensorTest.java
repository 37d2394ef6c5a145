package io.radixflow.models.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.models.ModelFormatException;
import io.radixflow.models.TensorType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ReadOnlyBufferException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileTensorTest {
  private static final int ROWS = 11;
  private static final int COLUMNS = 3;

  @TempDir Path directory;
  private OpenFile file;

  @AfterEach
  void close() throws IOException {
    if (file != null) {
      file.close();
    }
  }

  @Test
  void everyRangeOfRowsIsReadFromTheFile() throws IOException {
    FileTensor tensor = tensor(ROWS, COLUMNS);
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
    ByteBuffer target = ByteBuffer.allocate(100).position(7);
    tensor.copyRows(9, 2, target);
    assertThat(target.position()).isEqualTo(7 + 2 * COLUMNS * 4);
    assertThat(target.flip().order(ByteOrder.LITTLE_ENDIAN).getFloat(7)).isEqualTo(27);
    float[] row = new float[COLUMNS + 2];
    tensor.dequantize(ROWS - 1, row, 1);
    assertThat(row).containsExactly(0, 30, 31, 32, 0);
  }

  @Test
  void rowsOfManyCallsAreReadWhole() throws IOException {
    ByteBuffer rows = tensor(3, 100_003).rows(1, 2);
    for (int i = 0; i < 2 * 100_003; i++) {
      if (rows.getFloat(i * 4) != 100_003 + i) {
        assertThat(rows.getFloat(i * 4)).as("element %d", i).isEqualTo(100_003 + i);
      }
    }
  }

  @Test
  void rowsAreReadOnlyAndWithinTheTensor() throws IOException {
    FileTensor tensor = tensor(ROWS, COLUMNS);
    assertThatThrownBy(() -> tensor.rows(0, 2).put((byte) 0))
        .isInstanceOf(ReadOnlyBufferException.class);
    assertThatThrownBy(() -> tensor.rows(ROWS, 1)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> tensor.dequantize(-1, new float[9], 0))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> tensor.dequantize(0, new float[COLUMNS], 1))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void rowsOfOverAGibibyteAreRefusedBeforeMemoryIsTakenForThem() throws IOException {
    tensor(1, 1);
    TensorSlot many = new TensorSlot("w", TensorType.F32, 1 << 15, 1 << 14, 5);
    assertThatThrownBy(() -> new FileTensor(file, many).rows(0, (1 << 14) + 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("tensor w: 16385 rows have more than 1 GiB");
    TensorSlot wide = new TensorSlot("w", TensorType.F32, 1, (1 << 28) + 1, 5);
    assertThatThrownBy(() -> new FileTensor(file, wide))
        .isInstanceOf(ModelFormatException.class)
        .hasMessageContaining("tensor w has rows of 1073741828 bytes");
  }

  @Test
  void aFileThatWasCutOffWhileItWasOpenIsNamedWithTheTensor() throws IOException {
    FileTensor tensor = tensor(ROWS, COLUMNS);
    try (FileChannel other = FileChannel.open(file.path(), StandardOpenOption.WRITE)) {
      other.truncate(5 + 4 * COLUMNS * 4);
    }
    assertThat(tensor.rows(0, 4).getFloat(0)).isZero();
    assertThatThrownBy(() -> tensor.rows(3, 2))
        .isInstanceOf(ModelFormatException.class)
        .hasMessage(
            file.path()
                + ": tensor w: the file was cut off at byte 53 while it was open; fetch it again");
  }

  @Test
  void aClosedFileIsNamedWithTheTensor() throws IOException {
    FileTensor tensor = tensor(ROWS, COLUMNS);
    file.close();
    assertThatThrownBy(() -> tensor.rows(0, 1))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining(file.path() + ": tensor w: the model was closed");
  }

  @Test
  void anInterruptEndsAReadAndStaysOnTheThread() throws IOException {
    FileTensor tensor = tensor(ROWS, COLUMNS);
    Thread.currentThread().interrupt();
    try {
      assertThatThrownBy(() -> tensor.rows(0, 1))
          .isInstanceOf(UncheckedIOException.class)
          .hasMessageContaining(
              file.path() + ": tensor w: the thread that read it was interrupted");
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
    assertThatThrownBy(() -> tensor.rows(0, 1))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("one of its readers was interrupted; open it again");
  }

  @Test
  void bytesThatAreHeldAreReadOnce() throws IOException {
    tensor(ROWS, COLUMNS);
    FileBytes bytes = new FileBytes(file, "w", 9, 8);
    ByteBuffer held = bytes.get();
    assertThat(held.remaining()).isEqualTo(8);
    assertThat(held.getFloat(4)).isEqualTo(2);
    file.close();
    assertThat(bytes.get()).isSameAs(held);
  }

  /** Writes a tensor whose elements are their numbers. */
  private FileTensor tensor(int rows, int columns) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(5 + rows * columns * 4).order(ByteOrder.LITTLE_ENDIAN);
    bytes.position(5);
    for (int i = 0; i < rows * columns; i++) {
      bytes.putFloat(i);
    }
    file = OpenFile.open(Files.write(directory.resolve("weights"), bytes.array()));
    return new FileTensor(file, new TensorSlot("w", TensorType.F32, rows, columns, 5));
  }
}
