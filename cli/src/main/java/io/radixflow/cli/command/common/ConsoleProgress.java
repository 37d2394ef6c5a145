package io.radixflow.cli.command.common;

import io.radixflow.models.ModelProgress;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * Shows steps as lines. A transfer of more than two seconds gets a progress bar, or a line every
 * ten seconds if the output is not a terminal.
 */
public final class ConsoleProgress implements ModelProgress {
  private static final long SHOW_AFTER = Duration.ofSeconds(2).toNanos();
  private static final long REDRAW = Duration.ofMillis(200).toNanos();
  private static final long LINE = Duration.ofSeconds(10).toNanos();
  private static final int BAR = 30;

  private final PrintWriter out;
  private final boolean terminal;
  private final LongSupplier nanoTime;
  private String what = "";
  private long total;
  private long done;
  private long resumed;
  private long begun;
  private long drawn;
  private boolean visible;

  /**
   * @param out the output, usually standard error
   * @param terminal whether a line can be redrawn
   * @param nanoTime a clock
   */
  public ConsoleProgress(PrintWriter out, boolean terminal, LongSupplier nanoTime) {
    this.out = out;
    this.terminal = terminal;
    this.nanoTime = nanoTime;
  }

  @Override
  public void step(String text) {
    out.println(text);
    out.flush();
  }

  @Override
  public void begin(String name, long totalBytes, long doneBytes) {
    what = name;
    total = totalBytes;
    done = doneBytes;
    resumed = doneBytes;
    begun = nanoTime.getAsLong();
    drawn = begun + SHOW_AFTER - (terminal ? REDRAW : LINE);
    visible = false;
  }

  @Override
  public void advance(long bytes) {
    done += bytes;
    long now = nanoTime.getAsLong();
    if (now - drawn >= (terminal ? REDRAW : LINE)) {
      drawn = now;
      draw(now);
    }
  }

  @Override
  public void end() {
    if (visible) {
      draw(nanoTime.getAsLong());
      if (terminal) {
        out.println();
        out.flush();
      }
    }
    visible = false;
  }

  private void draw(long now) {
    visible = true;
    String line = line(Math.max(1, now - begun));
    if (terminal) {
      out.print("\r" + line + "  ");
    } else {
      out.println(line);
    }
    out.flush();
  }

  private String line(long nanos) {
    if (total <= 0) {
      return what + ": " + nanos / 1_000_000_000 + " s" + (done > 0 ? ", " + megabytes(done) : "");
    }
    int filled = (int) (Math.min(done, total) * BAR / total);
    String bar = "=".repeat(filled) + " ".repeat(BAR - filled);
    double rate = (done - resumed) / (nanos / 1e9) / 1e6;
    return String.format(
        Locale.ROOT,
        "%s [%s] %d %% of %s, %.1f MB/s",
        what,
        bar,
        Math.min(100, done * 100 / total),
        megabytes(total),
        rate);
  }

  private static String megabytes(long bytes) {
    return String.format(Locale.ROOT, "%.1f MB", bytes / 1e6);
  }
}
