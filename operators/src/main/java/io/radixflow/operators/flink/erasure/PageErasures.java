package io.radixflow.operators.flink.erasure;

import io.radixflow.operators.engine.Engine;
import io.radixflow.operators.tier.page.PageId;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Owns the erasures of pages that this subtask's engine has not confirmed. What they are of is gone
 * from keyed state already; the names of the pages, which are digests under a key, stay in the
 * checkpoint until no file of the engine has the bytes, and until all other subtasks have them,
 * too, if they are to. After a restore all subtasks begin with what any of them had, since nobody
 * knows whose disk the pages are on.
 *
 * <p>The names are made by an engine's thread, or by a checkpoint that comes before. More of them
 * than {@link #MAX_PAGES}, which only a disk that is away or broken can bring about, become one
 * erasure of all pages there are. The task's thread alone calls this.
 */
public final class PageErasures {
  private static final Logger LOG = LoggerFactory.getLogger(PageErasures.class);
  private static final String ALL = "all";

  /** Pages that may be waited for: 8 MiB of names. */
  public static final int MAX_PAGES = 1 << 18;

  private final ListState<Tuple2<String, byte[]>> saved;
  private final int maxPages;
  private final Map<String, Pending> pending = new LinkedHashMap<>();

  /** Those that this subtask's engine has confirmed and not all others have heard of. */
  private final Set<String> confirmed = new HashSet<>();

  /** Those that others have still to hear of. */
  private final Set<String> untold = new HashSet<>();

  private Engine engine;
  private OperatorEventGateway coordinator;
  private EngineErasures erasures;
  private MailboxExecutor mailbox;
  private long pages;

  /**
   * @param names makes the digests in a row; of all pages there are if it is null
   * @param pages how many there are at most
   */
  private record Pending(FutureTask<byte[]> names, int pages) {
    byte[] get() {
      names.run();
      try {
        return names.get();
      } catch (ExecutionException e) {
        LOG.error("Pages that were to be erased could not be named", e.getCause());
        return new byte[0];
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while pages were being named", e);
      }
    }
  }

  public PageErasures(OperatorStateStore store, int maxPages) throws Exception {
    this.maxPages = maxPages;
    saved =
        store.getUnionListState(
            new ListStateDescriptor<>(
                "page-erasures",
                Types.TUPLE(Types.STRING, PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO)));
    for (Tuple2<String, byte[]> each : saved.get()) {
      put(each.f0, ofNames(each.f1));
    }
  }

  private static Pending ofNames(byte[] names) {
    return new Pending(new FutureTask<>(() -> names), PageId.all(names).length);
  }

  private boolean put(String key, Pending erasure) {
    boolean fresh = pending.putIfAbsent(key, erasure) == null;
    pages += fresh ? erasure.pages : 0;
    return fresh;
  }

  /**
   * Begins what a checkpoint had.
   *
   * @param coordinator passes erasures on to all subtasks; null if there are no others
   */
  public void open(
      Engine engine,
      EngineErasures erasures,
      MailboxExecutor mailbox,
      OperatorEventGateway coordinator) {
    this.coordinator = coordinator;
    this.engine = engine;
    this.erasures = erasures;
    this.mailbox = mailbox;
    Map.copyOf(pending).forEach(this::begin);
  }

  /**
   * Begins an erasure.
   *
   * @param names makes the digests of the pages in a row, none before its parent's
   * @param most how many they are at most
   * @param everywhere whether all engines do it
   */
  public void add(FutureTask<byte[]> names, int most, boolean everywhere) {
    if (pages + most > maxPages) {
      LOG.warn("Too many pages wait to be erased: all pages of the engines go");
      pending.clear();
      untold.clear();
      confirmed.clear();
      pages = 0;
      add(ALL, ofNames(new byte[0]));
    } else {
      String key = UUID.randomUUID().toString();
      if (everywhere && coordinator != null) {
        untold.add(key);
      }
      add(key, new Pending(names, most));
    }
  }

  private void add(String key, Pending erasure) {
    if (put(key, erasure)) {
      begin(key, erasure);
    }
  }

  private void begin(String key, Pending erasure) {
    erasures
        .begin(
            key,
            () -> key.equals(ALL) ? engine.eraseAll() : engine.erase(() -> names(key, erasure)))
        .thenRun(() -> post(() -> confirmed(key)));
  }

  /** On an engine's thread. */
  private PageId[] names(String key, Pending erasure) {
    byte[] names = erasure.get();
    post(() -> tell(key, names));
    return PageId.all(names);
  }

  private void post(Runnable task) {
    try {
      mailbox.execute(task::run, "erasure of pages");
    } catch (RejectedExecutionException closing) {
      // the task is going away; a checkpoint has the erasure
    }
  }

  private void tell(String key, byte[] names) {
    if (untold.contains(key)) {
      coordinator.sendEventToCoordinator(new PagesToErase(key, names));
    }
  }

  /** All subtasks have an erasure, this one included. */
  public void heard(PagesToErase event) {
    untold.remove(event.key());
    if (confirmed.contains(event.key())) {
      done(event.key());
    } else {
      add(event.key(), ofNames(event.names()));
    }
  }

  private void confirmed(String key) {
    if (untold.contains(key)) {
      confirmed.add(key);
    } else {
      done(key);
    }
  }

  private void done(String key) {
    Pending erasure = pending.remove(key);
    confirmed.remove(key);
    pages -= erasure == null ? 0 : erasure.pages;
  }

  /** Erasures that are not confirmed. */
  public int size() {
    return pending.size();
  }

  public void save() throws Exception {
    saved.clear();
    for (Map.Entry<String, Pending> each : pending.entrySet()) {
      saved.add(Tuple2.of(each.getKey(), each.getValue().get()));
    }
  }
}
