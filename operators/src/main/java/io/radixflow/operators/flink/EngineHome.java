package io.radixflow.operators.flink;

import java.io.File;
import java.nio.file.Path;
import java.util.Set;

/**
 * What an engine finds on its TaskManager, of itself before: in the directory {@code radixflow}
 * beside those that Flink keeps in the TaskManager's working directory. A TaskManager finds it
 * again if it is started with the same {@code taskmanager.resource-id} and {@code
 * process.taskmanager.working-dir}; Flink empties only {@code tmp} there.
 *
 * @param crashJournal a file that tells which turns it was working on; null for none
 * @param tiers where pages on disk are; null for nowhere
 * @param restored ids of the engines whose pages the restored checkpoint goes with
 * @param settings what control events have made of the tiers so far
 */
public record EngineHome(
    Path crashJournal, Path tiers, Set<String> restored, TierSettings settings) {

  /** Of an engine that finds nothing and leaves nothing. */
  public static final EngineHome NONE = new EngineHome(null, null, Set.of());

  public EngineHome {
    restored = Set.copyOf(restored);
  }

  /** Of an engine whose tiers are as they are configured. */
  public EngineHome(Path crashJournal, Path tiers, Set<String> restored) {
    this(crashJournal, tiers, restored, TierSettings.NONE);
  }

  /** Of the engine that takes the place of one in the same process. */
  EngineHome again(TierSettings now) {
    return new EngineHome(crashJournal, tiers, Set.of(), now);
  }

  /** With other settings of the tiers. */
  EngineHome with(TierSettings other) {
    return new EngineHome(crashJournal, tiers, restored, other);
  }

  /**
   * @param temporary the {@code tmp} of Flink's working directory
   * @param name tells the engine from others on the TaskManager
   */
  static EngineHome of(File temporary, String name, Set<String> restored) {
    Path directory = directory(temporary);
    return directory == null
        ? new EngineHome(null, null, restored)
        : new EngineHome(
            CrashJournalFile.of(directory, name), directory.resolve("tiers"), restored);
  }

  /** Null if there is no working directory. */
  private static Path directory(File temporary) {
    File root = temporary == null ? null : temporary.getAbsoluteFile().getParentFile();
    return root == null || !new File(root, "localState").isDirectory()
        ? null
        : root.toPath().resolve("radixflow");
  }
}
