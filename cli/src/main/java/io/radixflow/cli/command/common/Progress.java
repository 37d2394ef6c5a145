package io.radixflow.cli.command.common;

import java.io.PrintWriter;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Shows on stderr that something is running, after a moment. On a terminal a line is redrawn each
 * second; otherwise a new line is printed every half minute. Thread-safe.
 */
public final class Progress implements AutoCloseable {
  private static final long PLAIN_SECONDS = 30;

  private final String what;
  private final PrintWriter err;
  private final boolean terminal;
  private final long start = System.nanoTime();
  private final ScheduledExecutorService timer;
  private volatile String detail = "";
  private int drawn;

  private Progress(String what, PrintWriter err, CliEnvironment environment) {
    this.what = what;
    this.err = err;
    this.terminal = environment.terminal();
    timer =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, "progress");
              thread.setDaemon(true);
              return thread;
            });
    timer.scheduleAtFixedRate(
        this::draw,
        environment.quiet().toSeconds(),
        terminal ? 1 : PLAIN_SECONDS,
        TimeUnit.SECONDS);
  }

  static Progress start(String what, PrintWriter err, CliEnvironment environment) {
    return new Progress(what, err, environment);
  }

  /** Sets the progress for the next time that the line is drawn. After the end, prints it. */
  public synchronized void detail(String text) {
    detail = text;
    if (timer.isShutdown()) {
      err.println(text);
      err.flush();
    }
  }

  private synchronized void draw() {
    if (timer.isShutdown()) {
      return;
    }
    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
    String line = what + " ... " + (detail.isEmpty() ? "" : detail + ", ") + seconds + " s";
    if (terminal) {
      err.print("\r" + line + " ".repeat(Math.max(0, drawn - line.length())));
      drawn = line.length();
    } else {
      err.println(line);
    }
    err.flush();
  }

  /** Ends the report and clears its line. */
  @Override
  public synchronized void close() {
    timer.shutdownNow();
    if (drawn > 0) {
      err.print("\r" + " ".repeat(drawn) + "\r");
      err.flush();
      drawn = 0;
    }
  }
}
