package io.radixflow.operators.flink.erasure;

import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.session.SessionSlot;
import java.util.Map;
import java.util.concurrent.Executor;
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

/**
 * Owns the pending erasures of this subtask: pages of sessions, by name, and all pages of tenants.
 * An erasure is pending until no file below the device contains the bytes. The text of these pages
 * has already been removed from keyed state.
 *
 * <p><b>A tenant</b> loses its keys when its control event comes, so that its pages are unreadable
 * at once. Its turns run until all sessions have been visited; meanwhile their pages are written
 * under a new key. After that the engine deletes the tenant's pages and keys once more. All other
 * engines delete the same keys, because they may have received them. Only a key that was drawn
 * later remains: its pages belong to sessions that were opened later. The slot of such a session
 * has the number of the last erasure before it was opened, and control events come to all subtasks
 * in the same order. So the session is kept.
 *
 * <p><b>Pages</b> are named by digests under a key. An engine's thread computes the names, or the
 * next checkpoint does. If more than {@link #MAX_PAGES} pages are pending, which happens only if a
 * disk is detached or broken, one erasure of all pages replaces them.
 *
 * <p>Checkpoints contain the pending erasures. After a restore each subtask starts with the pending
 * erasures of all subtasks, because the pages may be on any disk, and the sessions may have moved.
 * So an erasure may be done twice. A failed erasure is tried again every ten seconds while a store
 * fails, and when a detached disk is attached. Only the task's thread uses this.
 */
public final class Erasures implements AutoCloseable {
  /** The most pending pages: 8 MiB of names. */
  public static final int MAX_PAGES = 1 << 18;

  private final ErasureTasks tasks;
  private final PageErasures pages;
  private final TenantErasures tenants;
  private final ListState<Tuple2<String, Long>> savedTenants;
  private final ListState<Tuple3<String, What, byte[]>> savedPages;

  /**
   * What an erasure deletes: pages by name, all pages, keys by id, or the texts and pages of an
   * erased session. Checkpoints contain the ordinals, so add new constants at the end.
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
   * An erasure for all subtasks. The JobManager sends it to all subtasks, including its sender.
   *
   * @param id names the erasure
   * @param names digests of pages, parents first, or ids of keys, concatenated
   */
  public record Erasure(String id, What what, byte[] names) implements OperatorEvent {}

  /**
   * Starts with the erasures of the restored checkpoint.
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
    this(store, engine, keys, mailbox, coordinator, maxPages, ErasureTasks.afterAWhile());
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
    tasks = new ErasureTasks(engine.tiers(), mailbox, later, this::retry);
    pages = new PageErasures(engine.engine(), keys, coordinator, maxPages, tasks);
    tenants = new TenantErasures(engine.engine(), keys, pages, tasks);
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
    for (Tuple2<String, Long> each : savedTenants.get()) {
      tenants.erase(each.f0, each.f1);
    }
    for (Tuple3<String, What, byte[]> each : savedPages.get()) {
      pages.restore(each.f0, each.f1, each.f2);
    }
  }

  private void retry() {
    pages.retry();
    tenants.retry();
  }

  /**
   * Makes a tenant's pages unreadable; the caller must then erase the tenant's sessions.
   *
   * @param number number of the control event
   */
  public void eraseTenant(String tenant, long number) {
    tenants.erase(tenant, number);
  }

  /**
   * Returns whether a session belongs to a tenant that is being erased, but is not erased itself.
   */
  public boolean covers(SessionSlot slot) {
    return tenants.covers(slot);
  }

  /**
   * Returns the tenants whose sessions must be erased, with the numbers of their control events; a
   * copy.
   */
  public Map<String, Long> toPass() {
    return tenants.toPass();
  }

  /**
   * Called when all sessions of a tenant are erased; erases its pages, unless the tenant has a
   * later erasure.
   */
  public void passed(String tenant, long number) {
    tenants.passed(tenant, number);
  }

  /**
   * Starts erasing pages.
   *
   * @param names computes the digests of the pages, concatenated, parents first; any thread
   * @param most the most pages that {@code names} can have
   * @param everywhere whether the engines of all subtasks do it
   */
  public void erasePages(Supplier<byte[]> names, int most, boolean everywhere) {
    pages.erase(What.PAGES, names, most, everywhere);
  }

  /**
   * Starts erasing the pages of an erased session, and the texts that the engines of all subtasks
   * keep. The parameters are the same as for {@link #erasePages(Supplier, int, boolean)}.
   */
  public void eraseSession(Supplier<byte[]> names, int most) {
    pages.erase(What.SESSION, names, most, true);
  }

  /**
   * Starts an erasure of another subtask, or notes that all subtasks have received an erasure of
   * this one.
   */
  public void receive(Erasure event) {
    pages.receive(event);
  }

  /** Returns the number of tenants whose pages may still exist. */
  public int pendingTenants() {
    return tenants.count();
  }

  /** Returns the number of erasures of pages that are not done everywhere. */
  public int pendingPages() {
    return pages.count();
  }

  /** Writes the pending erasures to the checkpoint. */
  public void save() throws Exception {
    savedTenants.clear();
    for (Map.Entry<String, Long> each : tenants.pending().entrySet()) {
      savedTenants.add(Tuple2.of(each.getKey(), each.getValue()));
    }
    savedPages.clear();
    pages.forEach((id, what, names) -> savedPages.add(Tuple3.of(id, what, names)));
  }

  @Override
  public void close() {
    tasks.close();
  }
}
