package io.radixflow.engine.schedule;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.SchedulerOptions;
import io.radixflow.engine.SchedulerStats;
import io.radixflow.engine.cache.PrefixCaching;
import io.radixflow.engine.cache.PrefixMatch;
import io.radixflow.engine.draft.DraftPolicy;
import io.radixflow.engine.pages.KvPages;
import io.radixflow.engine.request.ArrivalOrder;
import io.radixflow.engine.request.PromptScores;
import io.radixflow.engine.request.ReplyGuide;
import io.radixflow.engine.request.Request;
import io.radixflow.engine.request.RequestReply;
import io.radixflow.engine.request.RequestStanding;
import io.radixflow.engine.request.RequestSteps;
import io.radixflow.engine.request.RequestTokens;
import io.radixflow.engine.request.Step;
import io.radixflow.kernels.device.Batch;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Plans the next step: which requests are admitted, which are preempted, and which rows the step
 * has.
 *
 * <ul>
 *   <li>Each decoding request gets a row, and rows of drafts if they pay. Prefill chunks share the
 *       rest of the step in order of arrival; next to decodes, {@link PromptShare} limits their
 *       rows. Requests are admitted only while rows are left, so that {@link Admission} chooses as
 *       late as possible.
 *   <li>No request overtakes a request that lacks pages in the same step. If it is more urgent than
 *       running requests of its tenant, they are preempted: see {@link Preemption}.
 *   <li>A request that lacks window parts waits for the steps in flight, which release parts, and
 *       computes only rows that have parts.
 *   <li>When a page is missing, and none becomes free after a copy, the youngest request is
 *       preempted, or a less urgent one of its tenant; requests that wait for their consumer come
 *       first. One request always continues, and it fits alone, so there is no deadlock.
 *   <li>Requests of a failed step run alone until each has succeeded or ended.
 * </ul>
 *
 * <p>The order is a pure function of the requests, the tree and the rings. The length of chunks
 * also depends on measured time, but replies do not. Engine thread only.
 */
public final class Scheduler {
  /**
   * The most logits that the draft rows of a step may adjust, because a device has room for this
   * many.
   */
  private static final int DRAFT_ADJUSTMENTS = 8192;

  private final EngineOptions options;
  private final KvPages pages;
  private final int stepRows;
  private final int maxRunning;
  private final List<Request> running = new ArrayList<>();
  private final Admission admission;
  private final Preemption preemption;
  private final Quarantine quarantine;
  private final DraftPolicy drafts;
  private final PromptShare promptShare;
  private final ArrayDeque<Request> suspects = new ArrayDeque<>();

  /** Submitted requests that have not been admitted yet, including requests in intake. */
  private final AtomicInteger unadmitted = new AtomicInteger();

  /** Number of requests that had pages and wait for pages again. */
  private int preempted;

  /**
   * Whether the next request lacks pages or a permit, so that prompts do not wait for rows. Holds
   * until another request is considered, which may be steps later.
   */
  private boolean lacksPages;

  private long preemptions;
  private long priorityPreemptions;
  private long prefilledTokens;
  private long cachedTokens;

  /**
   * @param maxBatchRows the backend's limit
   * @param quarantine names the request that must run alone
   * @param drafts decides how many drafts steps verify
   */
  public Scheduler(
      EngineOptions options,
      KvPages pages,
      int maxBatchRows,
      Quarantine quarantine,
      DraftPolicy drafts) {
    this.quarantine = quarantine;
    this.drafts = drafts;
    this.options = options;
    this.pages = pages;
    this.stepRows = Math.min(options.stepRows(), maxBatchRows);
    this.maxRunning = Math.min(options.maxRunning(), stepRows);
    SchedulerOptions scheduling = options.scheduler();
    this.admission =
        new Admission(
            scheduling,
            scheduling.policy().effective(options.cache().caching() == PrefixCaching.RADIX),
            pages,
            running);
    this.preemption = new Preemption(scheduling.preemptionThreshold());
    this.promptShare = new PromptShare(scheduling.sharing(), drafts::stepNanos);
  }

  public List<Request> running() {
    return running;
  }

  /** Returns a copy of the list of all requests without pages. */
  public List<Request> waiting() {
    return admission.waiting();
  }

  /**
   * Counts a request that is submitted, until it is admitted or removed. Any thread.
   *
   * @return how many submitted requests had not been admitted before
   */
  public int submitted() {
    return unadmitted.getAndIncrement();
  }

  /** Returns whether any request runs, waits, or is in intake. */
  public boolean isBusy() {
    return !running.isEmpty() || waitingCount() > 0;
  }

  private int waitingCount() {
    return unadmitted.get() + preempted;
  }

  /** Returns how many requests were preempted so far. */
  public long preemptions() {
    return preemptions;
  }

  public SchedulerStats stats() {
    return new SchedulerStats(
        running.size(),
        waitingCount(),
        preemptions,
        priorityPreemptions,
        admission.promotions(),
        admission.deferrals());
  }

  /** Returns the policy of drafts; it learns from ended replies. */
  public DraftPolicy drafts() {
    return drafts;
  }

  public long prefilledTokens() {
    return prefilledTokens;
  }

  public long cachedTokens() {
    return cachedTokens;
  }

  /** Returns whether the consumer of a paused request has caught up. */
  public boolean canResume() {
    return Request.anyCanResume(running) || admission.canResume();
  }

  /** Adds a waiting request. */
  public void enqueue(Request request) {
    request.standing.await();
    pages.loads().look(request);
    admission.add(request);
  }

  /** Removes a request that has ended, running or not. */
  public void remove(Request request) {
    if (ArrivalOrder.remove(running, request)) {
      admission.ended(request);
    } else if (admission.remove(request)) {
      pages.loads().drop(request);
      preempted -= request.standing.wasAdmitted() ? 1 : 0;
    }
    suspects.remove(request);
    request.standing.end();
    if (!request.standing.wasAdmitted()) {
      unadmitted.decrementAndGet();
    }
  }

  /** Makes a request run alone until {@link #trust}. */
  public void suspect(Request request) {
    if (!suspects.contains(request)) {
      suspects.add(request);
    }
  }

  /** Lets a request run with others again. */
  public void trust(Request request) {
    if (!suspects.isEmpty()) {
      suspects.remove(request);
    }
    quarantine.computed(request);
  }

  /**
   * Fills an empty step.
   *
   * @param pipelineEmpty whether no step is in flight, so that any request may be preempted
   * @return whether the step has rows
   */
  public boolean plan(Step step, boolean pipelineEmpty) {
    if (awaitsMask(quarantine.active()) || awaitsMask(suspects.peek())) {
      return false; // nothing runs before them
    }
    if (quarantineRuns() && (!pipelineEmpty || addAlone(step, quarantine.active()))) {
      return pipelineEmpty;
    }
    if (!suspects.isEmpty()) {
      if (!pipelineEmpty) {
        return false;
      }
      if (planAlone(step)) {
        return true;
      }
      if (!suspects.isEmpty()) { // the first request waits for pages
        return false;
      }
    }
    pauseRequestsBehind();
    if (!reservePages(pipelineEmpty) || !admitWaiting()) {
      return false;
    }
    if (quarantineRuns()) { // the suspect has just been admitted
      return pipelineEmpty && addAlone(step, quarantine.active());
    }
    int left = addDecoding(step);
    step.decodeRows = stepRows - left;
    left = Math.min(left, promptRows(step.decodeRows));
    for (int i = 0; i < running.size() && left > 0; i++) {
      Request request = running.get(i);
      if (!request.steps.isDecoding()) {
        int position = request.steps.scheduled();
        int rows = addChunk(step, request, Math.min(left, options.prefillChunk()), 0);
        left -= rows;
        step.addPrefill(position, rows);
      }
    }
    return step.size() > 0;
  }

  /** Returns how many prompt rows may share a step with {@code decodes} decode rows. */
  private int promptRows(int decodes) {
    int prompts = 0;
    int position = 0;
    for (int i = running.size() - 1; i >= 0; i--) {
      Request request = running.get(i);
      if (!request.steps.isDecoding()) {
        position = request.steps.scheduled();
        prompts++;
      }
    }
    if (!lacksPages) {
      prompts += Math.min(waitingCount(), maxRunning - running.size());
    }
    return promptShare.rows(decodes, position, prompts);
  }

  /** Adds a row of each decoding request, and drafts that pay; returns how many rows are left. */
  private int addDecoding(Step step) {
    int decoding = 0;
    for (int i = 0; i < running.size(); i++) {
      decoding += running.get(i).steps.isDecoding() && running.get(i).steps.rowsAhead() > 0 ? 1 : 0;
    }
    drafts.beginStep(decoding);
    int left = stepRows;
    int spare = stepRows - decoding;
    for (int i = 0; i < running.size() && left > 0; i++) {
      Request request = running.get(i);
      if (request.steps.isDecoding()) {
        int rows = addChunk(step, request, 1, spare);
        left -= rows;
        spare -= Math.max(0, rows - 1);
      }
    }
    return left;
  }

  /** Learns from the time that a step took. */
  public void measured(Step step, long nanos) {
    if (step.prefillRows > 0) {
      promptShare.measured(step.decodeRows, step.prefillRows, step.prefillPosition(), nanos);
    } else {
      drafts.measured(step.decodeRows, nanos);
    }
  }

  private static boolean awaitsMask(Request alone) {
    return alone != null && alone.standing.isRunning() && alone.awaitsMask();
  }

  /** Returns whether a request in quarantine runs. */
  private boolean quarantineRuns() {
    Request request = quarantine.active();
    return request != null && request.standing.isRunning() && !request.pauseIfBehind();
  }

  private boolean planAlone(Step step) {
    pauseRequestsBehind();
    while (!suspects.isEmpty()) {
      if (addAlone(step, suspects.peek())) {
        return true;
      }
      if (pages.awaitsPages()) {
        return false;
      }
      suspects.poll();
    }
    return false;
  }

  private boolean addAlone(Step step, Request request) {
    return request.standing.isRunning()
        && reservePages(true)
        && request.standing.isRunning()
        && addChunk(step, request, Math.min(stepRows, options.prefillChunk()), 0) > 0;
  }

  /** Adds up to {@code most} rows and {@code mostDrafts} drafts of a request; returns how many. */
  private int addChunk(Step step, Request request, int most, int mostDrafts) {
    RequestSteps steps = request.steps;
    RequestTokens tokens = request.tokens;
    int ahead = steps.rowsAhead();
    int rows = Math.min(ahead, most);
    boolean asksToken = rows > 0 && rows == ahead;
    if (asksToken && (request.isPaused() || request.awaitsMask())) {
      asksToken = false;
      rows--;
    }
    int ready = rows == 0 ? 0 : pages.prepare(request, rows);
    if (ready == 0) {
      return 0;
    }
    asksToken &= ready == rows;
    rows = ready;
    int position = steps.scheduled();
    int drafted = asksToken ? chooseDrafts(step, request, position + rows, mostDrafts) : 0;
    Batch batch = step.batch;
    batch.beginChunk(pages.table(request), request.pages.count(), position);
    PromptScores prompt = request.reply.scores();
    int scores = prompt == null ? 0 : prompt.rowsOf(position, rows);
    int firstScore = scores > 0 ? batch.outputs() : -1;
    for (int at = position; at < position + rows; at++) {
      if (at < tokens.length()) {
        batch.token(tokens.id(at));
      } else {
        batch.tokenFrom(steps.lastTicket(), steps.lastOutput());
      }
      if (at < position + scores) {
        batch.score(prompt.sampling(), tokens.id(at + 1));
      }
    }
    int output = -1;
    if (asksToken) {
      int wants = request.spec.sampling().topLogprobs() >= 0 ? Batch.LOGPROBS : Batch.TOKEN;
      ReplyGuide guide = request.reply.guide();
      long[] mask = guide == null ? null : guide.mask(steps.pending());
      output = batch.output(request.reply.sampling(), wants, mask);
      addDrafts(batch, request, drafted, wants);
      steps.ask(drafted);
      admission.generates(request);
    }
    prefilledTokens += steps.isDecoding() ? 0 : rows;
    steps.submit(rows);
    step.add(request, position, rows, output, drafted);
    step.addScores(firstScore);
    return rows + drafted;
  }

  /** Chooses how many drafts follow a request's row, and gives them their pages. */
  private int chooseDrafts(Step step, Request request, int position, int most) {
    RequestReply reply = request.reply;
    int pending = request.steps.pending();
    int possible = request.mostDrafts(Math.min(most, options.speculation().drafts()));
    int adjustments = reply.sampling() == null ? 0 : reply.sampling().mostAdjustments();
    if (adjustments > 0) {
      int left = DRAFT_ADJUSTMENTS - step.draftAdjustments;
      possible = Math.min(possible, left / (adjustments + possible));
    }
    if (possible == 0) {
      return 0;
    }
    boolean made = reply.guide() != null && reply.guide().isSlow();
    int chosen =
        made
            ? drafts.decide(reply.drafter(), pending, possible)
            : drafts.choose(reply.drafter(), pending, possible);
    step.draftAdjustments += chosen * (adjustments > 0 ? adjustments + possible : 0);
    return chosen == 0 ? 0 : pages.prepareDrafts(request, position, chosen, running.size());
  }

  private void addDrafts(Batch batch, Request request, int drafted, int wants) {
    if (drafted == 0) {
      return;
    }
    RequestReply reply = request.reply;
    int skipped = request.steps.pending();
    int replyTokens = request.tokens.replyLength();
    for (int i = 0; i < drafted; i++) {
      batch.token(reply.drafter().token(skipped + i));
      int behind = skipped + i + 1;
      long[] mask = reply.guide() == null ? null : reply.guide().mask(skipped, i);
      batch.output(reply.drafter().view(reply.sampling(), i, behind, replyTokens), wants, mask);
    }
    drafts.submitted(drafted);
  }

  /** Looks at each ring once per step, because its consumer may empty it at any time. */
  private void pauseRequestsBehind() {
    for (int i = 0; i < running.size(); i++) {
      running.get(i).pauseIfBehind();
    }
  }

  /** Admits requests while rows are left; false if steps must end first. */
  private boolean admitWaiting() {
    admission.beginRound();
    while (rowsLeft() > 0) {
      Request request = admission.next();
      lacksPages = false;
      if (request == null) {
        return true;
      }
      while (!admit(request)) {
        if (pages.awaitsPages()) {
          return true;
        }
        if (preemptPaused()) {
          continue;
        }
        List<Request> victims = victims(request);
        if (victims.isEmpty()) {
          lacksPages = true;
          return true;
        }
        if (victims.stream().anyMatch(victim -> victim.steps.inFlight() > 0)) {
          return false;
        }
        victims.forEach(this::preempt);
        priorityPreemptions += victims.size();
      }
    }
    return true;
  }

  /** Returns the number of rows that running requests leave free in a step. */
  private int rowsLeft() {
    int decodes = 0;
    int prefills = 0;
    for (int i = 0; i < running.size(); i++) {
      Request request = running.get(i);
      if (!request.steps.isDecoding()) {
        prefills += Math.min(request.steps.rowsAhead(), options.prefillChunk());
      } else if (!request.isPaused()) {
        decodes += Math.min(request.steps.rowsAhead(), 1);
      }
    }
    return Math.min(stepRows - decodes, promptRows(decodes)) - prefills;
  }

  /** Gives a request a permit to run and its pages, if both are available. */
  private boolean admit(Request request) {
    PrefixMatch match = pages.match(request);
    if (running.size() == maxRunning || !pages.admit(request, match, running.size())) {
      return false;
    }
    RequestStanding standing = request.standing;
    quarantine.journal().begin(request.pages.row(), standing.journalName(), standing.isSuspect());
    admission.admitted(request);
    boolean first = standing.run();
    ArrivalOrder.insert(running, request);
    if (request.reply.drafter() != null) {
      request.reply.drafter().follow(into -> pages.copyContinuation(request, into));
    }
    if (!first) {
      preempted--;
    } else {
      unadmitted.decrementAndGet();
      int cached = Math.min(request.steps.computed(), request.tokens.promptLength());
      request.ring.admitted(cached, pages.loads().usage(request));
      cachedTokens += cached;
    }
    return true;
  }

  /** Chooses the requests to preempt for a more urgent request that lacks a permit or pages. */
  private List<Request> victims(Request request) {
    if (admission.isByAge()) {
      return List.of();
    }
    int slots = running.size() == maxRunning || !pages.hasWindowFor(request) ? 1 : 0;
    int lacking = Math.max(slots, pages.shortage(request, pages.match(request), running.size()));
    return lacking <= 0
        ? List.of()
        : preemption.victims(
            request, running, lacking, victim -> pages.reclaimable(victim, request) + 1);
  }

  /** Gives each decoding request the page of its next position; false if steps must end first. */
  private boolean reservePages(boolean pipelineEmpty) {
    pages.makeFreeAhead(running);
    for (int i = 0; i < running.size(); ) {
      Request request = running.get(i);
      if (request.steps.rowsAhead() == 0
          || request.isPaused()
          || pages.ensure(request, request.steps.scheduled())) {
        i++;
      } else if (pages.awaitsPages() || !pipelineEmpty && pages.lacksPart(request)) {
        return false;
      } else if (preemptPaused()) {
        i = 0;
      } else if (pipelineEmpty) {
        Request youngest = running.get(running.size() - 1);
        preempt(Preemption.leastUrgent(running, youngest.standing.tenant()));
        i = 0;
      } else {
        return false;
      }
    }
    return true;
  }

  private boolean preemptPaused() {
    for (int i = running.size() - 1; i >= 0; i--) {
      Request request = running.get(i);
      if (request.isPaused() && request.steps.inFlight() == 0) {
        preempt(request);
        return true;
      }
    }
    return false;
  }

  /** Takes a request's pages; it resumes later from its tokens. It must not be in a step. */
  private void preempt(Request request) {
    ArrivalOrder.remove(running, request);
    pages.commit(request);
    quarantine.journal().end(request.pages.row());
    pages.preempt(request);
    request.steps.lose();
    preemptions++;
    preempted++;
    request.standing.await();
    pages.loads().look(request);
    admission.preempted(request);
  }
}
