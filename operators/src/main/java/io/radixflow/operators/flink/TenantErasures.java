package io.radixflow.operators.flink;

import io.radixflow.operators.flink.erasure.PendingErasures;
import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.flink.state.SessionStore;
import io.radixflow.operators.flink.turn.SessionEnds;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Erases tenants' sessions, a few in each mail, so that turns and checkpoints go on in between. A
 * pass goes over all sessions of the subtask for all tenants that were pending when it began; what
 * comes later waits for the next. Owns the pass; the task's thread alone calls it.
 *
 * <p>Nobody sees the difference: an event of a session whose turn has not come erases it first.
 */
final class TenantErasures implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TenantErasures.class);
  private static final int SESSIONS_A_MAIL = 1_000;
  private static final long NANOS_A_MAIL = 10_000_000;

  /** Does something that changes the current key. */
  interface Action {
    void run() throws Exception;
  }

  private final PendingErasures pending;
  private final SessionStore sessions;
  private final SessionEnds ends;
  private final Action dispatch;
  private final Pages pages;
  private final MailboxExecutor mailbox;
  private final LongSupplier nanoTime;
  private Pass pass;
  private boolean posted;
  private boolean suspended;

  /** Erases a tenant's pages. */
  interface Pages {
    /**
     * @return completes, on any thread, when no file has their bytes
     */
    CompletableFuture<Void> erase(String tenant, long number);
  }

  /** One way through all sessions. */
  private record Pass(Map<String, Long> tenants, Stream<String> sessions, Iterator<String> left) {}

  /**
   * Goes on with what was pending in a checkpoint.
   *
   * @param dispatch starts turns for which an erased session has made room
   * @param pages erases a tenant's pages in lower tiers, once no turn makes them any more
   */
  TenantErasures(
      PendingErasures pending,
      SessionStore sessions,
      SessionEnds ends,
      Action dispatch,
      Pages pages,
      MailboxExecutor mailbox,
      LongSupplier nanoTime) {
    this.pending = pending;
    this.sessions = sessions;
    this.ends = ends;
    this.dispatch = dispatch;
    this.pages = pages;
    this.mailbox = mailbox;
    this.nanoTime = nanoTime;
    post();
  }

  /**
   * Begins to erase the sessions that a tenant has now.
   *
   * @param number of the control event
   */
  void add(String tenant, long number) {
    pending.add(tenant, number);
    post();
  }

  boolean isBusy() {
    return pending.isBusy();
  }

  /** Stops, as the replies of turns that end would be emitted. */
  void suspend() {
    suspended = true;
  }

  void resume() {
    suspended = false;
    post();
  }

  private void post() {
    if (!posted && !suspended && isBusy()) {
      posted = true;
      mailbox.execute(this::proceed, "erasure of tenants");
    }
  }

  private void proceed() throws Exception {
    posted = false;
    if (suspended) {
      return;
    }
    if (pass == null) {
      Stream<String> all = sessions.sessionsOneByOne();
      pass = new Pass(pending.toPass(), all, all.iterator());
    }
    long start = nanoTime.getAsLong();
    for (int i = 0; i < SESSIONS_A_MAIL && pass.left().hasNext(); i++) {
      erase(pass.left().next());
      if (nanoTime.getAsLong() - start >= NANOS_A_MAIL) {
        break;
      }
    }
    if (!pass.left().hasNext()) {
      LOG.info("All sessions of {} tenants are erased", pass.tenants().size());
      pass.tenants().forEach(this::erasePages);
      close();
    }
    dispatch.run();
    post();
  }

  /** The tenant stays pending until its pages are gone. */
  private void erasePages(String tenant, long number) {
    pending.pass(tenant, number);
    pages.erase(tenant, number).thenRun(() -> postDone(tenant, number));
  }

  private void postDone(String tenant, long number) {
    try {
      mailbox.execute(() -> pending.done(tenant, number), "pages of a tenant are erased");
    } catch (RejectedExecutionException closing) {
      // the task is going away; a checkpoint has it
    }
  }

  private void erase(String session) throws Exception {
    SessionContext loaded = sessions.load(session);
    if (pending.cover(loaded.slot())) {
      ends.erase(loaded, true);
      loaded.save();
    }
  }

  /** Ends the pass; a successor begins it again. */
  @Override
  public void close() {
    if (pass != null) {
      pass.sessions().close();
      pass = null;
    }
  }
}
