package io.radixflow.operators.tier;

import io.radixflow.operators.cache.key.PageHasher;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/** What is done to the files of a page directory as a whole. */
public final class TierFiles {
  /** Tables are never changed once written, and carry checksums of their own. */
  private static final String TABLE = ".sst";

  private static final String LOCK = "LOCK";
  private static final String LOG = "LOG";

  private TierFiles() {}

  /** The regular files of a directory by name, without locks and logs. */
  private static List<Path> files(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(Files::isRegularFile)
          .filter(file -> !name(file).equals(LOCK) && !name(file).startsWith(LOG))
          .sorted()
          .toList();
    }
  }

  private static String name(Path file) {
    return file.getFileName().toString();
  }

  /**
   * SHA-256 over names and sizes of a directory's files, and over what the files other than tables
   * have; in hexadecimal digits.
   */
  static String digest(Path directory) throws IOException {
    MessageDigest sha;
    try {
      sha = MessageDigest.getInstance("SHA-256");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
    for (Path file : files(directory)) {
      String line = name(file) + " " + Files.size(file) + "\n";
      sha.update(line.getBytes(StandardCharsets.UTF_8));
      if (!name(file).endsWith(TABLE)) {
        sha.update(Files.readAllBytes(file));
      }
    }
    return HexFormat.of().formatHex(sha.digest(), 0, PageHasher.BYTES);
  }

  /** Makes a copy that shares its tables with the original. */
  static void link(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    for (Path file : files(from)) {
      Path target = to.resolve(name(file));
      if (!name(file).endsWith(TABLE)) {
        Files.copy(file, target);
        continue;
      }
      try {
        Files.createLink(target, file);
      } catch (UnsupportedOperationException | IOException e) {
        Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }

  /** Deletes a directory and all in it, if it is there. */
  public static void delete(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return;
    }
    Files.walkFileTree(
        directory,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path visited, IOException e)
              throws IOException {
            if (e != null) {
              throw e;
            }
            Files.delete(visited);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}
