package io.radixflow.operators.engine;

/**
 * The channel from which one consumer reads the progress of its requests; see {@link
 * Engine#openChannel}.
 */
public interface ReplyChannel extends AutoCloseable {

  /**
   * Passes all progress since the last drain to {@code visitor}, in order within a request. Called
   * by one thread at a time, the consumer; reading frees room in the requests' bounded rings, so a
   * consumer that does not drain pauses its own requests only.
   *
   * @throws EngineLostException once the engine's device is lost
   */
  void drain(ReplyVisitor visitor);

  /** Cancels the channel's requests and yields nothing more. Idempotent, any thread. */
  @Override
  void close();

  /** Receives progress on the consumer's thread. */
  interface ReplyVisitor {

    /**
     * A request's prompt is ready: called once, before its first progress, unless the prompt could
     * not be made. The request's {@link EngineRequest.PromptSource} has made its ids by now.
     */
    void promptReady(long requestId);

    /** Receives the progress of a request, or its end. */
    void progress(long requestId, ReplyProgress progress);
  }
}
