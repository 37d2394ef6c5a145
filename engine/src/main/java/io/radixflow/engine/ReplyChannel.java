package io.radixflow.engine;

/**
 * The channel from which one consumer reads the progress of its requests; see {@link
 * Engine#openChannel}.
 */
public interface ReplyChannel extends AutoCloseable {

  /**
   * Passes all progress since the last drain to {@code visitor}, in order within a request. Only
   * one thread, the consumer, may call this at a time. Reading frees room in the requests' bounded
   * rings, so a consumer that does not drain pauses only its own requests.
   *
   * @throws EngineLostException once the engine's device is lost
   */
  void drain(ReplyVisitor visitor);

  /**
   * Cancels the channel's requests; the channel then delivers no further progress. Idempotent, any
   * thread.
   */
  @Override
  void close();

  /** Receives progress on the consumer's thread. */
  interface ReplyVisitor {

    /**
     * Called once when the prompt of a request is ready, before its first progress. The request's
     * {@link EngineRequest.PromptSource} has made the ids. Not called if the source failed.
     */
    void promptReady(long requestId);

    /** Receives the progress of a request, or its end. */
    void progress(long requestId, ReplyProgress progress);
  }
}
