package io.radixflow.cli.local;

import io.radixflow.cli.state.StateMetadata;
import io.radixflow.jobs.config.LocalFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The savepoints and checkpoints that a directory keeps. Their numbers grow from job to job,
 * because each job resumes from the latest one. Times of files are not reliable: a clock may step,
 * and files may be copied.
 */
record KeptStates(List<Path> directories) {
  private static final Logger LOG = LoggerFactory.getLogger(KeptStates.class);
  private static final int DEPTH = 3;

  /**
   * Returns Flink's path of the latest complete state; empty if no state was ever kept.
   *
   * @throws IOException if there are states, but none can be read
   */
  Optional<String> latest() throws IOException {
    List<Path> all = all();
    Path latest = null;
    long highest = -1;
    IOException unreadable = null;
    for (Path metadata : all) {
      try {
        long number = StateMetadata.read(metadata).getCheckpointId();
        if (number > highest) {
          highest = number;
          latest = metadata;
        }
      } catch (IOException e) {
        LOG.warn("{} cannot be read, and an older state may be used", metadata, e);
        unreadable = e;
      }
    }
    if (latest == null && unreadable != null) {
      throw new IOException(
          "the state of the conversations cannot be read: "
              + unreadable.getMessage()
              + "; move its directory away, or name another with --directory",
          unreadable);
    }
    return Optional.ofNullable(latest).map(metadata -> LocalFiles.name(metadata.getParent()));
  }

  private List<Path> all() throws IOException {
    List<Path> all = new ArrayList<>();
    for (Path states : directories) {
      if (Files.isDirectory(states)) {
        try (Stream<Path> files = Files.walk(states, DEPTH)) {
          files
              .filter(file -> file.endsWith(StateMetadata.FILE) && Files.isRegularFile(file))
              .forEach(all::add);
        }
      }
    }
    return all;
  }
}
