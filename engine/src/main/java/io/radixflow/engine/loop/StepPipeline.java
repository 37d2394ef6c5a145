package io.radixflow.engine.loop;

import io.radixflow.engine.EngineLostException;
import io.radixflow.engine.draft.DraftPolicy;
import io.radixflow.engine.draft.Drafter;
import io.radixflow.engine.pages.KvPages;
import io.radixflow.engine.request.Request;
import io.radixflow.engine.request.Step;
import io.radixflow.engine.schedule.CrashJournal;
import io.radixflow.engine.schedule.Scheduler;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.kernels.device.Uninterruptibly;
import io.radixflow.kernels.sampling.SamplingState;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.ReplyError;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The steps in flight on the backend, oldest first, and the work after each step's end. Engine
 * thread only.
 *
 * <p>A failed step is undone together with all steps after it, which may have used its output. Each
 * request returns to its state before the step. The requests of the failed step then run alone.
 * Each runs alone until it succeeds, or ends in error after too many failures.
 */
final class StepPipeline {
  private static final Logger LOG = LoggerFactory.getLogger(StepPipeline.class);

  /** Steps of fewer rows do not show how long a long prefill takes. */
  private static final int MEASURED_ROWS = 16;

  private final Backend backend;
  private final int attempts;
  private final CrashJournal journal;
  private final KvPages pages;
  private final Scheduler scheduler;
  private final Replies replies;
  private final IdlePrefill idle;
  private final DraftPolicy drafts;
  private final ArrayDeque<Step> inFlight = new ArrayDeque<>();
  private final ArrayDeque<Step> spare = new ArrayDeque<>();
  private long steps;
  private long failedSteps;
  private long lastEndNanos;

  /**
   * @param idle what to run when no request runs
   */
  StepPipeline(
      Backend backend,
      int attempts,
      CrashJournal journal,
      KvPages pages,
      Scheduler scheduler,
      Replies replies,
      IdlePrefill idle) {
    this.idle = idle;
    this.drafts = scheduler.drafts();
    this.backend = backend;
    this.attempts = attempts;
    this.journal = journal;
    this.pages = pages;
    this.scheduler = scheduler;
    this.replies = replies;
    reset();
  }

  private void reset() {
    inFlight.clear();
    spare.clear();
    for (int i = 0; i < Math.max(1, backend.pipelineDepth()); i++) {
      spare.add(new Step());
    }
  }

  long steps() {
    return steps;
  }

  long failedSteps() {
    return failedSteps;
  }

  /** Returns the number of tokens computed for later turns. */
  long tokensAhead() {
    return idle.tokens();
  }

  boolean isEmpty() {
    return inFlight.isEmpty();
  }

  boolean isFull() {
    return spare.isEmpty();
  }

  /** Plans and submits one more step; false if there is nothing to run now. */
  boolean submitNext() {
    Step step = spare.peek();
    boolean others = scheduler.isBusy();
    idle.review(others);
    boolean idlePipeline = inFlight.isEmpty() && pages.loads().copying().isEmpty();
    boolean planned = scheduler.plan(step, idlePipeline) || !others && idle.plan(step);
    pages.tiers().startCopies();
    if (!planned) {
      return false;
    }
    note(step);
    inFlight.add(spare.poll());
    steps++;
    step.submittedNanos = System.nanoTime();
    try {
      step.ticket = backend.submit(step.batch);
    } catch (RuntimeException e) {
      inFlight.removeLast();
      checkDevice(e);
      undoFrom(step, e);
      return true;
    }
    for (int i = 0; i < step.size(); i++) {
      if (step.output(i) >= 0) {
        step.request(i).steps.output(step.ticket, step.output(i));
      }
    }
    return true;
  }

  private void note(Step step) {
    for (int i = 0; i < step.size(); i++) {
      Request request = step.request(i);
      if (!request.ahead) {
        journal.step(request.pages.row(), request.steps.computed(), request.steps.submittedEnd());
      }
    }
  }

  /** Waits for the oldest step and passes on its results. */
  void completeOldest() {
    finishOldest();
    idle.review(scheduler.isBusy());
  }

  private void finishOldest() {
    Step step = inFlight.poll();
    await(step);
    Throwable failure = awaitLoads(step);
    failure = failure == null ? step.ticket.failure() : failure;
    if (failure != null) {
      checkDevice(failure);
      undoFrom(step, failure);
      return;
    }
    measure(step);
    for (int i = 0; i < step.size(); i++) {
      complete(step, i);
    }
    recycle(step);
  }

  /**
   * Reports the time of a step to the scheduler, and to the tiers if the step was the prefill of
   * one request.
   */
  private void measure(Step step) {
    long now = System.nanoTime();
    long began = Math.max(step.submittedNanos, lastEndNanos);
    lastEndNanos = now;
    scheduler.measured(step, now - began);
    int rows = step.batch.rows();
    if (step.size() == 1 && rows >= MEASURED_ROWS) {
      pages.tiers().computed(step.end(0) - rows, rows, now - began);
    }
  }

  /** Waits for the copies of pages that a step has read; returns why a copy failed, or null. */
  private Throwable awaitLoads(Step step) {
    Throwable failure = null;
    for (int i = 0; i < step.size(); i++) {
      Throwable one = pages.loads().await(step.request(i));
      failure = failure == null ? one : failure;
    }
    return failure;
  }

  private void checkDevice(Throwable failure) {
    if (!backend.isUsable()) {
      throw new EngineLostException(failure);
    }
  }

  /**
   * Checks that the device is usable while no step runs.
   *
   * @throws EngineLostException if it is not
   */
  void checkIdleDevice() {
    if (!backend.isUsable()) {
      throw new EngineLostException(
          new IllegalStateException("it was lost while the engine was idle"));
    }
  }

  private void complete(Step step, int index) {
    Request request = step.request(index);
    request.steps.end();
    if (request.standing.hasEnded()) {
      replies.releaseIfUnused(request);
      return;
    }
    boolean prefill = request.steps.isPrefilling();
    if (step.scores(index) >= 0 && request.reply.scores() != null) {
      int from = step.from(index);
      int count = request.reply.scores().rowsOf(from, step.end(index) - from);
      request.reply.scores().take(step.ticket, step.scores(index), from, count);
    }
    request.steps.succeed(step.end(index));
    scheduler.trust(request);
    if (prefill) {
      pages.commit(request);
    }
    pages.computed(request);
    if (step.drafts(index) > 0) {
      verify(request, step.ticket, step.output(index));
    } else if (step.output(index) >= 0) {
      replies.accept(request, step.ticket, step.output(index));
      replies.follow(request, 1);
    } else if (prefill && !request.ahead && request.spec.tokens().showsProgress()) {
      request.ring.prefilled(request.steps.computed());
      replies.publish(request);
    }
  }

  /**
   * Passes on the token of a request's row. Then it passes on the token of each draft's row, as
   * long as the draft equals the previous token. These are the tokens that single steps would have
   * given. The rows of other drafts count as not computed.
   */
  private void verify(Request request, StepTicket ticket, int output) {
    Drafter drafter = request.reply.drafter();
    int drafted = request.steps.takeDrafts();
    int skipped = request.steps.draftsPending();
    boolean follows =
        skipped == 0 || request.tokens.id(request.tokens.length() - 1) == drafter.token(0);
    replies.accept(request, ticket, output);
    int right = 0;
    while (follows
        && right < drafted
        && !request.standing.hasEnded()
        && ticket.token(output + right) == drafter.token(skipped + right)) {
      right++;
      request.reply.sampling().accept(ticket.token(output + right));
      request.steps.acceptDraft();
      pages.computed(request);
      replies.accept(request, ticket, output + right);
    }
    replies.follow(request, 1 + right);
    drafts.accepted(right);
    if (!request.standing.hasEnded()) {
      request.steps.settleDrafts();
      pages.rewound(request);
    }
  }

  private void undoFrom(Step failed, Throwable cause) {
    failedSteps++;
    LOG.warn("A step of {} requests failed: {}", failed.size(), cause.toString(), cause);
    while (!inFlight.isEmpty()) {
      Step later = inFlight.poll();
      await(later);
      undo(later);
      recycle(later);
    }
    undo(failed);
    boolean alone = failed.size() == 1;
    for (int i = 0; i < failed.size(); i++) {
      Request request = failed.request(i);
      if (request.ahead) {
        idle.failed();
      } else if (!request.standing.hasEnded()) {
        if (alone && request.steps.fail() >= attempts) {
          LOG.error("Request {} ends: its step failed alone", request.spec.label(), cause);
          replies.end(
              request,
              FinishReason.ERROR,
              ReplyError.failed("the model failed on this request: " + cause));
        } else {
          scheduler.suspect(request);
        }
      }
    }
    recycle(failed);
  }

  private void undo(Step step) {
    for (int i = 0; i < step.size(); i++) {
      Request request = step.request(i);
      request.steps.end();
      if (request.standing.hasEnded()) {
        replies.releaseIfUnused(request);
      } else {
        request.steps.rewind();
        pages.rewound(request);
      }
      if (!request.standing.hasEnded() && !request.ahead) {
        request.reply.resample(
            new SamplingState(
                request.spec.sampling(),
                request.tokens.prompt(),
                request.tokens.reply(),
                backend.model().vocabSize()));
      }
    }
  }

  /** Waits for all steps in flight and drops them. The caller must end their requests. */
  void abandon() {
    inFlight.forEach(StepPipeline::await);
    idle.abandon();
    reset();
  }

  /**
   * Returns all requests that have pages: running requests, and requests that ended with a step in
   * flight.
   */
  List<Request> holders() {
    List<Request> holders = new ArrayList<>(scheduler.running());
    if (idle.current() != null) {
      holders.add(idle.current());
    }
    for (Step step : inFlight) {
      for (int i = 0; i < step.size(); i++) {
        Request request = step.request(i);
        if (request.standing.hasEnded() && request.pages.isHeld() && !holders.contains(request)) {
          holders.add(request);
        }
      }
    }
    return holders;
  }

  private void recycle(Step step) {
    step.clear();
    spare.add(step);
  }

  private static void await(Step step) {
    if (step.ticket != null) {
      Uninterruptibly.await(step.ticket::await);
    }
  }
}
