package io.radixflow.operators.flink;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Where an engine's journal of running turns is. */
final class CrashJournalFile {
  private static final Logger LOG = LoggerFactory.getLogger(CrashJournalFile.class);
  private static final String SUFFIX = ".running";
  private static final Duration FORGOTTEN_AFTER = Duration.ofDays(7);

  private CrashJournalFile() {}

  /**
   * @param directory where journals are
   * @param name tells the engine from others on the TaskManager
   */
  static Path of(Path directory, String name) {
    forgetOldOnes(directory);
    return directory.resolve(name + SUFFIX);
  }

  /** Jobs that never came back left theirs. */
  private static void forgetOldOnes(Path directory) {
    if (!Files.isDirectory(directory)) {
      return;
    }
    long oldest = System.currentTimeMillis() - FORGOTTEN_AFTER.toMillis();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*" + SUFFIX)) {
      for (Path file : files) {
        if (Files.getLastModifiedTime(file).toMillis() < oldest) {
          Files.deleteIfExists(file);
        }
      }
    } catch (IOException e) {
      LOG.warn("Old journals of running turns stay in {}", directory, e);
    }
  }
}
