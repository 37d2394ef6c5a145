package io.radixflow.operators.flink.turn;

import io.radixflow.operators.engine.EngineStats;
import io.radixflow.operators.record.SlotState;
import io.radixflow.operators.record.Usage;
import io.radixflow.operators.tier.TierStats;
import io.radixflow.operators.tier.page.MissReason;
import io.radixflow.operators.tier.store.PageStoreStats;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
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
  private final Counter generatedTokens;
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
    this.generatedTokens = group.counter("generatedTokens");
    this.timeToFirstToken =
        group.histogram(
            "timeToFirstTokenMillis", new DescriptiveStatisticsHistogram(HISTOGRAM_WINDOW));
  }

  /** Adds the turns that the engine works on, and all that have no reply yet. */
  public void turns(IntSupplier running, IntSupplier pending) {
    group.gauge("turnsRunning", (Gauge<Integer>) running::getAsInt);
    group.gauge("turnsPending", (Gauge<Integer>) pending::getAsInt);
  }

  /** Adds the erasures that are not confirmed. */
  public void erasures(IntSupplier tenants, IntSupplier pages) {
    group.gauge("tenantErasuresPending", (Gauge<Integer>) tenants::getAsInt);
    group.gauge("pageErasuresPending", (Gauge<Integer>) pages::getAsInt);
  }

  /** Adds the open sessions: all, and those in each state as it was last known. */
  public void sessions(IntSupplier open, ToIntFunction<SlotState> inState) {
    group.gauge("sessionsOpen", (Gauge<Integer>) open::getAsInt);
    group.gauge("sessionsHot", (Gauge<Integer>) () -> inState.applyAsInt(SlotState.HOT));
    group.gauge("sessionsWarm", (Gauge<Integer>) () -> inState.applyAsInt(SlotState.WARM));
    group.gauge("sessionsCold", (Gauge<Integer>) () -> inState.applyAsInt(SlotState.COLD));
    group.gauge("sessionsGone", (Gauge<Integer>) () -> inState.applyAsInt(SlotState.GONE));
  }

  /** Adds what the engine tells of itself; the same in all subtasks that share it. */
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
    tiers(() -> stats.get().tiers());
    group.gauge("tokensAhead", (Gauge<Long>) () -> stats.get().sessions().tokensAhead());
  }

  private void pages(Supplier<EngineStats> stats) {
    group.gauge("pages", (Gauge<Integer>) () -> stats.get().pool().totalPages());
    group.gauge("pagesFree", (Gauge<Integer>) () -> stats.get().pool().freePages());
    group.gauge("pagesEvictable", (Gauge<Integer>) () -> stats.get().pool().evictablePages());
    group.gauge("pagesProtected", (Gauge<Integer>) () -> stats.get().pool().protectedPages());
    group.gauge("pagesInFlight", (Gauge<Integer>) () -> stats.get().pool().inFlightPages());
    group.gauge("pagesEvicted", (Gauge<Long>) () -> stats.get().pool().evictedPages());
    group.gauge("pageRepairs", (Gauge<Long>) () -> stats.get().pool().repairs());
  }

  /** Adds what became of control events for the tiers; the same in all subtasks of an engine. */
  public void tierCommands(LongSupplier applied, LongSupplier refused) {
    group.gauge("tierCommandsApplied", (Gauge<Long>) applied::getAsLong);
    group.gauge("tierCommandsRefused", (Gauge<Long>) refused::getAsLong);
  }

  private void tiers(Supplier<TierStats> stats) {
    group.gauge("hostPages", (Gauge<Integer>) () -> stats.get().hostPages());
    group.gauge("hostPagesUsed", (Gauge<Integer>) () -> stats.get().usedHostPages());
    group.gauge("hostPagesEvicted", (Gauge<Long>) () -> stats.get().evictedHostPages());
    group.gauge("tierPagesQueued", (Gauge<Integer>) () -> stats.get().queuedPages());
    group.gauge("pagesBackedUp", (Gauge<Long>) () -> stats.get().backedUpPages());
    group.gauge("backupsDropped", (Gauge<Long>) () -> stats.get().droppedBackups());
    group.gauge("pagesLoaded", (Gauge<Long>) () -> stats.get().loadedPages());
    group.gauge("pagesFetched", (Gauge<Long>) () -> stats.get().fetchedPages());
    group.gauge("pagesPrefetched", (Gauge<Long>) () -> stats.get().announcements().pages());
    group.gauge("prefetchesCutShort", (Gauge<Long>) () -> stats.get().announcements().cutShort());
    group.gauge("tierWritesDropped", (Gauge<Long>) () -> stats.get().droppedWrites());
    group.gauge("tierTransfersFailed", (Gauge<Long>) () -> stats.get().failedTransfers());
    for (MissReason reason : MissReason.values()) {
      group
          .addGroup("reason", reason.name().toLowerCase(Locale.ROOT))
          .gauge("tierMisses", (Gauge<Long>) () -> stats.get().misses().getOrDefault(reason, 0L));
    }
    store("disk", () -> stats.get().store());
    store("remote", () -> stats.get().remote());
  }

  /** Adds what a store tells, which may come and go. */
  private void store(String tier, Supplier<PageStoreStats> stats) {
    MetricGroup store = group.addGroup("tier", tier);
    Map<String, ToLongFunction<PageStoreStats>> values = new LinkedHashMap<>();
    values.put("storePages", PageStoreStats::pages);
    values.put("storeBytes", PageStoreStats::bytes);
    values.put("storeBytesLimit", PageStoreStats::limitBytes);
    values.put("storePagesRead", PageStoreStats::readPages);
    values.put("storePagesWritten", PageStoreStats::writtenPages);
    values.put("storePagesEvicted", PageStoreStats::evictedPages);
    values.put("storeWritesFailed", PageStoreStats::failedWrites);
    values.forEach((name, value) -> store.gauge(name, (Gauge<Long>) () -> of(stats.get(), value)));
    for (MissReason reason : MissReason.values()) {
      store
          .addGroup("reason", reason.name().toLowerCase(Locale.ROOT))
          .gauge(
              "storeMisses",
              (Gauge<Long>) () -> of(stats.get(), told -> told.misses().getOrDefault(reason, 0L)));
    }
  }

  private static long of(PageStoreStats stats, ToLongFunction<PageStoreStats> value) {
    return stats == null ? 0 : value.applyAsLong(stats);
  }

  void accepted() {
    accepted.inc();
  }

  void rejected() {
    rejected.inc();
  }

  void resendIgnored() {
    ignored.inc();
  }

  public void emittedAgain() {
    emittedAgain.inc();
  }

  /** A turn was announced to the engine. */
  void prefetched(boolean taken) {
    (taken ? prefetches : prefetchesRefused).inc();
  }

  public void firstToken(long millisSinceAcceptance) {
    timeToFirstToken.update(millisSinceAcceptance);
  }

  public void generated(Usage usage) {
    promptTokens.inc(usage.promptTokens());
    cachedTokens.inc(usage.cachedTokens());
    generatedTokens.inc(usage.completionTokens());
  }

  public void replied(String reason) {
    replies.computeIfAbsent(reason, r -> group.addGroup("reason", r).counter("replies")).inc();
  }
}
