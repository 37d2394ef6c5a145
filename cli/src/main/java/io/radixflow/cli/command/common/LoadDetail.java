package io.radixflow.cli.command.common;

import io.radixflow.models.ModelProgress;
import java.util.function.LongSupplier;

/** Shows how much of a model is loaded, in the progress of a command. */
final class LoadDetail implements ModelProgress {
  private final Progress shown;
  private final LongSupplier nanoTime;
  private long total;
  private long done;
  private long begun;

  /**
   * @param nanoTime a clock
   */
  LoadDetail(Progress shown, LongSupplier nanoTime) {
    this.shown = shown;
    this.nanoTime = nanoTime;
  }

  @Override
  public void step(String text) {
    shown.detail(text);
  }

  @Override
  public void begin(String what, long totalBytes, long doneBytes) {
    total = totalBytes;
    done = doneBytes;
    begun = nanoTime.getAsLong();
  }

  @Override
  public void advance(long bytes) {
    done += bytes;
    shown.detail(ModelProgress.state(done, total, nanoTime.getAsLong() - begun));
  }

  @Override
  public void end() {
    shown.detail("");
  }
}
