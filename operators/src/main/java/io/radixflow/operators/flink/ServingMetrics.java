package io.radixflow.operators.flink;

import io.radixflow.operators.engine.EngineStats;
import io.radixflow.operators.engine.Usage;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Histogram;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.metrics.DescriptiveStatisticsHistogram;

/**
 * The operator's metrics. {@code replies} counts by finish reason; token counts grow when a reply
 * ends; {@code timeToFirstTokenMillis} runs from acceptance to the first token.
 */
final class ServingMetrics {
  private static final int HISTOGRAM_WINDOW = 1_000;

  private final MetricGroup group;
  private final Map<String, Counter> replies = new HashMap<>();
  private final Counter accepted;
  private final Counter rejected;
  private final Counter ignored;
  private final Counter promptTokens;
  private final Counter cachedTokens;
  private final Counter generatedTokens;
  private final Histogram timeToFirstToken;

  ServingMetrics(
      MetricGroup operatorGroup, IntSupplier running, IntSupplier pending, IntSupplier sessions) {
    this.group = operatorGroup.addGroup("serving");
    this.accepted = group.counter("turnsAccepted");
    this.rejected = group.counter("eventsRejected");
    this.ignored = group.counter("resendsIgnored");
    this.promptTokens = group.counter("promptTokens");
    this.cachedTokens = group.counter("cachedTokens");
    this.generatedTokens = group.counter("generatedTokens");
    this.timeToFirstToken =
        group.histogram(
            "timeToFirstTokenMillis", new DescriptiveStatisticsHistogram(HISTOGRAM_WINDOW));
    group.gauge("turnsRunning", (Gauge<Integer>) running::getAsInt);
    group.gauge("turnsPending", (Gauge<Integer>) pending::getAsInt);
    group.gauge("sessionsOpen", (Gauge<Integer>) sessions::getAsInt);
  }

  /** Adds what the engine tells of itself; the same in all subtasks that share it. */
  void engine(Supplier<EngineStats> stats) {
    group.gauge("kvEventsPublished", (Gauge<Long>) () -> stats.get().kvEvents().published());
    group.gauge("kvEventsDropped", (Gauge<Long>) () -> stats.get().kvEvents().dropped());
    group.gauge("kvEventResyncs", (Gauge<Long>) () -> stats.get().kvEvents().resyncs());
    group.gauge("sessionsHot", (Gauge<Integer>) () -> stats.get().sessions().hot());
    group.gauge("sessionsCached", (Gauge<Integer>) () -> stats.get().sessions().known());
    group.gauge("sessionPages", (Gauge<Integer>) () -> stats.get().sessions().pages());
    group.gauge("pinnedPages", (Gauge<Integer>) () -> stats.get().sessions().pinnedPages());
    group.gauge("refusedPins", (Gauge<Long>) () -> stats.get().sessions().refusedPins());
    group.gauge("preemptions", (Gauge<Long>) () -> stats.get().scheduler().preemptions());
    group.gauge("agedAdmissions", (Gauge<Long>) () -> stats.get().scheduler().promotions());
    group.gauge("prefixWaits", (Gauge<Long>) () -> stats.get().scheduler().deferrals());
    group.gauge("tokensAhead", (Gauge<Long>) () -> stats.get().sessions().tokensAhead());
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

  void firstToken(long millisSinceAcceptance) {
    timeToFirstToken.update(millisSinceAcceptance);
  }

  void generated(Usage usage) {
    promptTokens.inc(usage.promptTokens());
    cachedTokens.inc(usage.cachedTokens());
    generatedTokens.inc(usage.completionTokens());
  }

  void replied(String reason) {
    replies.computeIfAbsent(reason, r -> group.addGroup("reason", r).counter("replies")).inc();
  }
}
