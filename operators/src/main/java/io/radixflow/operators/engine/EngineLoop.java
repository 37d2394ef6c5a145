package io.radixflow.operators.engine;

import io.radixflow.kernels.device.Uninterruptibly;
import io.radixflow.operators.record.FinishReason;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The engine thread: takes what others hand in, plans and submits steps, and passes on their
 * results; parks when there is nothing to do.
 *
 * <p>Up to the backend's pipeline depth of steps are in flight. While one runs, the next is planned
 * with input tokens that the first has yet to produce; a request that turns out to have ended
 * leaves one step late, and keeps its pages until then.
 */
final class EngineLoop implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(EngineLoop.class);

  /** After this time an idle engine looks whether its device is still there. */
  private static final long IDLE_NANOS = 1_000_000_000;

  private final KvPages pages;
  private final Scheduler scheduler;
  private final Replies replies;
  private final StepPipeline pipeline;
  private final CrashJournal journal;
  private final AtomicInteger waiting;
  private final Runnable onClosed;
  private final Consumer<EngineLostException> onLost;
  private final ConcurrentLinkedQueue<Runnable> inbox = new ConcurrentLinkedQueue<>();
  private final Thread thread = new Thread(this, "radixflow-engine");

  private volatile boolean sleeping;
  private volatile boolean closing;
  private volatile EngineLostException lost;
  private volatile EngineStats stats;
  private final long auditNanos;
  private long repairs;
  private long lastAudit = System.nanoTime();

  /**
   * @param auditMillis how often each page's owner is checked
   * @param journal forgets who is under way when all are ended
   * @param waiting requests that have not been admitted, counted by the engine's callers too
   * @param onClosed runs last on the engine thread, when no step is in flight
   * @param onLost runs on the engine thread once the device is lost
   */
  EngineLoop(
      KvPages pages,
      Scheduler scheduler,
      Replies replies,
      StepPipeline pipeline,
      long auditMillis,
      CrashJournal journal,
      AtomicInteger waiting,
      Runnable onClosed,
      Consumer<EngineLostException> onLost) {
    this.onLost = onLost;
    this.pages = pages;
    this.scheduler = scheduler;
    this.replies = replies;
    this.pipeline = pipeline;
    this.auditNanos = TimeUnit.MILLISECONDS.toNanos(auditMillis);
    this.journal = journal;
    this.waiting = waiting;
    this.onClosed = onClosed;
    publishStats();
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  /** Why no step can run any more, or null. */
  EngineLostException lost() {
    return lost;
  }

  EngineStats stats() {
    return stats;
  }

  /**
   * Runs {@code task} on the engine thread, soon; never blocks. Dropped once the loop has ended.
   */
  void execute(Runnable task) {
    inbox.add(task);
    wake();
  }

  /** Makes the loop look again; cheap if it is awake. */
  void wake() {
    if (sleeping) {
      LockSupport.unpark(thread);
    }
  }

  /** Ends all requests and the thread, and waits for it. */
  void close() {
    closing = true;
    LockSupport.unpark(thread);
    if (Thread.currentThread() != thread) {
      Uninterruptibly.await(thread::join);
    }
  }

  @Override
  public void run() {
    while (!closing) {
      try {
        if (lost == null) {
          turn();
        } else if (!runInbox()) {
          sleep();
        }
      } catch (EngineLostException e) {
        lose(e);
      } catch (RuntimeException | Error e) {
        recover(e);
      }
    }
    end();
  }

  private void end() {
    while (!inbox.isEmpty()) {
      attempt(this::runInbox);
    }
    attempt(pipeline::abandon);
    attempt(onClosed);
    attempt(replies::signal);
    publishStats();
  }

  /** What fails at the end does not keep the rest from ending. */
  private static void attempt(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      LOG.error("A task failed while the engine ended", e);
    }
  }

  private void lose(EngineLostException reason) {
    lost = reason;
    LOG.error("{}; its requests go on where it is opened anew", reason.getMessage());
    onLost.accept(reason);
  }

  private void turn() {
    pages.expireHints();
    boolean worked = runInbox();
    worked |= pages.tiers().poll();
    pages.loads().poll(replies::releaseIfUnused);
    boolean submitted = !pipeline.isFull() && pipeline.submitNext();
    if (!pipeline.isEmpty() && (pipeline.isFull() || !submitted)) {
      pipeline.completeOldest();
      worked = true;
    }
    if (worked || submitted) {
      audit();
      pages.flushEvents();
      publishStats();
      replies.signal();
    } else {
      sleep();
      pipeline.checkIdleDevice();
    }
  }

  private boolean runInbox() {
    boolean worked = false;
    for (Runnable task = inbox.poll(); task != null; task = inbox.poll()) {
      task.run();
      worked = true;
    }
    return worked;
  }

  /**
   * Parks until woken or until something has to be looked at. Whoever adds to the inbox reads
   * {@code sleeping} after it.
   */
  private void sleep() {
    sleeping = true;
    if (inbox.isEmpty() && !closing && (lost != null || !scheduler.canResume())) {
      if (lost == null) {
        long nanos = pages.tiers().pollNanos();
        LockSupport.parkNanos(this, nanos > 0 ? nanos : IDLE_NANOS);
      } else {
        LockSupport.park(this);
      }
    }
    sleeping = false;
  }

  private void audit() {
    if (pages.countersAgree() && System.nanoTime() - lastAudit < auditNanos) {
      return;
    }
    lastAudit = System.nanoTime();
    int wrong = pages.repair(pipeline.holders());
    if (wrong > 0) {
      repairs++;
      LOG.error("Page accounting was wrong in {} places and has been repaired", wrong);
    }
  }

  /** After a defect: goes on without what it had, or, if not even that works, not at all. */
  private void recover(Throwable defect) {
    if (lost != null) {
      LOG.error("A task failed on an engine that is lost already", defect);
      return;
    }
    LOG.error("The engine failed; its requests end in error and it goes on", defect);
    try {
      beginAnew(defect);
    } catch (RuntimeException | Error e) {
      e.addSuppressed(defect);
      lose(new EngineLostException("the engine failed, and could not be set right", e));
    }
  }

  /** Ends all requests with pages, and forgets what is cached. */
  private void beginAnew(Throwable defect) {
    pipeline.abandon();
    List<Request> all = new ArrayList<>(scheduler.running());
    all.addAll(scheduler.waiting());
    pages.reset();
    journal.endAll();
    for (Request request : all) {
      request.row = -1;
      replies.end(request, FinishReason.ERROR, "the engine failed: " + defect);
    }
    replies.signal();
    publishStats();
  }

  private void publishStats() {
    stats =
        new EngineStats(
            pipeline.steps(),
            scheduler.prefilledTokens(),
            scheduler.cachedTokens(),
            replies.generatedTokens(),
            scheduler.retractions(),
            pages.evicted(),
            pipeline.failedSteps(),
            repairs,
            scheduler.running().size(),
            waiting.get() + scheduler.putBack(),
            pages.allocator().free(),
            pages.cache().evictablePages(),
            pages.cache().protectedPages(),
            pages.allocator().inFlight(),
            pages.allocator().total(),
            pages.eventStats(),
            pages.sessionStats(pipeline.tokensAhead()),
            scheduler.stats(),
            pages.tiers().stats());
  }
}
