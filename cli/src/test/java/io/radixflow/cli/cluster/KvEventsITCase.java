package io.radixflow.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.radixflow.cli.local.LocalBroker;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.kvevents.KvEventRecord;
import io.radixflow.client.kvevents.KvEventsReader;
import io.radixflow.client.kvevents.KvEventsView;
import io.radixflow.jobs.kafka.KafkaSetup;
import io.radixflow.protocol.record.kv.KvTier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.kafka.common.KafkaException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compares what late readers of the topic know of the caches with the caches themselves. */
class KvEventsITCase {

  private static final Duration PATIENCE = Duration.ofSeconds(120);

  /** The engine's line, once all of it was written. */
  private static final Pattern PRINTED = Pattern.compile(KvEventsEngine.CONTENT + "(.+)\n");

  @TempDir Path dir;
  private LocalBroker broker;
  private Settings settings;

  @BeforeEach
  void startBroker() throws IOException {
    broker = LocalBroker.start(dir);
    settings = KvEventsEngine.settings(broker.bootstrapServers(), KvEventsEngine.BUFFER);
    KafkaSetup.check(settings);
  }

  @AfterEach
  void stopBroker() {
    broker.close();
  }

  @Test
  void aMissingTopicIsReportedWithTheOptionThatMakesOne() {
    assertThatExceptionOfType(KafkaException.class)
        .isThrownBy(() -> new KvEventsReader(settings.with(KafkaConfig.KV_EVENTS_TOPIC, "absent")))
        .withMessageContaining("start the job with kv-events.enabled=true");
  }

  @Test
  void aLateReaderHasTheExactContentOfEachCacheUntilItsEngineEnds() throws Exception {
    try (KvEventsEngine first = new KvEventsEngine(settings);
        KvEventsEngine second = new KvEventsEngine(settings)) {
      first.converse(1, 30);
      second.converse(2, 30);
      assertThat(first.evictions()).isPositive();
      List<String> contents = List.of(first.content(), second.content());
      assertThat(contents).doesNotContain("");
      awaitContents(contents);
      first.converse(3, 10);
      awaitContents(List.of(first.content(), contents.get(1)));
    }
    KvEventsView view = read();
    assertThat(view.engines())
        .hasSize(2)
        .allSatisfy(
            engine -> {
              assertThat(view.engine(engine).last().state()).isEqualTo(KvEventRecord.State.CLOSED);
              assertThat(view.blocks(engine, KvTier.DEVICE)).isEmpty();
            });
  }

  @Test
  void anEngineThatIsFasterThanKafkaPublishesASnapshotAndIsExactAgain() throws Exception {
    try (KvEventsEngine engine =
        new KvEventsEngine(KvEventsEngine.settings(broker.bootstrapServers(), 4))) {
      awaitContents(List.of(""));
      engine.converse(4, 30);
      assertThat(engine.eventStats().dropped()).isPositive();
      awaitContents(List.of(engine.content()));
      assertThat(engine.eventStats().resyncs()).isPositive();
      KvEventsView view = read();
      assertThat(view.engine(view.engines().iterator().next()).last().epoch()).isGreaterThan(1);
    }
  }

  @Test
  void aLateReaderHasTheExactContentAfterAnEngineWasKilledAndAfterItsSuccessorCame()
      throws Exception {
    String before;
    try (JavaProcess process = startEngine(1)) {
      before = awaitPrinted(1);
      awaitContents(List.of(before));
      process.kill();
    }
    KvEventsView dead = read();
    String name = dead.engines().iterator().next();
    long epoch = dead.engine(name).last().epoch();
    assertThat(contents(dead)).containsExactly(before);
    String after;
    try (JavaProcess process = startEngine(2)) {
      after = awaitPrinted(2);
      assertThat(after).isNotEqualTo(before);
      awaitContents(List.of(after));
      process.kill();
    }
    KvEventsView view = read();
    assertThat(view.engines()).containsExactly(name);
    assertThat(view.engine(name).last().epoch()).isGreaterThan(epoch);
    assertThat(contents(view)).containsExactly(after);
  }

  private JavaProcess startEngine(int seed) throws IOException {
    List<String> arguments = new ArrayList<>(JvmFlags.ALL);
    arguments.addAll(
        List.of(
            "-Djava.io.tmpdir=" + dir,
            "-cp",
            System.getProperty("java.class.path"),
            KvEventsEngine.class.getName(),
            broker.bootstrapServers(),
            Integer.toString(seed)));
    return JavaProcess.start("engine " + seed, arguments, Map.of(), output(seed));
  }

  private Path output(int seed) {
    return dir.resolve("engine-" + seed + ".out");
  }

  private String awaitPrinted(int seed) {
    return await()
        .atMost(PATIENCE)
        .until(
            () ->
                PRINTED
                    .matcher(Files.readString(output(seed)))
                    .results()
                    .map(line -> line.group(1))
                    .findFirst()
                    .orElse(""),
            content -> !content.isEmpty());
  }

  private void awaitContents(List<String> expected) {
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> assertThat(contents(read())).containsExactlyInAnyOrderElementsOf(expected));
  }

  private static List<String> contents(KvEventsView view) {
    assertThat(view.unreadable()).isZero();
    return view.engines().stream()
        .map(engine -> KvEventsEngine.shown(view.blocks(engine, KvTier.DEVICE).values()))
        .toList();
  }

  /** Reads the whole topic, as a late reader does. */
  private KvEventsView read() {
    try (KvEventsReader reader = new KvEventsReader(settings)) {
      return reader.readToEnd(() -> false);
    }
  }
}
