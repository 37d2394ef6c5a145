package io.radixflow.operators.flink.turn.run;

import io.radixflow.engine.EngineStats;
import io.radixflow.engine.GrammarStats;
import io.radixflow.engine.WindowStats;
import io.radixflow.operators.flink.engine.EngineTiers;
import io.radixflow.protocol.record.Usage;
import io.radixflow.protocol.record.kv.SlotState;
import io.radixflow.protocol.record.kv.TierUsage;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Histogram;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.metrics.DescriptiveStatisticsHistogram;

/**
 * The operator's metrics. {@code replies} counts by finish reason; token counts grow when a reply
 * ends; {@code timeToFirstTokenMillis} runs from acceptance to the first token.
 */
public final class ServingMetrics {
  private static final int HISTOGRAM_WINDOW = 1_000;

  private final MetricGroup group;
  private final Map<String, Counter> replies = new HashMap<>();
  private final Counter accepted;
  private final Counter rejected;
  private final Counter ignored;
  private final Counter emittedAgain;
  private final Counter prefetches;
  private final Counter prefetchesRefused;
  private final Counter promptTokens;
  private final Counter cachedTokens;
  private final Counter cachedDeviceTokens;
  private final Counter cachedHostTokens;
  private final Counter cachedDiskTokens;
  private final Counter cachedRemoteTokens;
  private final Counter computedTokens;
  private final Counter rewrittenTokens;
  private final Counter generatedTokens;
  private final Histogram queueTime;
  private final Histogram timeToFirstToken;

  public ServingMetrics(MetricGroup operatorGroup) {
    this.group = operatorGroup.addGroup("serving");
    this.accepted = group.counter("turnsAccepted");
    this.rejected = group.counter("eventsRejected");
    this.ignored = group.counter("resendsIgnored");
    this.emittedAgain = group.counter("repliesEmittedAgain");
    this.prefetches = group.counter("prefetches");
    this.prefetchesRefused = group.counter("prefetchesRefused");
    this.promptTokens = group.counter("promptTokens");
    this.cachedTokens = group.counter("cachedTokens");
    this.cachedDeviceTokens = group.counter("cachedDeviceTokens");
    this.cachedHostTokens = group.counter("cachedHostTokens");
    this.cachedDiskTokens = group.counter("cachedDiskTokens");
    this.cachedRemoteTokens = group.counter("cachedRemoteTokens");
    this.computedTokens = group.counter("computedTokens");
    this.rewrittenTokens = group.counter("rewrittenTokens");
    this.generatedTokens = group.counter("generatedTokens");
    this.queueTime =
        group.histogram("queueTimeMillis", new DescriptiveStatisticsHistogram(HISTOGRAM_WINDOW));
    this.timeToFirstToken =
        group.histogram(
            "timeToFirstTokenMillis", new DescriptiveStatisticsHistogram(HISTOGRAM_WINDOW));
  }

  /** Adds the turns that the engine works on, and all turns without a reply. */
  public void turns(IntSupplier running, IntSupplier pending) {
    group.gauge("turnsRunning", (Gauge<Integer>) running::getAsInt);
    group.gauge("turnsPending", (Gauge<Integer>) pending::getAsInt);
  }

  /** Adds the erasures that are not confirmed. */
  public void erasures(IntSupplier tenants, IntSupplier pages) {
    group.gauge("tenantErasuresPending", (Gauge<Integer>) tenants::getAsInt);
    group.gauge("pageErasuresPending", (Gauge<Integer>) pages::getAsInt);
  }

  /** Adds the number of open sessions, in total and by last known state. */
  public void sessions(IntSupplier open, ToIntFunction<SlotState> inState) {
    group.gauge("sessionsOpen", (Gauge<Integer>) open::getAsInt);
    group.gauge("sessionsHot", (Gauge<Integer>) () -> inState.applyAsInt(SlotState.HOT));
    group.gauge("sessionsWarm", (Gauge<Integer>) () -> inState.applyAsInt(SlotState.WARM));
    group.gauge("sessionsCold", (Gauge<Integer>) () -> inState.applyAsInt(SlotState.COLD));
    group.gauge("sessionsGone", (Gauge<Integer>) () -> inState.applyAsInt(SlotState.GONE));
  }

  /** Adds the engine's statistics; they are the same in all subtasks that share the engine. */
  public void engine(Supplier<EngineStats> stats) {
    group.gauge("engineSteps", (Gauge<Long>) () -> stats.get().steps().steps());
    group.gauge("engineStepsFailed", (Gauge<Long>) () -> stats.get().steps().failedSteps());
    group.gauge("engineTokensPrefilled", (Gauge<Long>) () -> stats.get().steps().prefilledTokens());
    group.gauge("engineTokensCached", (Gauge<Long>) () -> stats.get().steps().cachedTokens());
    group.gauge("engineTokensGenerated", (Gauge<Long>) () -> stats.get().steps().generatedTokens());
    group.gauge(
        "requestsRunning", (Gauge<Integer>) () -> stats.get().scheduler().runningRequests());
    group.gauge(
        "requestsWaiting", (Gauge<Integer>) () -> stats.get().scheduler().waitingRequests());
    group.gauge("preemptions", (Gauge<Long>) () -> stats.get().scheduler().preemptions());
    pages(stats);
    grammars(() -> stats.get().grammars());
    group.gauge("draftTokens", (Gauge<Long>) () -> stats.get().drafts().drafted());
    group.gauge("draftTokensAccepted", (Gauge<Long>) () -> stats.get().drafts().accepted());
    group.gauge("draftChunks", (Gauge<Long>) () -> stats.get().drafts().chunks());
    group.gauge("draftHistoryBytes", (Gauge<Long>) () -> stats.get().drafts().historyBytes());
    group.gauge("kvEventsPublished", (Gauge<Long>) () -> stats.get().kvEvents().published());
    group.gauge("kvEventsDropped", (Gauge<Long>) () -> stats.get().kvEvents().dropped());
    group.gauge("kvEventResyncs", (Gauge<Long>) () -> stats.get().kvEvents().resyncs());
    group.gauge("sessionsCached", (Gauge<Integer>) () -> stats.get().sessions().known());
    group.gauge("sessionPages", (Gauge<Integer>) () -> stats.get().sessions().pages());
    group.gauge("pinnedPages", (Gauge<Integer>) () -> stats.get().sessions().pinnedPages());
    group.gauge("refusedPins", (Gauge<Long>) () -> stats.get().sessions().refusedPins());
    group.gauge(
        "priorityPreemptions", (Gauge<Long>) () -> stats.get().scheduler().priorityPreemptions());
    group.gauge("agedAdmissions", (Gauge<Long>) () -> stats.get().scheduler().promotions());
    group.gauge("prefixWaits", (Gauge<Long>) () -> stats.get().scheduler().deferrals());
    group.gauge("tokensAhead", (Gauge<Long>) () -> stats.get().sessions().tokensAhead());
  }

  private void grammars(Supplier<GrammarStats> stats) {
    group.gauge("grammarsCompiled", (Gauge<Long>) () -> stats.get().compiled());
    group.gauge("grammarCompileMillis", (Gauge<Long>) () -> stats.get().compileNanos() / 1_000_000);
    group.gauge("grammarsReused", (Gauge<Long>) () -> stats.get().reused());
    group.gauge("grammarMasks", (Gauge<Long>) () -> stats.get().masks());
    group.gauge("grammarMaskMillis", (Gauge<Long>) () -> stats.get().maskNanos() / 1_000_000);
  }

  private void pages(Supplier<EngineStats> stats) {
    group.gauge("pages", (Gauge<Integer>) () -> stats.get().pool().totalPages());
    group.gauge("pagesFree", (Gauge<Integer>) () -> stats.get().pool().freePages());
    group.gauge("pagesEvictable", (Gauge<Integer>) () -> stats.get().pool().evictablePages());
    group.gauge("pagesProtected", (Gauge<Integer>) () -> stats.get().pool().protectedPages());
    group.gauge("pagesInFlight", (Gauge<Integer>) () -> stats.get().pool().inFlightPages());
    group.gauge("pagesEvicted", (Gauge<Long>) () -> stats.get().pool().evictedPages());
    windows(() -> stats.get().pool().windows());
    group.gauge("pageRepairs", (Gauge<Long>) () -> stats.get().pool().repairs());
  }

  private void windows(Supplier<WindowStats> stats) {
    group.gauge("windowParts", (Gauge<Integer>) () -> stats.get().total());
    group.gauge("windowPartsFree", (Gauge<Integer>) () -> stats.get().free());
    group.gauge("windowPartsLocked", (Gauge<Integer>) () -> stats.get().locked());
    group.gauge("windowPartsTaken", (Gauge<Long>) () -> stats.get().taken());
    group.gauge("windowMatchesShortened", (Gauge<Long>) () -> stats.get().shortenedMatches());
    group.gauge("windowTokensLost", (Gauge<Long>) () -> stats.get().lostTokens());
  }

  /**
   * Adds the tiers below the engine's device; they are the same in all subtasks that share the
   * engine.
   */
  public void tiers(EngineTiers tiers, Supplier<EngineStats> stats) {
    tiers.register(group, stats);
  }

  public void accepted() {
    accepted.inc();
  }

  void rejected() {
    rejected.inc();
  }

  public void resendIgnored() {
    ignored.inc();
  }

  public void emittedAgain() {
    emittedAgain.inc();
  }

  /** Counts tokens of a conversation that its next prompt did not begin with. */
  void rewritten(int tokens) {
    rewrittenTokens.inc(tokens);
  }

  /** Counts a turn that was announced to the engine. */
  void prefetched(boolean taken) {
    (taken ? prefetches : prefetchesRefused).inc();
  }

  void submitted(long millisSinceAcceptance) {
    queueTime.update(millisSinceAcceptance);
  }

  public void firstToken(long millisSinceAcceptance) {
    timeToFirstToken.update(millisSinceAcceptance);
  }

  public void generated(Usage usage) {
    promptTokens.inc(usage.promptTokens());
    cachedTokens.inc(usage.cachedTokens());
    TierUsage tiers = usage.tiers();
    int below = tiers.hostTokens() + tiers.diskTokens() + tiers.remoteTokens();
    cachedDeviceTokens.inc(Math.max(0, usage.cachedTokens() - below));
    cachedHostTokens.inc(tiers.hostTokens());
    cachedDiskTokens.inc(tiers.diskTokens());
    cachedRemoteTokens.inc(tiers.remoteTokens());
    computedTokens.inc(Math.max(0, usage.promptTokens() - usage.cachedTokens()));
    generatedTokens.inc(usage.completionTokens());
  }

  public void replied(String reason) {
    replies.computeIfAbsent(reason, r -> group.addGroup("reason", r).counter("replies")).inc();
  }
}
