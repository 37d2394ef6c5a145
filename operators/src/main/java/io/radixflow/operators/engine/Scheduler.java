package io.radixflow.operators.engine;

import io.radixflow.kernels.device.Batch;
import io.radixflow.operators.cache.PrefixMatch;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Decides what the next step runs: who is admitted, who is put back, which rows go in.
 *
 * <ul>
 *   <li>Requests are admitted in order of arrival. One that is about to find a prefix which a
 *       running one computes now waits for it, and is overtaken meanwhile; one that lacks pages is
 *       not overtaken, so it cannot starve.
 *   <li>Each decoding request gets a row; prefill chunks share what is left of the step.
 *   <li>When a page is missing, the youngest request is put back, first among those that wait for
 *       their consumer. The oldest always goes on, and alone it fits: no deadlock.
 *   <li>Requests of a failed step run alone until each has succeeded or ended.
 * </ul>
 *
 * <p>The order is a pure function of arrivals, tree and ring states. Engine thread only.
 */
final class Scheduler {
  /** How many requests that wait for a prefix are looked at before giving up for the step. */
  private static final int MAX_DEFERRED = 64;

  private final EngineOptions options;
  private final KvPages pages;
  private final int stepRows;
  private final int maxRunning;
  private final List<Request> waiting = new ArrayList<>();
  private final List<Request> running = new ArrayList<>();
  private final ArrayDeque<Request> suspects = new ArrayDeque<>();
  private final Runnable onAdmitted;
  private int putBack;
  private long retractions;
  private long prefilledTokens;
  private long cachedTokens;

  /**
   * @param maxBatchRows the backend's limit
   * @param onAdmitted runs when a request is admitted for the first time
   */
  Scheduler(EngineOptions options, KvPages pages, int maxBatchRows, Runnable onAdmitted) {
    this.onAdmitted = onAdmitted;
    this.options = options;
    this.pages = pages;
    this.stepRows = Math.min(options.stepRows(), maxBatchRows);
    this.maxRunning = Math.min(options.maxRunning(), stepRows);
  }

  List<Request> running() {
    return running;
  }

  List<Request> waiting() {
    return waiting;
  }

  /** Requests that had pages and wait for them again. */
  int putBack() {
    return putBack;
  }

  long retractions() {
    return retractions;
  }

  long prefilledTokens() {
    return prefilledTokens;
  }

  long cachedTokens() {
    return cachedTokens;
  }

  /** Whether the consumer of a paused request has caught up. */
  boolean canResume() {
    return anyCanResume(running) || anyCanResume(waiting);
  }

  private static boolean anyCanResume(List<Request> requests) {
    for (int i = 0; i < requests.size(); i++) {
      if (requests.get(i).paused && !requests.get(i).isRingFull()) {
        return true;
      }
    }
    return false;
  }

  /** Puts a request among the waiting, in order of arrival. */
  void enqueue(Request request) {
    request.state = Request.State.WAITING;
    insertByArrival(waiting, request);
  }

  /** Takes a request from whichever list it is in. */
  void remove(Request request) {
    running.remove(request);
    if (waiting.remove(request) && request.admittedBefore) {
      putBack--;
    }
    suspects.remove(request);
  }

  /** Makes a request run alone until {@link #trust}. */
  void suspect(Request request) {
    if (!suspects.contains(request)) {
      suspects.add(request);
    }
  }

  /** Lets a request run with others again. */
  void trust(Request request) {
    if (!suspects.isEmpty()) {
      suspects.remove(request);
    }
  }

  /**
   * Fills an empty step.
   *
   * @param pipelineEmpty whether no step is in flight, so that any request may be put back
   * @return whether the step has rows
   */
  boolean plan(Step step, boolean pipelineEmpty) {
    if (!suspects.isEmpty()) {
      if (!pipelineEmpty) {
        return false;
      }
      if (planAlone(step)) {
        return true;
      }
    }
    pauseThoseBehind();
    admit();
    if (!reservePages(pipelineEmpty)) {
      return false;
    }
    int left = stepRows;
    for (int i = 0; i < running.size() && left > 0; i++) {
      Request request = running.get(i);
      if (isDecoding(request)) {
        left -= addChunk(step, request, 1);
      }
    }
    for (int i = 0; i < running.size() && left > 0; i++) {
      Request request = running.get(i);
      if (!isDecoding(request)) {
        left -= addChunk(step, request, Math.min(left, options.prefillChunk()));
      }
    }
    return step.size() > 0;
  }

  private boolean planAlone(Step step) {
    pauseThoseBehind();
    while (!suspects.isEmpty()) {
      Request request = suspects.peek();
      if (request.state == Request.State.RUNNING
          && reservePages(true)
          && request.state == Request.State.RUNNING
          && addChunk(step, request, Math.min(stepRows, options.prefillChunk())) > 0) {
        return true;
      }
      suspects.poll();
    }
    return false;
  }

  private static boolean isDecoding(Request request) {
    return request.scheduled >= request.prefillEnd;
  }

  /** Adds up to {@code most} rows of a request; returns how many. */
  private int addChunk(Step step, Request request, int most) {
    int ahead = request.rowsAhead();
    int rows = Math.min(ahead, most);
    boolean asksToken = rows > 0 && rows == ahead;
    if (asksToken && request.paused) {
      asksToken = false;
      rows--;
    }
    if (rows == 0) {
      return 0;
    }
    int position = request.scheduled;
    Batch batch = step.batch;
    batch.beginChunk(pages.table(request), request.pages, position);
    for (int at = position; at < position + rows; at++) {
      if (at < request.length) {
        batch.token(request.tokens[at]);
      } else {
        batch.tokenFrom(request.lastTicket, request.lastOutput);
      }
    }
    int output = -1;
    if (asksToken) {
      boolean logprobs = request.spec.sampling().topLogprobs() >= 0;
      output = batch.output(request.sampling, logprobs ? Batch.LOGPROBS : Batch.TOKEN);
      request.pending++;
    }
    prefilledTokens += isDecoding(request) ? 0 : rows;
    request.scheduled += rows;
    request.stepsInFlight++;
    step.add(request, position, rows, output);
    return rows;
  }

  /** Looks at each ring once a step, as its consumer may empty it at any time. */
  private void pauseThoseBehind() {
    for (int i = 0; i < running.size(); i++) {
      pauseIfBehind(running.get(i));
    }
  }

  /** Marks a request whose ring is full, so that its consumer wakes the engine. */
  private static boolean pauseIfBehind(Request request) {
    if (!request.isRingFull()) {
      request.paused = false;
      return false;
    }
    request.paused = true;
    if (request.isRingFull()) {
      return true;
    }
    request.paused = false;
    return false;
  }

  private void admit() {
    int deferred = 0;
    for (int i = 0; i < waiting.size() && deferred < MAX_DEFERRED; ) {
      Request request = waiting.get(i);
      if (pauseIfBehind(request)) {
        i++;
        continue;
      }
      PrefixMatch match = pages.match(request);
      if (isAboutToShareMore(request, match.pages())) {
        deferred++;
        i++;
        continue;
      }
      if (running.size() < maxRunning && pages.admit(request, match, running.size())) {
        waiting.remove(i);
        start(request);
      } else if (!retractPaused()) {
        return;
      }
    }
  }

  private void start(Request request) {
    request.state = Request.State.RUNNING;
    insertByArrival(running, request);
    if (request.admittedBefore) {
      putBack--;
    } else {
      request.admittedBefore = true;
      onAdmitted.run();
      int cached = Math.min(request.computed, request.promptLength);
      request.ring.cached(cached);
      cachedTokens += cached;
    }
  }

  private boolean isAboutToShareMore(Request request, int matched) {
    for (int i = 0; i < running.size(); i++) {
      Request other = running.get(i);
      if (other.isPrefilling() && !other.paused && pages.sharedPages(request, other) > matched) {
        return true;
      }
    }
    return false;
  }

  /** Gives each decoding request the page of its next position; false if steps must end first. */
  private boolean reservePages(boolean pipelineEmpty) {
    for (int i = 0; i < running.size(); ) {
      Request request = running.get(i);
      if (request.rowsAhead() == 0 || request.paused || pages.ensure(request, request.scheduled)) {
        i++;
      } else if (retractPaused()) {
        i = 0;
      } else if (pipelineEmpty) {
        retract(running.get(running.size() - 1));
        i = 0;
      } else {
        return false;
      }
    }
    return true;
  }

  private boolean retractPaused() {
    for (int i = running.size() - 1; i >= 0; i--) {
      Request request = running.get(i);
      if (request.paused && request.stepsInFlight == 0) {
        retract(request);
        return true;
      }
    }
    return false;
  }

  /** Takes a request's pages; it goes on later from its tokens. It may not be in a step. */
  private void retract(Request request) {
    running.remove(request);
    pages.commit(request);
    pages.putBack(request);
    request.computed = 0;
    request.prefillEnd = 0;
    request.rewind();
    retractions++;
    putBack++;
    enqueue(request);
  }

  private static void insertByArrival(List<Request> list, Request request) {
    int i = list.size();
    while (i > 0 && list.get(i - 1).sequence > request.sequence) {
      i--;
    }
    list.add(i, request);
  }
}
