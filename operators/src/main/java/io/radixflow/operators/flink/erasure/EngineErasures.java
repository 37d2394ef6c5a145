package io.radixflow.operators.flink.erasure;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Erasures that an engine has still to do. One that several subtasks ask for is done once; one that
 * a disk has no part in, though there is one that is detached or does not open, is done again when
 * it is attached, and so is one that failed. Any thread; never waits.
 */
public final class EngineErasures {
  private static final Logger LOG = LoggerFactory.getLogger(EngineErasures.class);

  private final BooleanSupplier hasDisk;
  private final Map<String, Erasure> active = new LinkedHashMap<>();

  /**
   * @param work completes with whether a disk had its part
   */
  private record Erasure(Supplier<CompletableFuture<Boolean>> work, CompletableFuture<Void> done) {}

  /**
   * @param hasDisk whether there are, or may be, pages on a disk, attached or not
   */
  public EngineErasures(BooleanSupplier hasDisk) {
    this.hasDisk = hasDisk;
  }

  /**
   * Begins an erasure, unless it is under way.
   *
   * @param key names it
   * @param work does it; completes with whether a disk had its part
   * @return completes when all bytes are gone
   */
  public CompletableFuture<Void> begin(String key, Supplier<CompletableFuture<Boolean>> work) {
    Erasure erasure;
    synchronized (this) {
      Erasure known = active.get(key);
      if (known != null) {
        return known.done;
      }
      erasure = new Erasure(work, new CompletableFuture<>());
      active.put(key, erasure);
    }
    run(key, erasure);
    return erasure.done;
  }

  private void run(String key, Erasure erasure) {
    erasure
        .work
        .get()
        .whenComplete(
            (disk, failure) -> {
              if (failure != null) {
                LOG.warn("Pages are not erased yet", failure);
              } else if (disk || !hasDisk.getAsBoolean()) {
                synchronized (this) {
                  active.remove(key, erasure);
                }
                erasure.done.complete(null);
              }
            });
  }

  /** A disk was attached: what it has had no part in is done again. */
  public void again() {
    Map<String, Erasure> all;
    synchronized (this) {
      all = new LinkedHashMap<>(active);
    }
    all.forEach(this::run);
  }

  /** The erasures that are not done. */
  public synchronized List<String> active() {
    return List.copyOf(active.keySet());
  }
}
