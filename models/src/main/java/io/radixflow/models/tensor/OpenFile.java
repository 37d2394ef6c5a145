package io.radixflow.models.tensor;

import io.radixflow.models.ModelFormatException;
import io.radixflow.models.io.RegularFiles;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/**
 * An open file of a model, whose header was checked. Thread-safe. The caller that opened it also
 * closes it. The file is read instead of mapped, because mapped pages would count as memory of the
 * process long after the weights were repacked.
 */
public record OpenFile(Path path, FileChannel channel) implements Closeable {

  /** The largest number of bytes in one buffer. */
  public static final int MOST_BYTES = 1 << 30;

  /**
   * The largest number of bytes per read. The JDK copies them through a buffer that the thread
   * keeps.
   */
  private static final int CALL_BYTES = 1 << 18;

  public static OpenFile open(Path path) throws IOException {
    return new OpenFile(path, FileChannel.open(RegularFiles.require(path)));
  }

  /**
   * Reads bytes. The caller has checked that they are inside the file.
   *
   * @param tensor name of the tensor, for errors
   * @throws ModelFormatException if the file has become shorter
   * @throws UncheckedIOException if the file cannot be read or is closed. Interrupting a reading
   *     thread also closes the file.
   */
  void read(String tensor, long position, int count, ByteBuffer target) {
    String where = path + ": tensor " + tensor;
    int limit = target.limit();
    try {
      for (int done = 0; done < count; ) {
        target.limit(target.position() + Math.min(count - done, CALL_BYTES));
        int read = channel.read(target, position + done);
        if (read < 0) {
          throw new ModelFormatException(
              String.format(
                  "%s: the file was cut off at byte %s while it was open; fetch it again",
                  where, channel.size()));
        }
        done += read;
      }
      target.limit(limit);
    } catch (ClosedByInterruptException e) {
      throw new UncheckedIOException(
          where + ": the thread that read it was interrupted; open the model again", e);
    } catch (ClosedChannelException e) {
      throw new UncheckedIOException(
          where + ": the model was closed, or one of its readers was interrupted; open it again",
          e);
    } catch (IOException e) {
      throw new UncheckedIOException(where + ": cannot be read: " + e.getMessage(), e);
    }
  }

  /** Reads bytes into a new buffer, read-only and little-endian. Throws the same errors. */
  ByteBuffer read(String tensor, long position, int count) {
    ByteBuffer bytes = ByteBuffer.allocate(count);
    read(tensor, position, count, bytes);
    return bytes.flip().asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
