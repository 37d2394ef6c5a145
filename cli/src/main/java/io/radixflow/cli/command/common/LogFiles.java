package io.radixflow.cli.command.common;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The log files of this user's processes. Each process has its own file, and the oldest files are
 * deleted.
 */
record LogFiles(Path directory) {
  static final String SUFFIX = ".log";

  /**
   * How many files of ended processes are kept; log4j2-cli.properties limits the size of each file.
   */
  private static final int MOST = 20;

  /**
   * A file name: the start in local time, the process id, and, for a file that was replaced because
   * it was full, its number.
   */
  private static final Pattern FILE =
      Pattern.compile("radixflow-\\d{8}-\\d{6}-(\\d{1,18})(\\.\\d)?\\.log");

  /** A file name from the time when all processes shared one file. */
  private static final Pattern SHARED = Pattern.compile("radixflow(\\.\\d)?\\.log");

  /** Returns the name of a process's file, without {@link #SUFFIX}. */
  static String name(String start, ProcessHandle process) {
    return "radixflow-" + start + "-" + process.pid();
  }

  /**
   * Deletes all files of ended processes except the newest. Never fails, because no command depends
   * on it.
   */
  void deleteOld() {
    try (Stream<Path> files = Files.list(directory)) {
      List<Path> ended =
          files
              .filter(LogFiles::hasEnded)
              .sorted(Comparator.comparing(LogFiles::start).reversed())
              .toList();
      for (Path old : ended.subList(Math.min(MOST, ended.size()), ended.size())) {
        Files.deleteIfExists(old);
      }
    } catch (IOException e) {
      // the directory does not exist yet, or another process deletes the same files
    }
  }

  /** Returns the start of the process as the sort key; shared files are older than all others. */
  private static String start(Path file) {
    String name = file.getFileName().toString();
    return SHARED.matcher(name).matches() ? "" : name;
  }

  private static boolean hasEnded(Path file) {
    String name = file.getFileName().toString();
    Matcher own = FILE.matcher(name);
    return own.matches()
        ? ProcessHandle.of(Long.parseLong(own.group(1))).isEmpty()
        : SHARED.matcher(name).matches();
  }
}
