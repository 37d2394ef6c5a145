package io.radixflow.models.io;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/** Rejects files that would make the process wait or read forever: pipes and devices. */
public final class RegularFiles {
  private RegularFiles() {}

  /**
   * Checks a file before it is opened. Follows links.
   *
   * @return the file
   * @throws FileSystemException if it is missing or not a regular file; the message says why
   */
  public static Path require(Path file) throws IOException {
    BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
    if (!attributes.isRegularFile()) {
      String kind = attributes.isDirectory() ? "a directory" : "a pipe, a device or a socket";
      throw new FileSystemException(file.toString(), null, "it is " + kind + ", not a file");
    }
    return file;
  }

  /** Returns whether the name exists, even if it is a broken link. */
  public static boolean isThere(Path file) {
    return Files.exists(file, LinkOption.NOFOLLOW_LINKS);
  }
}
