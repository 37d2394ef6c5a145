package io.radixflow.operators.flink.engine;

import java.io.File;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files that a previous engine left on this TaskManager. They are in the directory {@code
 * radixflow} of the TaskManager's working directory, next to Flink's own files. A restarted
 * TaskManager finds the directory again if it has the same {@code taskmanager.resource-id} and
 * {@code process.taskmanager.working-dir}; Flink empties only {@code tmp} there.
 *
 * @param crashJournal a file with the names of the turns that the engine was working on; null for
 *     none
 * @param tiers directory of the pages on disk; null for none
 * @param restored ids of the engines whose pages belong to the restored checkpoint
 * @param settings the settings of the tiers after all control events so far
 */
public record EngineDirectory(
    Path crashJournal, Path tiers, Set<String> restored, TierSettings settings) {

  private static final Logger LOG = LoggerFactory.getLogger(EngineDirectory.class);
  private static final String JOURNAL = ".running";
  private static final Duration JOURNAL_RETENTION = Duration.ofDays(7);

  /** The directory of an engine without files. */
  public static final EngineDirectory NONE = new EngineDirectory(null, null, Set.of());

  public EngineDirectory {
    restored = Set.copyOf(restored);
  }

  /** Creates the directory of an engine whose tiers have their configured settings. */
  public EngineDirectory(Path crashJournal, Path tiers, Set<String> restored) {
    this(crashJournal, tiers, restored, TierSettings.NONE);
  }

  /** Returns the directory for an engine that replaces this one in the same process. */
  EngineDirectory again(TierSettings now) {
    return new EngineDirectory(crashJournal, tiers, Set.of(), now);
  }

  EngineDirectory with(TierSettings other) {
    return new EngineDirectory(crashJournal, tiers, restored, other);
  }

  /**
   * @param temporary the {@code tmp} of Flink's working directory
   * @param name distinguishes the engine from other engines on the TaskManager
   */
  static EngineDirectory of(File temporary, String name, Set<String> restored) {
    Path directory = directory(temporary);
    return directory == null
        ? new EngineDirectory(null, null, restored)
        : new EngineDirectory(crashJournal(directory, name), directory.resolve("tiers"), restored);
  }

  /** Returns the journal of an engine; deletes old journals of other jobs. */
  static Path crashJournal(Path directory, String name) {
    if (Files.isDirectory(directory)) {
      long oldest = System.currentTimeMillis() - JOURNAL_RETENTION.toMillis();
      try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*" + JOURNAL)) {
        for (Path file : files) {
          if (Files.getLastModifiedTime(file).toMillis() < oldest) {
            Files.deleteIfExists(file);
          }
        }
      } catch (IOException e) {
        LOG.warn("Old crash journals stay in {}", directory, e);
      }
    }
    return directory.resolve(name + JOURNAL);
  }

  /** Returns null if the TaskManager has no working directory. */
  private static Path directory(File temporary) {
    File root = temporary == null ? null : temporary.getAbsoluteFile().getParentFile();
    return root == null || !new File(root, "localState").isDirectory()
        ? null
        : root.toPath().resolve("radixflow");
  }
}
