package io.radixflow.lab.bench.tiers;

import io.radixflow.cli.command.common.CliException;
import io.radixflow.models.io.PrivateDirectories;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Copies the files of an open database as a crash would leave them. The database may create and
 * delete files meanwhile when it compacts. Then the files of the copy would not fit together, so
 * the copy is made again.
 */
final class CrashCopy {
  private static final int ATTEMPTS = 20;

  private CrashCopy() {}

  /** Copies a directory. Meanwhile only compactions may write to it. */
  static void copy(Path from, Path to) throws IOException {
    copy(from, to, file -> {});
  }

  /**
   * See {@link #copy(Path, Path)}.
   *
   * @param copied receives each copied file
   */
  static void copy(Path from, Path to, Consumer<Path> copied) throws IOException {
    for (int i = 0; i < ATTEMPTS; i++) {
      PrivateDirectories.delete(to);
      Optional<Set<Path>> files = files(from);
      if (files.isPresent()
          && copyFiles(files.get(), from, to, copied)
          && files(from).equals(files)) {
        return;
      }
    }
    throw new CliException(
        "files in " + from + " came and went in each of 20 attempts to copy them");
  }

  /** Returns the files; empty if a file disappeared while they were listed. */
  private static Optional<Set<Path>> files(Path directory) throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      return Optional.of(all.filter(Files::isRegularFile).collect(Collectors.toSet()));
    } catch (UncheckedIOException e) {
      if (e.getCause() instanceof NoSuchFileException) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /** Copies files; returns false if one of the files has disappeared. */
  private static boolean copyFiles(Set<Path> files, Path from, Path to, Consumer<Path> copied)
      throws IOException {
    for (Path file : files) {
      Path target = to.resolve(from.relativize(file));
      PrivateDirectories.create(target.getParent());
      try {
        Files.copy(file, target);
      } catch (NoSuchFileException e) {
        return false;
      }
      copied.accept(file);
    }
    return true;
  }
}
