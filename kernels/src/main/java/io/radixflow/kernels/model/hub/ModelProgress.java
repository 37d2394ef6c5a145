package io.radixflow.kernels.model.hub;

/** Listens to the steps of a {@link ModelResolver}, on the thread that resolves. */
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
}
