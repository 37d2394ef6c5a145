package io.radixflow.engine.schedule;

import io.radixflow.engine.pages.KvPages;
import io.radixflow.engine.request.Request;
import java.util.List;

/**
 * Makes a waiting request wait for a prefix that a running request computes right now, instead of
 * computing it a second time. The request is compared with all running requests when it would be
 * admitted. Later it is compared only with the request that it waits for.
 */
final class SharedPrefixes {
  /** A shorter shared prefix is computed twice; waiting for it does not pay. */
  static final int WORTH_WAITING_TOKENS = 32;

  private final KvPages pages;
  private long deferrals;

  SharedPrefixes(KvPages pages) {
    this.pages = pages;
  }

  /** Returns how often a request began to wait. */
  long deferrals() {
    return deferrals;
  }

  /** Returns whether a request that began to wait for a prefix must keep waiting. */
  boolean isWaiting(Request request) {
    Request other = request.standing.awaited();
    if (other == null) {
      return false;
    }
    if (isComputing(other) && other.pages.cached() < request.standing.awaitedPages()) {
      return true;
    }
    request.standing.awaitNoPrefix();
    return false;
  }

  /** Returns whether a request with {@code matched} cached pages should start to wait. */
  boolean shouldWait(Request request, int matched, List<Request> running) {
    if (request.reply.scores() != null) {
      return false; // the request computes its whole prompt itself
    }
    for (int i = 0; i < running.size(); i++) {
      Request other = running.get(i);
      if (isComputing(other)) {
        int shared = pages.sharedPages(request, other);
        if (other.pages.cached() < shared
            && (shared - matched) * pages.pageTokens() >= WORTH_WAITING_TOKENS) {
          pages.await(other, shared);
          request.standing.awaitPrefix(other, shared);
          deferrals++;
          return true;
        }
      }
    }
    return false;
  }

  private static boolean isComputing(Request other) {
    return other.standing.isRunning() && other.steps.isPrefilling() && !other.isPaused();
  }
}
