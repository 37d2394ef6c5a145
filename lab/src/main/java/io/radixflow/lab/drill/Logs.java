package io.radixflow.lab.drill;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Counts lines in the logs of processes. */
final class Logs {

  private Logs() {}

  static long count(Path log, String text) throws IOException {
    try (Stream<String> lines = Files.lines(log)) {
      return lines.filter(line -> line.contains(text)).count();
    }
  }

  /** Counts the lines of all logs of a directory that contain a text. */
  static int countAll(Path directory, String text) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      int count = 0;
      for (Path log : files.filter(file -> file.toString().endsWith(".log")).toList()) {
        count += (int) count(log, text);
      }
      return count;
    }
  }
}
