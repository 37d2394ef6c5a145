package io.radixflow.operators.flink.erasure;

import io.radixflow.engine.Engine;
import io.radixflow.engine.PageNames;
import io.radixflow.operators.flink.erasure.Erasures.Erasure;
import io.radixflow.operators.flink.erasure.Erasures.What;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The erasures of pages and keys that are not finished in all subtasks. An erasure for all subtasks
 * is pending until the coordinator has sent it back and this engine has erased the pages. Only the
 * task's thread uses this.
 */
final class PageErasures {
  private static final Logger LOG = LoggerFactory.getLogger(PageErasures.class);
  private static final String ALL = "all";

  private final Engine engine;
  private final TenantKeyState keys;
  private final OperatorEventGateway coordinator;
  private final int maxPages;
  private final ErasureTasks tasks;
  private final Map<String, Pages> pending = new LinkedHashMap<>();
  private long pages;

  private static final class Pages {
    private final What what;
    private final int most;
    private Supplier<byte[]> maker;
    private byte[] names;
    private boolean toPassOn;
    private boolean done;

    /**
     * @param maker computes the names; called once
     * @param most maximum number of pages
     * @param toPassOn whether the coordinator must still send the erasure back
     */
    Pages(What what, Supplier<byte[]> maker, int most, boolean toPassOn) {
      this.what = what;
      this.maker = maker;
      this.most = most;
      this.toPassOn = toPassOn;
    }

    Pages(What what, byte[] names, boolean toPassOn) {
      this(what, () -> names, what.namesPages() ? names.length / PageNames.BYTES : 0, toPassOn);
    }

    /** Returns the names; the first caller computes them. Any thread. */
    synchronized byte[] names() {
      if (names == null) {
        try {
          names = maker.get();
        } catch (RuntimeException e) {
          LOG.error("Pages were not erased because their names could not be computed", e);
          names = new byte[0];
        }
        maker = null;
      }
      return names;
    }
  }

  /**
   * @param coordinator passes erasures on to all subtasks; null if there is only one subtask
   * @param maxPages maximum number of pending pages; if there are more, all pages are erased
   */
  PageErasures(
      Engine engine,
      TenantKeyState keys,
      OperatorEventGateway coordinator,
      int maxPages,
      ErasureTasks tasks) {
    this.engine = engine;
    this.keys = keys;
    this.coordinator = coordinator;
    this.maxPages = maxPages;
    this.tasks = tasks;
  }

  /**
   * Starts erasing pages.
   *
   * @param what PAGES, or SESSION to also erase the texts of the session
   * @param names computes the digests of the pages, concatenated, each after the digest of its
   *     parent; any thread
   * @param most maximum number of digests
   * @param everywhere whether the engines of all subtasks erase the pages
   */
  void erase(What what, Supplier<byte[]> names, int most, boolean everywhere) {
    boolean toPassOn = everywhere && coordinator != null;
    if (pages + most <= maxPages) {
      add(UUID.randomUUID().toString(), new Pages(what, names, most, toPassOn));
      return;
    }
    LOG.warn("More than {} pages wait to be erased: all pages of the tiers are erased", maxPages);
    for (Pages each : List.copyOf(pending.values())) {
      if (each.what != What.KEYS) {
        toPassOn |= each.toPassOn;
        pending.values().remove(each);
      }
    }
    pages = 0;
    add(ALL, new Pages(What.ALL_PAGES, new byte[0], toPassOn));
  }

  /**
   * Starts deleting keys in all subtasks. Does nothing if there are no keys or only one subtask.
   */
  void eraseKeys(byte[] ids) {
    if (ids.length > 0 && coordinator != null) {
      add(UUID.randomUUID().toString(), new Pages(What.KEYS, ids, true));
    }
  }

  /** Starts an erasure that was restored from a checkpoint. */
  void restore(String id, What what, byte[] names) {
    add(id, new Pages(what, names, false));
  }

  private void add(String id, Pages erasure) {
    if (pending.putIfAbsent(id, erasure) == null) {
      pages += erasure.most;
      begin(id, erasure);
    }
  }

  private void begin(String id, Pages erasure) {
    if (erasure.what == What.SESSION) {
      engine.eraseTexts();
    }
    switch (erasure.what) {
      case PAGES, SESSION ->
          tasks.whenErased(
              engine.erase(
                  () -> {
                    byte[] names = erasure.names();
                    tasks.post(() -> passOn(id, erasure));
                    return names;
                  }),
              everywhere -> done(id, erasure, everywhere));
      case ALL_PAGES -> {
        passOn(id, erasure);
        tasks.whenErased(engine.eraseAll(), everywhere -> done(id, erasure, everywhere));
      }
      case KEYS -> {
        passOn(id, erasure);
        keys.delete(erasure.names());
        done(id, erasure, true);
      }
    }
  }

  private void passOn(String id, Pages erasure) {
    if (erasure.toPassOn) {
      coordinator.sendEventToCoordinator(new Erasure(id, erasure.what, erasure.names()));
    }
  }

  /**
   * Starts an erasure of another subtask, or records that all subtasks have received an erasure of
   * this one.
   */
  void receive(Erasure event) {
    Pages known = pending.get(event.id());
    if (known == null) {
      add(event.id(), new Pages(event.what(), event.names(), false));
    } else {
      known.toPassOn = false;
      done(event.id(), known, known.done);
    }
  }

  private void done(String id, Pages erasure, boolean done) {
    erasure.done |= done;
    if (erasure.done && !erasure.toPassOn && pending.remove(id, erasure)) {
      pages -= erasure.most;
    }
  }

  /** Starts all pending erasures again. */
  void retry() {
    Map.copyOf(pending).forEach(this::begin);
  }

  int count() {
    return pending.size();
  }

  /** Passes each pending erasure to a writer. */
  void forEach(Writer writer) throws Exception {
    for (Map.Entry<String, Pages> each : pending.entrySet()) {
      writer.write(each.getKey(), each.getValue().what, each.getValue().names());
    }
  }

  /** Writes one erasure to the state. */
  interface Writer {
    void write(String id, What what, byte[] names) throws Exception;
  }
}
