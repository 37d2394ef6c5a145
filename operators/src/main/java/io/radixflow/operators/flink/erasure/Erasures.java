package io.radixflow.operators.flink.erasure;

import io.radixflow.operators.engine.Engine;
import io.radixflow.operators.engine.PageNames;
import io.radixflow.operators.flink.engine.EngineTiers;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.SessionSlot.Life;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Owns what this subtask has to erase below the device until no file has the bytes: the pages of
 * sessions, by name, and all pages of tenants. Keyed state has lost what they were made of already.
 *
 * <p><b>A tenant</b> loses its keys when its control event comes, so that its pages are unreadable
 * at once. Its turns run until its sessions have been gone through, and their pages are written
 * under another key meanwhile. After that the engine deletes the tenant's pages and keys once more,
 * and all other engines delete the keys that this one has deleted, which they may have got from it.
 * Only a key that was drawn later stays: its pages are of sessions opened since. Such a session is
 * spared, as its slot has the number of the last erasure that its subtask knew then, and control
 * events come to all subtasks in one order.
 *
 * <p><b>Pages</b> are named by digests under a key. An engine's thread makes the names, or a
 * checkpoint that comes before. More than {@link #MAX_PAGES} of them, which only a disk that is
 * detached or broken can bring about, become one erasure of all pages.
 *
 * <p>Checkpoints contain the pending erasures. After a restore each subtask begins with the pending
 * erasures of all subtasks: the pages may be on any disk, and the sessions may have moved. So an
 * erasure may be done twice. A failed erasure is tried again every ten seconds while a store fails,
 * and when a detached disk is attached. Only the task's thread uses this.
 */
public final class Erasures implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Erasures.class);
  private static final String ALL = "all";
  private static final long RETRY_SECONDS = 10;

  /** Pages that may be pending: 8 MiB of names. */
  public static final int MAX_PAGES = 1 << 18;

  private final Engine engine;
  private final EngineTiers tiers;
  private final TenantKeyState keys;
  private final MailboxExecutor mailbox;
  private final OperatorEventGateway coordinator;
  private final int maxPages;
  private final Executor later;
  private final Runnable retry = () -> post(this::retry);
  private final ListState<Tuple2<String, Long>> savedTenants;
  private final ListState<Tuple3<String, What, byte[]>> savedPages;
  private final Map<String, Tenant> tenants = new HashMap<>();
  private final Map<String, Pages> pending = new LinkedHashMap<>();
  private long pages;
  private boolean retrying;

  /**
   * The things that an erasure deletes: pages by name, all pages, keys by id, or what engines keep
   * of an erased session, which are texts and pages by name. Checkpoints have them; new ones go
   * last.
   */
  public enum What {
    PAGES,
    ALL_PAGES,
    KEYS,
    SESSION;

    /** Returns whether an erasure of this kind names its pages. */
    boolean namesPages() {
      return this == PAGES || this == SESSION;
    }
  }

  /**
   * An erasure for all subtasks; travels through the JobManager, also back to its sender.
   *
   * @param id names the erasure
   * @param names digests of pages, none before its parent's, or ids of keys, in a row
   */
  public record Erasure(String id, What what, byte[] names) implements OperatorEvent {}

  /**
   * A tenant whose pages may still be there.
   *
   * @param number of the control event
   * @param passed whether the sessions of this subtask are erased
   */
  private record Tenant(long number, boolean passed) {}

  private static final class Pages {
    private final What what;
    private final int most;
    private Supplier<byte[]> maker;
    private byte[] names;
    private boolean toPassOn;
    private boolean done;

    /**
     * @param maker makes the names, once
     * @param most how many pages there are at most
     * @param toPassOn whether it has to come back from the coordinator, and has not yet
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

    /** Returns the names, which are made by the first caller; any thread. */
    synchronized byte[] names() {
      if (names == null) {
        try {
          names = maker.get();
        } catch (RuntimeException e) {
          LOG.error("Pages that were to be erased could not be named", e);
          names = new byte[0];
        }
        maker = null;
      }
      return names;
    }
  }

  /**
   * Begins with the erasures of the restored checkpoint.
   *
   * @param keys the engine's keys, restored
   * @param coordinator passes erasures on to all subtasks; null if there are no others
   * @param maxPages how many pages may be pending before all pages are erased instead
   */
  public Erasures(
      OperatorStateStore store,
      ServingEngine engine,
      TenantKeyState keys,
      MailboxExecutor mailbox,
      OperatorEventGateway coordinator,
      int maxPages)
      throws Exception {
    this(
        store,
        engine,
        keys,
        mailbox,
        coordinator,
        maxPages,
        CompletableFuture.delayedExecutor(RETRY_SECONDS, TimeUnit.SECONDS));
  }

  /**
   * @param later runs a task on any thread after a while
   */
  Erasures(
      OperatorStateStore store,
      ServingEngine engine,
      TenantKeyState keys,
      MailboxExecutor mailbox,
      OperatorEventGateway coordinator,
      int maxPages,
      Executor later)
      throws Exception {
    this.later = later;
    this.engine = engine.engine();
    this.tiers = engine.tiers();
    this.keys = keys;
    this.mailbox = mailbox;
    this.coordinator = coordinator;
    this.maxPages = maxPages;
    savedTenants =
        store.getUnionListState(
            new ListStateDescriptor<>("tenant-erasures", Types.TUPLE(Types.STRING, Types.LONG)));
    savedPages =
        store.getUnionListState(
            new ListStateDescriptor<>(
                "page-erasures",
                Types.TUPLE(
                    Types.STRING,
                    Types.ENUM(What.class),
                    PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO)));
    tiers.onDiskAttached(retry);
    for (Tuple2<String, Long> each : savedTenants.get()) {
      eraseTenant(each.f0, each.f1);
    }
    for (Tuple3<String, What, byte[]> each : savedPages.get()) {
      add(each.f0, new Pages(each.f1, each.f2, false));
    }
  }

  // ---- tenants

  /**
   * Makes a tenant's pages unreadable; the caller goes through its sessions then.
   *
   * @param number of the control event
   */
  public void eraseTenant(String tenant, long number) {
    keys.delete(tenant);
    tenants.merge(tenant, new Tenant(number, false), (a, b) -> a.number > b.number ? a : b);
  }

  /** Returns whether a session is of a tenant that is being erased, and not erased itself. */
  public boolean covers(SessionSlot slot) {
    if (tenants.isEmpty() || !slot.opened() || slot.life() == Life.ERASED) {
      return false;
    }
    Tenant erased = tenants.get(slot.tenant());
    return erased != null && slot.erasures() < erased.number;
  }

  /** Returns the tenants whose sessions have to be gone through, with their numbers; a copy. */
  public Map<String, Long> toPass() {
    Map<String, Long> left = new HashMap<>();
    tenants.forEach(
        (name, tenant) -> {
          if (!tenant.passed) {
            left.put(name, tenant.number);
          }
        });
    return left;
  }

  /** Erases the pages of a tenant whose sessions are erased, unless they are to be once more. */
  public void passed(String tenant, long number) {
    if (tenants.replace(tenant, new Tenant(number, false), new Tenant(number, true))) {
      keys.delete(tenant);
      erasePages(tenant, number);
    }
  }

  private void erasePages(String tenant, long number) {
    whenErased(
        engine.eraseTenant(tenant),
        everywhere -> {
          byte[] deleted = keys.deleted(tenant);
          if (deleted.length > 0 && coordinator != null) {
            add(UUID.randomUUID().toString(), new Pages(What.KEYS, deleted, true));
          }
          if (everywhere) {
            tenants.remove(tenant, new Tenant(number, true));
          }
        });
  }

  // ---- pages

  /**
   * Begins to erase pages.
   *
   * @param names makes the digests of the pages in a row, none before its parent's; any thread
   * @param most how many they are at most
   * @param everywhere whether the engines of all subtasks do it
   */
  public void erasePages(Supplier<byte[]> names, int most, boolean everywhere) {
    erase(What.PAGES, names, most, everywhere);
  }

  /**
   * Begins to erase the pages of an erased session, and the texts that the engines of all subtasks
   * keep. The parameters are the same as for {@link #erasePages(Supplier, int, boolean)}.
   */
  public void eraseSession(Supplier<byte[]> names, int most) {
    erase(What.SESSION, names, most, true);
  }

  private void erase(What what, Supplier<byte[]> names, int most, boolean everywhere) {
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
          whenErased(
              engine.erase(
                  () -> {
                    byte[] names = erasure.names();
                    post(() -> passOn(id, erasure));
                    return names;
                  }),
              everywhere -> done(id, erasure, everywhere));
      case ALL_PAGES -> {
        passOn(id, erasure);
        whenErased(engine.eraseAll(), everywhere -> done(id, erasure, everywhere));
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

  /** Begins an erasure that the coordinator passes on, or notes that all subtasks have it. */
  public void receive(Erasure event) {
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

  // ---- both

  /**
   * Runs a task in the mailbox when an engine has erased.
   *
   * @param work completes with whether a disk had its part
   * @param then gets whether no disk is left that has not
   */
  private void whenErased(CompletableFuture<Boolean> work, Consumer<Boolean> then) {
    work.whenComplete(
        (disk, failure) -> {
          if (failure == null) {
            post(() -> then.accept(disk || !tiers.hasDisk()));
          } else {
            LOG.warn("Pages are not erased yet; retrying", failure);
            post(this::retryLater);
          }
        });
  }

  private void retryLater() {
    if (!retrying) {
      retrying = true;
      later.execute(retry);
    }
  }

  private void post(Runnable task) {
    try {
      mailbox.execute(task::run, "erasure of pages");
    } catch (RejectedExecutionException closing) {
      LOG.debug("The task closes; a checkpoint has the erasure", closing);
    }
  }

  private void retry() {
    retrying = false;
    Map.copyOf(pending).forEach(this::begin);
    tenants.forEach(
        (name, tenant) -> {
          if (tenant.passed) {
            erasePages(name, tenant.number);
          }
        });
  }

  /** Returns the number of tenants whose pages may still be there. */
  public int pendingTenants() {
    return tenants.size();
  }

  /** Returns the number of erasures of pages that are not done everywhere. */
  public int pendingPages() {
    return pending.size();
  }

  /** Writes the pending erasures to the checkpoint. */
  public void save() throws Exception {
    savedTenants.clear();
    for (Map.Entry<String, Tenant> each : tenants.entrySet()) {
      savedTenants.add(Tuple2.of(each.getKey(), each.getValue().number));
    }
    savedPages.clear();
    for (Map.Entry<String, Pages> each : pending.entrySet()) {
      savedPages.add(Tuple3.of(each.getKey(), each.getValue().what, each.getValue().names()));
    }
  }

  @Override
  public void close() {
    tiers.removeListener(retry);
  }
}
