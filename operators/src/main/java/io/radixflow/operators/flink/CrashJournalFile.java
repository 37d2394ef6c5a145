package io.radixflow.operators.flink;

import java.io.File;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where an engine's journal of running turns is: beside the directories that Flink keeps in the
 * TaskManager's working directory. A TaskManager finds it again if it is started with the same
 * {@code taskmanager.resource-id} and {@code process.taskmanager.working-dir}; Flink empties only
 * {@code tmp} there.
 */
final class CrashJournalFile {
  private static final Logger LOG = LoggerFactory.getLogger(CrashJournalFile.class);
  private static final String SUFFIX = ".running";
  private static final Duration FORGOTTEN_AFTER = Duration.ofDays(7);

  private CrashJournalFile() {}

  /**
   * @param temporary the {@code tmp} of Flink's working directory
   * @param name tells the engine from others on the TaskManager
   * @return null if there is no working directory
   */
  static Path of(File temporary, String name) {
    File root = temporary == null ? null : temporary.getAbsoluteFile().getParentFile();
    if (root == null || !new File(root, "localState").isDirectory()) {
      return null;
    }
    Path directory = root.toPath().resolve("radixflow");
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
