package io.radixflow.cli.command.common;

import io.radixflow.models.ModelProgress;
import java.util.function.LongSupplier;

/** Shows in a command's progress how far the load of a model is. */
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
