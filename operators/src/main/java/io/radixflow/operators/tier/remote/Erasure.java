package io.radixflow.operators.tier.remote;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Steps that must succeed before removed pages are gone. What fails is tried again. Safe for
 * several threads.
 */
final class Erasure {

  /** Something that must succeed before bytes are gone. */
  @FunctionalInterface
  interface Step {
    void run() throws IOException;
  }

  private static final Logger LOG = LoggerFactory.getLogger(Erasure.class);

  private final ConcurrentSkipListMap<Long, Step> pending = new ConcurrentSkipListMap<>();
  private final List<Waiting> waiting = new ArrayList<>();
  private boolean failing;
  private long last;

  /** Who waits for all steps up to one. */
  private record Waiting(long upTo, CompletableFuture<Void> done) {}

  /** Puts a step in the queue. */
  synchronized void add(Step step) {
    pending.put(++last, step);
  }

  boolean isEmpty() {
    return pending.isEmpty();
  }

  /** Does what is in the queue; called by one thread at a time. */
  void run() {
    Set<Long> done = new HashSet<>();
    Exception failed = null;
    for (Map.Entry<Long, Step> step : pending.entrySet()) {
      try {
        step.getValue().run();
        done.add(step.getKey());
      } catch (IOException | RuntimeException e) {
        failed = e;
      }
    }
    if (failed != null && !failing) {
      LOG.warn("Removed pages are not deleted yet; deleting is tried again", failed);
    }
    failing = failed != null;
    List<Waiting> told = new ArrayList<>();
    synchronized (this) {
      pending.keySet().removeAll(done);
      for (Waiting each : waiting) {
        if (isDone(each.upTo)) {
          told.add(each);
        }
      }
      waiting.removeAll(told);
    }
    told.forEach(each -> each.done.complete(null));
  }

  private boolean isDone(long upTo) {
    return pending.isEmpty() || pending.firstKey() > upTo;
  }

  /** Completes when what is in the queue now is done. */
  synchronized CompletableFuture<Void> done() {
    Waiting each = new Waiting(++last, new CompletableFuture<>());
    pending.put(each.upTo, () -> {});
    waiting.add(each);
    return each.done;
  }
}
