package io.radixflow.cli.cluster;

import java.nio.file.Files;
import java.nio.file.Path;

/** The main class of a process that starts another one under a watchdog and waits for its end. */
final class WatchdogOwner {

  private WatchdogOwner() {}

  /**
   * Watches a process and a directory.
   *
   * @param arguments the directory to delete at the end, and the file that gets the process's id
   */
  public static void main(String[] arguments) throws Exception {
    Watchdog watchdog = Watchdog.start();
    watchdog.delete(Path.of(arguments[0]));
    Process ended = new ProcessBuilder("true").start();
    watchdog.watch(ended);
    ended.waitFor();
    Process watched = new ProcessBuilder("sleep", "600").start();
    watchdog.watch(watched);
    Path announced = Path.of(arguments[1]);
    Path written = Files.writeString(Path.of(announced + ".new"), Long.toString(watched.pid()));
    Files.move(written, announced);
    watched.waitFor();
  }
}
