package io.radixflow.cli.state;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;

/** Reads the metadata file of a savepoint or checkpoint. */
public final class StateMetadata {

  /** The name of the file. */
  public static final String FILE = "_metadata";

  private StateMetadata() {}

  /**
   * Reads a file, which may be damaged.
   *
   * @throws IOException if it cannot be read to its end; the message has its path
   */
  public static CheckpointMetadata read(Path file) throws IOException {
    try (DataInputStream in =
        new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
      return Checkpoints.loadCheckpointMetadata(
          in, StateMetadata.class.getClassLoader(), file.getParent().toString());
    } catch (IOException | RuntimeException | OutOfMemoryError e) {
      // Flink allocates memory for a size before it reads the bytes
      String reason = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
      throw new IOException(file + " is damaged, or of another version: " + reason, e);
    }
  }
}
