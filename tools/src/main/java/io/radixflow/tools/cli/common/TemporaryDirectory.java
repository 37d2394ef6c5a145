package io.radixflow.tools.cli.common;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.util.FileUtils;

/**
 * A directory for as long as a command runs: it is deleted when it is closed, and when the process
 * is asked to end before.
 */
public final class TemporaryDirectory implements AutoCloseable {
  private static final int ATTEMPTS = 50;
  private static final int PAUSE_MILLIS = 50;

  private final Path path;
  private final Thread hook = new Thread(this::deleteInUse, "delete files");

  private TemporaryDirectory(Path path) {
    this.path = path;
  }

  /**
   * Creates a directory.
   *
   * @param parent its parent, created if it does not exist; null for the system's default
   */
  public static TemporaryDirectory create(Path parent, String prefix) throws IOException {
    TemporaryDirectory made =
        new TemporaryDirectory(
            parent == null
                ? Files.createTempDirectory(prefix)
                : Files.createTempDirectory(Files.createDirectories(parent), prefix));
    Runtime.getRuntime().addShutdownHook(made.hook);
    return made;
  }

  public Path path() {
    return path;
  }

  private void delete() {
    FileUtils.deleteDirectoryQuietly(path.toFile());
  }

  /** Threads of the command may write until the process has ended. */
  private void deleteInUse() {
    try {
      for (int i = 0; i < ATTEMPTS && Files.exists(path); i++) {
        delete();
        Thread.sleep(PAUSE_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    delete();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // the process ends, and the hook runs
    }
  }
}
