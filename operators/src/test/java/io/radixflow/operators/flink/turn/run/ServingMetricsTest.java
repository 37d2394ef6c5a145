package io.radixflow.operators.flink.turn.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.EngineStats;
import io.radixflow.engine.GrammarStats;
import io.radixflow.engine.KvEventStats;
import io.radixflow.engine.PoolStats;
import io.radixflow.engine.SchedulerStats;
import io.radixflow.engine.SessionStats;
import io.radixflow.engine.StepStats;
import io.radixflow.engine.WindowStats;
import io.radixflow.engine.draft.DraftStats;
import io.radixflow.engine.tier.TierStats;
import io.radixflow.operators.flink.engine.EngineTiers;
import io.radixflow.operators.flink.tiers.TierMetrics;
import io.radixflow.protocol.record.Usage;
import io.radixflow.protocol.record.kv.TierUsage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
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
  private final ServingMetrics serving = new ServingMetrics(new Recorded("", metrics));

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
  void tokensOfThePromptAreCountedByWhereTheyCameFrom() {
    serving.generated(new Usage(100, 64, 3, new TierUsage(16, 8, 4, 500)));
    serving.generated(new Usage(10, 4, 1));
    assertThat(count("cachedDeviceTokens")).isEqualTo(36 + 4);
    assertThat(count("cachedHostTokens")).isEqualTo(16);
    assertThat(count("cachedDiskTokens")).isEqualTo(8);
    assertThat(count("cachedRemoteTokens")).isEqualTo(4);
    assertThat(count("computedTokens")).isEqualTo(36 + 6);
  }

  @Test
  void kvEventsAreCountedAsPublishedOrDropped() {
    EngineStats stats = stats(new KvEventStats(7, 2, 1), SessionStats.NONE, SchedulerStats.NONE);
    serving.engine(() -> stats);
    assertThat(((Gauge<?>) metrics.get("serving.kvEventsPublished")).getValue()).isEqualTo(7L);
    assertThat(((Gauge<?>) metrics.get("serving.kvEventsDropped")).getValue()).isEqualTo(2L);
    assertThat(((Gauge<?>) metrics.get("serving.kvEventResyncs")).getValue()).isEqualTo(1L);
  }

  @Test
  void departuresFromThePolicysOrderCanBeRead() {
    serving.engine(
        () -> stats(KvEventStats.NONE, SessionStats.NONE, new SchedulerStats(0, 0, 6, 3, 4, 5)));
    assertThat(((Gauge<?>) metrics.get("serving.priorityPreemptions")).getValue()).isEqualTo(3L);
    assertThat(((Gauge<?>) metrics.get("serving.agedAdmissions")).getValue()).isEqualTo(4L);
    assertThat(((Gauge<?>) metrics.get("serving.prefixWaits")).getValue()).isEqualTo(5L);
  }

  private static EngineStats stats(
      KvEventStats events, SessionStats sessions, SchedulerStats scheduler) {
    return new EngineStats(
        StepStats.NONE,
        PoolStats.NONE,
        scheduler,
        sessions,
        events,
        TierStats.NONE,
        GrammarStats.NONE,
        DraftStats.NONE);
  }

  @Test
  void theFiguresOfSessionsAreGauges() {
    serving.engine(
        () -> stats(KvEventStats.NONE, new SessionStats(3, 9, 5, 7, 2, 77), SchedulerStats.NONE));
    assertThat(((Gauge<?>) metrics.get("serving.sessionsCached")).getValue()).isEqualTo(9);
    assertThat(((Gauge<?>) metrics.get("serving.sessionPages")).getValue()).isEqualTo(5);
    assertThat(((Gauge<?>) metrics.get("serving.pinnedPages")).getValue()).isEqualTo(7);
    assertThat(((Gauge<?>) metrics.get("serving.refusedPins")).getValue()).isEqualTo(2L);
    assertThat(((Gauge<?>) metrics.get("serving.tokensAhead")).getValue()).isEqualTo(77L);
  }

  @Test
  void openSessionsAreCountedByTheirState() {
    serving.sessions(() -> 20, state -> state.ordinal() + 3);
    assertThat(sessions("Open", "Hot", "Warm", "Cold", "Gone")).containsExactly(20, 3, 4, 5, 6);
  }

  private List<Object> sessions(String... states) {
    return Stream.of(states)
        .<Object>map(each -> ((Gauge<?>) metrics.get("serving.sessions" + each)).getValue())
        .toList();
  }

  @Test
  void everyPageOfThePoolIsCountedInOnePlace() {
    EngineStats stats =
        new EngineStats(
            new StepStats(1, 7, 2, 3, 4),
            new PoolStats(50, 11, 12, 13, 14, 6, 8, new WindowStats(64, 31, 32, 33, 34, 35, 36)),
            new SchedulerStats(9, 10, 5, 0, 0, 0),
            SessionStats.NONE,
            KvEventStats.NONE,
            TierStats.NONE,
            new GrammarStats(21, 22_000_000, 23, 24, 25_000_000),
            new DraftStats(61, 62, 63, 64));
    serving.engine(() -> stats);
    Map<String, Number> wanted = new TreeMap<>();
    wanted.put("draftTokens", 61L);
    wanted.put("draftTokensAccepted", 62L);
    wanted.put("draftChunks", 63L);
    wanted.put("draftHistoryBytes", 64L);
    wanted.put("engineSteps", 1L);
    wanted.put("engineTokensPrefilled", 2L);
    wanted.put("engineTokensCached", 3L);
    wanted.put("engineTokensGenerated", 4L);
    wanted.put("preemptions", 5L);
    wanted.put("pagesEvicted", 6L);
    wanted.put("engineStepsFailed", 7L);
    wanted.put("pageRepairs", 8L);
    wanted.put("requestsRunning", 9);
    wanted.put("requestsWaiting", 10);
    wanted.put("pagesFree", 11);
    wanted.put("pagesEvictable", 12);
    wanted.put("pagesProtected", 13);
    wanted.put("pagesInFlight", 14);
    wanted.put("pages", 50);
    wanted.put("windowParts", 31);
    wanted.put("windowPartsFree", 32);
    wanted.put("windowPartsLocked", 33);
    wanted.put("windowPartsTaken", 34L);
    wanted.put("windowMatchesShortened", 35L);
    wanted.put("windowTokensLost", 36L);
    wanted.put("grammarsCompiled", 21L);
    wanted.put("grammarCompileMillis", 22L);
    wanted.put("grammarsReused", 23L);
    wanted.put("grammarMasks", 24L);
    wanted.put("grammarMaskMillis", 25L);
    Map<String, Object> found = new TreeMap<>();
    wanted
        .keySet()
        .forEach(name -> found.put(name, ((Gauge<?>) metrics.get("serving." + name)).getValue()));
    assertThat(found).isEqualTo(wanted);
  }

  /** Values of a group's variable are written in angle brackets. */
  @Test
  void theDocumentListsWhatIsRegistered() throws IOException {
    serving.engine(() -> stats(KvEventStats.NONE, SessionStats.NONE, SchedulerStats.NONE));
    serving.sessions(() -> 0, state -> 0);
    serving.turns(() -> 0, () -> 0);
    serving.erasures(() -> 0, () -> 0);
    serving.tiers(
        new EngineTiers() {
          @Override
          public void register(MetricGroup group, Supplier<EngineStats> stats) {
            TierMetrics.register(group, () -> TierStats.NONE, () -> 0L, () -> 0L);
          }
        },
        () -> null);
    serving.replied("stop");
    Set<String> registered = new TreeSet<>();
    for (String name : metrics.keySet()) {
      registered.add(
          name.substring("serving.".length())
              .replaceFirst("^reason\\.[a-z_]+", "reason.<reason>")
              .replaceFirst("^tier\\.[a-z_]+", "tier.<tier>")
              .replaceFirst("^(tier\\.<tier>\\.reason)\\.[a-z_]+", "$1.<reason>"));
    }
    Set<String> listed = new TreeSet<>();
    for (String line : Files.readAllLines(Path.of("..", "docs", "metrics.md"))) {
      Matcher row = Pattern.compile("\\| `([^`:]+)` \\|.*").matcher(line);
      if (row.matches()) {
        assertThat(listed.add(row.group(1))).as(line).isTrue();
      }
    }
    assertThat(listed).isEqualTo(registered);
  }

  @Test
  void queuesAndTheTimeToTheFirstTokenCanBeRead() {
    serving.turns(() -> 2, () -> 5);
    serving.erasures(() -> 1, () -> 0);
    serving.firstToken(40);
    serving.firstToken(60);
    Histogram histogram = (Histogram) metrics.get("serving.timeToFirstTokenMillis");
    assertThat(histogram.getStatistics().getMean()).isEqualTo(50);
    assertThat(((Gauge<?>) metrics.get("serving.turnsRunning")).getValue()).isEqualTo(2);
    assertThat(((Gauge<?>) metrics.get("serving.turnsPending")).getValue()).isEqualTo(5);
    assertThat(((Gauge<?>) metrics.get("serving.tenantErasuresPending")).getValue()).isEqualTo(1);
  }
}
