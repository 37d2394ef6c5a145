package io.radixflow.engine;

import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.kv.TierTokens;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Generates replies with continuous batching over one backend and one radix cache.
 *
 * <p>One engine thread owns the backend, the KV pool, the radix cache and every running request;
 * none of these needs a lock. Callers submit requests from any thread and read progress from their
 * own {@link ReplyChannel}; neither side ever waits for the other.
 */
public interface Engine extends AutoCloseable {

  /** Returns the model and the sizes of the engine; constant. */
  EngineInfo info();

  /** Returns the shares of tenants; a tenant that is not named has weight 1. Constant. */
  default Map<String, Integer> tenantWeights() {
    return Map.of();
  }

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
   * Submits a request; never blocks. Its prompt is made on an intake thread. A request that cannot
   * be served ends through the channel with {@link FinishReason#REJECTED} or {@link
   * FinishReason#ERROR}, never with an exception here.
   *
   * @param requestId unique among the channel's requests that have not ended; chosen by the caller
   */
  void submit(ReplyChannel channel, long requestId, EngineRequest request);

  /**
   * Ends a request early; its last progress has {@code reason}. Without effect if it has ended.
   *
   * @param reason {@link FinishReason#CANCELLED} or {@link FinishReason#REPLACED}
   */
  void cancel(ReplyChannel channel, long requestId, FinishReason reason);

  /**
   * Prepares the pages at the beginning of an announced turn's prompt. It loads them from the tiers
   * below host memory, and computes pages that no tier has while the engine is idle. The
   * preparation ends when it is done, when a request of that branch is submitted, or when the
   * session is closed. Never blocks, and has no result.
   *
   * @param turn the known facts of the turn: the beginning of its prompt, its session (required),
   *     namespace, service class and the value of its pages; other fields are ignored
   * @return false if too many turns are announced already
   */
  default boolean prefetch(EngineRequest turn) {
    return true;
  }

  /**
   * Withdraws the announcement of a branch's next turn: its preparation stops, and no pages of its
   * session stay pinned. Never blocks.
   */
  default void withdraw(SessionRef turn) {}

  /**
   * Closes a session: cached pages that only it uses are freed; pages of running requests are freed
   * when the requests end. A request submitted later with the same id starts a new session. Never
   * blocks; without effect if the session is not known.
   *
   * @param session id as in {@link SessionRef}
   */
  void closeSession(String session);

  /**
   * Erases pages in all tiers below the device, no matter which engine wrote them. A page is kept
   * if a page that follows it is kept. Never blocks.
   *
   * @param pages makes the {@link PageNames names} of the pages; called on a thread that may block
   * @return completes on any thread when no file of the engine contains their bytes; true if the
   *     engine has a store. Never completes after the engine was closed
   */
  default CompletableFuture<Boolean> erase(Supplier<byte[]> pages) {
    return CompletableFuture.completedFuture(false);
  }

  /**
   * Drops all text that is kept outside pages: compiled grammars, and the tokens of ended turns
   * that are the source of drafts. Never blocks.
   */
  default void eraseTexts() {}

  /** Erases all pages, as {@link #erase} does, and what {@link #eraseTexts} drops. */
  default CompletableFuture<Boolean> eraseAll() {
    return CompletableFuture.completedFuture(false);
  }

  /**
   * Erases all pages of a tenant except those in the public namespace, as {@link #erase} does, and
   * what {@link #eraseTexts} drops.
   */
  default CompletableFuture<Boolean> eraseTenant(String tenant) {
    return CompletableFuture.completedFuture(false);
  }

  /** Returns whether a turn can find pages of the previous turn of its conversation. */
  default boolean keepsPages() {
    return true;
  }

  /**
   * Returns where the pages of a conversation are now. Changes nothing, not even the order of
   * eviction. Never blocks: the engine thread does at most one look-up per page.
   *
   * @param tenant the tenant whose share of the intake threads it uses
   * @param namespace its cache namespace
   * @param text its tokens; called on an intake thread
   * @return completes on any thread; never completes after the engine was closed
   */
  default CompletableFuture<TierTokens> locate(
      String tenant, String namespace, EngineRequest.PromptSource text) {
    return CompletableFuture.completedFuture(TierTokens.NONE);
  }

  /**
   * Returns the reason why the engine cannot run anything more, or null if its device is usable.
   * Its channels then throw this from {@link ReplyChannel#drain}.
   */
  default EngineLostException lost() {
    return null;
  }

  /** Returns a consistent snapshot of counters and gauges; cheap, any thread. */
  EngineStats stats();

  /** Cancels all requests, stops all threads, frees the pool and closes the backend. Idempotent. */
  @Override
  void close();
}
