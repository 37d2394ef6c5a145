package io.radixflow.operators.flink;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.engine.EngineStats;
import io.radixflow.operators.engine.KvEventStats;
import io.radixflow.operators.engine.SchedulerStats;
import io.radixflow.operators.engine.SessionStats;
import io.radixflow.operators.engine.Usage;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Histogram;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.junit.jupiter.api.Test;

class ServingMetricsTest {

  /** Keeps metrics by the path of their groups. */
  private static final class Recorded extends UnregisteredMetricsGroup {
    private final String path;
    private final Map<String, Object> metrics;

    Recorded(String path, Map<String, Object> metrics) {
      this.path = path;
      this.metrics = metrics;
    }

    @Override
    public MetricGroup addGroup(String name) {
      return new Recorded(path + name + ".", metrics);
    }

    @Override
    public MetricGroup addGroup(String key, String value) {
      return new Recorded(path + key + "." + value + ".", metrics);
    }

    @Override
    public Counter counter(String name) {
      Counter counter = super.counter(name);
      metrics.put(path + name, counter);
      return counter;
    }

    @Override
    public <T, G extends Gauge<T>> G gauge(String name, G gauge) {
      metrics.put(path + name, gauge);
      return gauge;
    }

    @Override
    public <H extends Histogram> H histogram(String name, H histogram) {
      metrics.put(path + name, histogram);
      return histogram;
    }
  }

  private final Map<String, Object> metrics = new HashMap<>();
  private final ServingMetrics serving =
      new ServingMetrics(new Recorded("", metrics), () -> 2, () -> 5, () -> 7);

  private long count(String name) {
    return ((Counter) metrics.get("serving." + name)).getCount();
  }

  @Test
  void repliesAreCountedByFinishReason() {
    serving.replied("stop");
    serving.replied("stop");
    serving.replied("length");
    assertThat(count("reason.stop.replies")).isEqualTo(2);
    assertThat(count("reason.length.replies")).isEqualTo(1);
  }

  @Test
  void tokensAreCountedByWhatTheyCost() {
    serving.generated(new Usage(10, 4, 3));
    serving.generated(new Usage(1, 1, 1));
    assertThat(count("promptTokens")).isEqualTo(11);
    assertThat(count("cachedTokens")).isEqualTo(5);
    assertThat(count("generatedTokens")).isEqualTo(4);
  }

  @Test
  void whatBecomesOfKvEventsCanBeRead() {
    EngineStats stats = stats(new KvEventStats(7, 2, 1), SessionStats.NONE, SchedulerStats.NONE);
    serving.engine(() -> stats);
    assertThat(((Gauge<?>) metrics.get("serving.kvEventsPublished")).getValue()).isEqualTo(7L);
    assertThat(((Gauge<?>) metrics.get("serving.kvEventsDropped")).getValue()).isEqualTo(2L);
    assertThat(((Gauge<?>) metrics.get("serving.kvEventResyncs")).getValue()).isEqualTo(1L);
  }

  @Test
  void departuresFromThePolicysOrderCanBeRead() {
    serving.engine(() -> stats(KvEventStats.NONE, SessionStats.NONE, new SchedulerStats(3, 4, 5)));
    assertThat(((Gauge<?>) metrics.get("serving.preemptions")).getValue()).isEqualTo(3L);
    assertThat(((Gauge<?>) metrics.get("serving.agedAdmissions")).getValue()).isEqualTo(4L);
    assertThat(((Gauge<?>) metrics.get("serving.prefixWaits")).getValue()).isEqualTo(5L);
  }

  private static EngineStats stats(
      KvEventStats events, SessionStats sessions, SchedulerStats scheduler) {
    return new EngineStats(
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, events, sessions, scheduler);
  }

  @Test
  void whatIsKeptOfSessionsCanBeRead() {
    serving.engine(
        () -> stats(KvEventStats.NONE, new SessionStats(3, 9, 5, 7, 2, 77), SchedulerStats.NONE));
    assertThat(((Gauge<?>) metrics.get("serving.sessionsHot")).getValue()).isEqualTo(3);
    assertThat(((Gauge<?>) metrics.get("serving.sessionsCached")).getValue()).isEqualTo(9);
    assertThat(((Gauge<?>) metrics.get("serving.sessionPages")).getValue()).isEqualTo(5);
    assertThat(((Gauge<?>) metrics.get("serving.pinnedPages")).getValue()).isEqualTo(7);
    assertThat(((Gauge<?>) metrics.get("serving.refusedPins")).getValue()).isEqualTo(2L);
    assertThat(((Gauge<?>) metrics.get("serving.tokensAhead")).getValue()).isEqualTo(77L);
  }

  @Test
  void queuesAndTheTimeToTheFirstTokenCanBeRead() {
    serving.firstToken(40);
    serving.firstToken(60);
    Histogram histogram = (Histogram) metrics.get("serving.timeToFirstTokenMillis");
    assertThat(histogram.getStatistics().getMean()).isEqualTo(50);
    assertThat(((Gauge<?>) metrics.get("serving.turnsRunning")).getValue()).isEqualTo(2);
    assertThat(((Gauge<?>) metrics.get("serving.turnsPending")).getValue()).isEqualTo(5);
  }
}
