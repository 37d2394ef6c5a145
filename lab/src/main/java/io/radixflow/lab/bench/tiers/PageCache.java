package io.radixflow.lab.bench.tiers;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;

/** Drops files from the operating system's page cache. */
final class PageCache {
  private PageCache() {}

  /**
   * Asks the system to drop all files below a directory from its page cache. Forces the files to
   * the device, and lets {@code dd} advise that they are not needed, which requires no privileges.
   *
   * @return whether {@code dd} is available and succeeded for each file
   */
  static boolean drop(Path directory) throws IOException, InterruptedException {
    List<Path> files;
    try (Stream<Path> all = Files.walk(directory)) {
      files = all.filter(Files::isRegularFile).toList();
    }
    boolean dropped = true;
    for (Path file : files) {
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
        channel.force(true);
      }
      dropped &= advise(file);
    }
    return dropped;
  }

  private static boolean advise(Path file) throws InterruptedException {
    try {
      return new ProcessBuilder("dd", "if=" + file, "iflag=nocache", "count=0")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start()
              .waitFor()
          == 0;
    } catch (IOException e) {
      return false;
    }
  }
}
