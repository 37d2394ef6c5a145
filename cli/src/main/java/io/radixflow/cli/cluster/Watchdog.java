package io.radixflow.cli.cluster;

import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * A shell that outlives this JVM by a moment. When this JVM ends in any way, the shell's input
 * ends. The shell then kills the registered processes and deletes the registered directory.
 * Thread-safe.
 */
final class Watchdog implements AutoCloseable {

  /** The shell ignores signals, because Ctrl-C on a terminal reaches it as well. */
  private static final String SCRIPT =
      """
      trap '' INT TERM HUP
      pids=
      directory=
      while IFS=' ' read -r what value; do
        case $what in
          started) pids="$pids $value" ;;
          ended)
            left=
            for pid in $pids; do
              [ "$pid" = "$value" ] || left="$left $pid"
            done
            pids=$left
            ;;
          delete) directory=$value ;;
          dismissed) exit 0 ;;
        esac
      done
      [ -z "$pids" ] || kill -9 $pids
      [ -z "$directory" ] || rm -rf -- "$directory"
      """;

  private final Process shell;
  private final Writer orders;

  private Watchdog(Process shell) {
    this.shell = shell;
    this.orders = new OutputStreamWriter(shell.getOutputStream(), StandardCharsets.UTF_8);
  }

  static Watchdog start() throws IOException {
    return new Watchdog(
        new ProcessBuilder("/bin/sh", "-c", SCRIPT)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start());
  }

  /** Registers a directory to delete at the end. */
  void delete(Path directory) throws IOException {
    if (directory.toString().indexOf('\n') >= 0) {
      throw new IOException("a line break in " + directory);
    }
    send("delete " + directory);
  }

  /** Registers a process to kill at the end, unless it has ended before. */
  void watch(Process process) throws IOException {
    send("started " + process.pid());
    process.onExit().thenRun(() -> forget(process.pid()));
  }

  private void forget(long pid) {
    try {
      send("ended " + pid);
    } catch (IOException dismissed) {
      // there is nothing left to watch
    }
  }

  private synchronized void send(String order) throws IOException {
    orders.write(order + "\n");
    orders.flush();
  }

  /**
   * Ends the watch; nothing is killed or deleted. If the shell has ended, the watch has ended too.
   */
  @Override
  public void close() {
    try {
      send("dismissed");
      shell.waitFor();
    } catch (IOException gone) {
      shell.destroyForcibly();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  long pid() {
    return shell.pid();
  }
}
