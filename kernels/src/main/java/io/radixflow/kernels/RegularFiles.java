package io.radixflow.kernels;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/** Keeps the process from files that would have it wait, or read for ever: pipes and devices. */
public final class RegularFiles {
  private RegularFiles() {}

  /**
   * Checks a file before it is opened; links are followed.
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

  /** Returns whether there is anything by this name, such as a link that leads nowhere. */
  public static boolean isThere(Path file) {
    return Files.exists(file, LinkOption.NOFOLLOW_LINKS);
  }
}
