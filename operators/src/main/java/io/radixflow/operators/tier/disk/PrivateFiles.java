package io.radixflow.operators.tier.disk;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** Directories that only their owner can read: what is in them are conversations of others. */
public final class PrivateFiles {
  private static final Set<PosixFilePermission> OWNER_ONLY =
      PosixFilePermissions.fromString("rwx------");

  private PrivateFiles() {}

  /**
   * Makes a directory and those above it that are missing, all of them {@code rwx------}. One that
   * is there becomes so; those above it that are there stay as they are.
   */
  public static void createDirectory(Path directory) throws IOException {
    if (!directory.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      Files.createDirectories(directory);
      return;
    }
    Files.createDirectories(directory, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
    if (!Files.getPosixFilePermissions(directory).equals(OWNER_ONLY)) {
      Files.setPosixFilePermissions(directory, OWNER_ONLY);
    }
  }

  /** Deletes a directory and all in it, if it is there. */
  static void delete(Path directory) throws IOException {
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
