package io.radixflow.operators.flink.recovery;

import io.radixflow.protocol.PublicApi;
import java.io.Serializable;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Finds the replies that an output lost because it committed them too late: it commits when a
 * checkpoint is complete, and does not report a commit that failed. Travels in the job graph.
 */
@PublicApi
public interface LostReplies extends Serializable {

  /** Names a reply: there is one to a turn id of a session. */
  record Id(String session, String turn) {}

  /**
   * For how long after a reply was emitted its commit succeeds, unless the job fails, in
   * milliseconds.
   */
  long commitMillis();

  /**
   * Begins to look for replies.
   *
   * @param wanted replies of complete checkpoints, emitted once since then at most
   * @param since when the first of them was emitted, milliseconds since the epoch
   */
  Search search(Set<Id> wanted, long since);

  /** A search in the background that ends with a result or when it is closed. */
  interface Search extends AutoCloseable {

    /**
     * Returns the wanted replies that the output took and did not and will not commit. Completed on
     * any thread; never once the search is closed.
     */
    CompletableFuture<Set<Id>> lost();

    /** Ends the search and its thread. Idempotent. */
    @Override
    void close();
  }
}
