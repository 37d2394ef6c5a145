package io.radixflow.engine.loop;

import io.radixflow.engine.EngineLostException;
import io.radixflow.engine.EngineStats;
import io.radixflow.engine.StepStats;
import io.radixflow.engine.pages.KvPages;
import io.radixflow.engine.request.Channels;
import io.radixflow.engine.request.Request;
import io.radixflow.engine.schedule.CrashJournal;
import io.radixflow.engine.schedule.Scheduler;
import io.radixflow.kernels.device.Uninterruptibly;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.ReplyError;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The engine thread. In each iteration it runs the tasks in its inbox, plans and submits steps, and
 * passes on their results. It parks when there is nothing to do.
 *
 * <p>The number of steps in flight is at most the backend's pipeline depth. While a step runs, the
 * next step is planned with input tokens that the running step will produce. So a request that ends
 * in the running step is still in the next step, and keeps its pages until then.
 */
final class EngineLoop implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(EngineLoop.class);

  /** The interval at which an idle engine checks that its device is usable. */
  private static final long IDLE_NANOS = 1_000_000_000;

  private final KvPages pages;
  private final Scheduler scheduler;
  private final Replies replies;
  private final StepPipeline pipeline;
  private final CrashJournal journal;
  private final Channels channels;
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
   * @param channels fail when the device is lost; their requests are cancelled at the end
   * @param journal is cleared when all requests have ended
   * @param auditMillis time between two checks of the owners of all pages
   */
  EngineLoop(
      KvPages pages,
      Scheduler scheduler,
      Replies replies,
      StepPipeline pipeline,
      Channels channels,
      CrashJournal journal,
      long auditMillis) {
    this.pages = pages;
    this.scheduler = scheduler;
    this.replies = replies;
    this.pipeline = pipeline;
    this.channels = channels;
    this.journal = journal;
    this.auditNanos = TimeUnit.MILLISECONDS.toNanos(auditMillis);
    publishStats();
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  /** Returns why no step can run, or null. */
  EngineLostException lost() {
    return lost;
  }

  EngineStats stats() {
    return stats;
  }

  /**
   * Queues {@code task} for the engine thread. Never blocks. After the end of the loop the task is
   * dropped.
   */
  void execute(Runnable task) {
    inbox.add(task);
    wake();
  }

  /** Wakes the loop; cheap if it is awake. Any thread. */
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
          iterate();
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
    attempt(() -> channels.forEach(replies::cancelAll));
    attempt(replies::signal);
    publishStats();
  }

  /** Runs a task at the end. If it fails, the other tasks still run. */
  private static void attempt(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      LOG.error("A task failed while the engine ended", e);
    }
  }

  private void lose(EngineLostException reason) {
    lost = reason;
    LOG.error("Engine lost: {}; its requests must be resubmitted", reason.getMessage());
    channels.forEach(channel -> channel.fail(reason));
  }

  /** Runs one iteration: inbox, tiers, at most one step submitted and one completed. */
  private void iterate() {
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
   * Parks until woken, or until copies and the device have to be polled. A thread that adds to the
   * inbox reads {@code sleeping} afterwards.
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
      LOG.error("Page accounting was wrong for {} pages or counters and has been repaired", wrong);
    }
  }

  /** Restarts with an empty cache after a defect; if even that fails, the engine is lost. */
  private void recover(Throwable defect) {
    if (lost != null) {
      LOG.error("A task failed on a lost engine", defect);
      return;
    }
    LOG.error("The engine failed; its requests end in error and it restarts empty", defect);
    try {
      restart(defect);
    } catch (RuntimeException | Error e) {
      e.addSuppressed(defect);
      lose(new EngineLostException("the engine failed and could not be restarted", e));
    }
  }

  /** Ends all requests with pages, and empties the cache. */
  private void restart(Throwable defect) {
    pipeline.abandon();
    List<Request> all = new ArrayList<>(scheduler.running());
    all.addAll(scheduler.waiting());
    pages.reset();
    journal.endAll();
    for (Request request : all) {
      pages.forget(request);
      replies.end(request, FinishReason.ERROR, ReplyError.failed("the engine failed: " + defect));
    }
    replies.signal();
    publishStats();
  }

  private void publishStats() {
    stats =
        new EngineStats(
            new StepStats(
                pipeline.steps(),
                pipeline.failedSteps(),
                scheduler.prefilledTokens(),
                scheduler.cachedTokens(),
                replies.generatedTokens()),
            pages.stats(repairs),
            scheduler.stats(),
            pages.sessionStats(pipeline.tokensAhead()),
            pages.eventStats(),
            pages.tiers().stats(),
            replies.grammarStats(),
            scheduler.drafts().stats());
  }
}
