package io.radixflow.operators.engine;

/**
 * Generates replies with continuous batching over one backend and one radix cache.
 *
 * <p>One engine thread owns the backend, the KV pool, the radix cache and every running request;
 * nothing in there is locked. Callers hand requests in from any thread and read progress from a
 * {@link ReplyChannel} of their own; neither side ever waits for the other.
 */
public interface Engine extends AutoCloseable {

  /** What the engine runs and how large it is; constant. */
  EngineInfo info();

  /**
   * Opens a channel for one consumer. A channel of the same job and subtask with an older attempt
   * is fenced: its requests are cancelled and it yields nothing more. A channel older than one
   * already seen is fenced from the start.
   *
   * @param onReady runs on the engine thread, at most once between two drains, when there is
   *     something to {@link ReplyChannel#drain}; must not block or throw
   */
  ReplyChannel openChannel(ChannelId id, Runnable onReady);

  /**
   * Hands a request in; never blocks. Its prompt is made on an intake thread. A request that cannot
   * be served ends through the channel with {@link FinishReason#REJECTED} or {@link
   * FinishReason#ERROR}, never with an exception here.
   *
   * @param requestId unique among the channel's live requests; chosen by the caller
   */
  void submit(ReplyChannel channel, long requestId, EngineRequest request);

  /**
   * Ends a request early; its last progress has {@code reason}. Without effect if it has ended.
   *
   * @param reason {@link FinishReason#CANCELLED} or {@link FinishReason#REPLACED}
   */
  void cancel(ReplyChannel channel, long requestId, FinishReason reason);

  /**
   * Forgets a session: cached pages that nobody else uses are freed, those of requests that still
   * run as they end. Requests submitted afterwards under the same id are a new session's. Never
   * blocks; without effect if the session is not known.
   *
   * @param session id as in {@link SessionRef}
   */
  void closeSession(String session);

  /**
   * Why the engine is of use no more, or null: its device is lost. Its channels then throw this
   * from {@link ReplyChannel#drain}.
   */
  default EngineLostException lost() {
    return null;
  }

  /** A consistent snapshot of counters and gauges; cheap, any thread. */
  EngineStats stats();

  /** Cancels what runs, stops all threads, frees the pool and closes the backend. Idempotent. */
  @Override
  void close();
}
