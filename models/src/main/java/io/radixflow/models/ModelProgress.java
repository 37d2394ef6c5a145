package io.radixflow.models;

import java.util.Locale;

/** Listens while a model is fetched or loaded, on the thread that does it. */
public interface ModelProgress {

  /** Ignores all steps. */
  ModelProgress NONE =
      new ModelProgress() {
        @Override
        public void step(String text) {}

        @Override
        public void begin(String what, long totalBytes, long doneBytes) {}

        @Override
        public void advance(long bytes) {}

        @Override
        public void end() {}
      };

  /** One line about a step that begins or has failed. */
  void step(String text);

  /**
   * A transfer begins.
   *
   * @param what a file's name
   * @param totalBytes its size, or -1 where that is unknown
   * @param doneBytes bytes that an earlier attempt left
   */
  void begin(String what, long totalBytes, long doneBytes);

  /** More bytes have come; 0 says only that time has passed. */
  void advance(long bytes);

  /** The transfer that began last is over, well or not. */
  void end();

  /** Formats how far a transfer is that began so long ago: percent, bytes and rate. */
  static String state(long done, long total, long nanos) {
    double bytesPerSecond = done / Math.max(1e-3, nanos / 1e9);
    return String.format(
        Locale.ROOT,
        "%d %% of %d MB, %.0f MB/s",
        total <= 0 ? 100 : Math.min(100, done * 100 / total),
        total >> 20,
        bytesPerSecond / (1 << 20));
  }
}
