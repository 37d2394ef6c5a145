package io.radixflow.operators.flink.recovery;

import io.radixflow.protocol.PublicApi;
import java.io.Serializable;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Finds the replies that an output lost because it committed them too late. An output commits when
 * a checkpoint is complete, and does not report a failed commit. Serialized in the job graph.
 */
@PublicApi
public interface LostReplies extends Serializable {

  /** Identifies a reply; each turn id of a session has one. */
  record Id(String session, String turn) {}

  /**
   * Returns for how many milliseconds after a reply was emitted its commit succeeds, unless the job
   * fails.
   */
  long commitMillis();

  /**
   * Starts looking for replies.
   *
   * @param wanted replies of complete checkpoints, emitted once since then at most
   * @param since when the first of these replies was emitted, milliseconds since the epoch
   */
  Search search(Set<Id> wanted, long since);

  /** A search in the background that ends with a result or when it is closed. */
  interface Search extends AutoCloseable {

    /**
     * Returns the wanted replies that the output accepted but will never commit. Completes on any
     * thread; never completes after the search is closed.
     */
    CompletableFuture<Set<Id>> lost();

    /** Ends the search and its thread. Idempotent. */
    @Override
    void close();
  }
}
