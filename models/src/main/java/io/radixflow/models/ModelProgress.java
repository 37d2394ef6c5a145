package io.radixflow.models;

import java.util.Locale;

/** Listens while a model is fetched or loaded. It is called on the thread that does the work. */
public interface ModelProgress {

  /** Ignores all events. */
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

  /** One line about a step that starts or has failed. */
  void step(String text);

  /**
   * A transfer begins.
   *
   * @param what name of the file
   * @param totalBytes size of the file, or -1 if it is unknown
   * @param doneBytes bytes that an earlier attempt has fetched
   */
  void begin(String what, long totalBytes, long doneBytes);

  /** More bytes have arrived. 0 means only that time has passed. */
  void advance(long bytes);

  /** The current transfer has ended, successfully or not. */
  void end();

  /** Formats the progress of a transfer that started {@code nanos} ago: percent, bytes and rate. */
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
