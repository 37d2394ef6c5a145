package io.radixflow.cli.local;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.radixflow.client.ConversationClient;
import io.radixflow.client.ReplyListener;
import io.radixflow.client.TopicContents;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.client.kvevents.KvEventReader;
import io.radixflow.client.kvevents.KvEventRecord;
import io.radixflow.client.kvevents.KvEventsReader;
import io.radixflow.client.kvevents.KvEventsView;
import io.radixflow.engine.KvEventSink;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.jobs.ServingSettings;
import io.radixflow.operators.flink.engine.EngineDirectory;
import io.radixflow.operators.flink.engine.EngineFactory;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.kv.KvEvent;
import io.radixflow.protocol.record.kv.KvTier;
import io.radixflow.text.template.Message;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests what the topic of KV events keeps of an erased session and an erased tenant. */
class ErasedKvEventsITCase {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final AtomicReference<ServingEngine> ENGINE = new AtomicReference<>();

  private Settings settings;
  private LocalStack stack;
  private ConversationClient client;

  /** Lets the test look into the engine that the job opens. */
  private record Watched(EngineFactory engines) implements EngineFactory {
    @Override
    public String identity() {
      return engines.identity();
    }

    @Override
    public EngineFactory publishing(KvEventSink.Factory events) {
      return new Watched(engines.publishing(events));
    }

    @Override
    public ServingEngine open(EngineDirectory home) throws Exception {
      ENGINE.set(engines.open(home));
      return ENGINE.get();
    }
  }

  @BeforeEach
  void start() throws IOException {
    Settings given =
        new SettingsLoader()
            .set(List.of("model=sim", "job.checkpoint-interval=200ms", "kv-events.enabled=true"))
            .load();
    EngineFactory engines =
        ServingSettings.engine(given, name -> SimModel.open(SimOptions.DEFAULT));
    stack =
        LocalStack.start(
            given,
            new LocalStack.Options(Optional.empty(), true, 0, 0),
            new Watched(engines),
            line -> {});
    settings = stack.settings();
    client = new ConversationClient(settings);
  }

  @AfterEach
  void stop() throws IOException {
    client.close();
    stack.close();
  }

  @Test
  void erasedBlocksAreTombstonesAndALateReaderHasTheExactRest() throws Exception {
    say("acme", "a1", "a2");
    Set<String> acme = awaitTold();
    say("beta", "b1", "b2");
    Set<String> both = awaitTold();
    Set<String> beta = without(both, acme);
    assertThat(acme).hasSizeGreaterThan(10);
    assertThat(beta).hasSizeGreaterThan(10);

    ask(event(EventKind.ERASE, "beta", "b1", "erased", List.of()));
    await().atMost(PATIENCE).until(() -> content().size() < both.size());
    Set<String> left = awaitTold();
    assertThat(left).containsAll(acme);
    assertThat(without(left, acme)).isNotEmpty().isSubsetOf(beta);

    byte[] erasure = "{\"type\":\"erase_tenant\",\"tenant\":\"acme\"}".getBytes(UTF_8);
    client.send(settings.get(KafkaConfig.CONTROL_TOPIC), null, erasure).join();
    await().atMost(PATIENCE).until(() -> without(acme, content()).equals(acme));
    assertThat(awaitTold()).isEqualTo(without(left, acme));
    assertCompactedTopicHas(without(left, acme), both);
  }

  private void say(String tenant, String... sessions) throws Exception {
    for (String session : sessions) {
      for (String turn : List.of("t1", "t2")) {
        Message message = new Message("user", (session + turn + ", which light? ").repeat(9));
        ask(event(EventKind.MESSAGE, tenant, session, turn, List.of(message)));
      }
    }
  }

  private void ask(ConversationEvent event) throws Exception {
    Reply reply = client.ask(event, ReplyListener.SILENT).get(60, TimeUnit.SECONDS);
    assertThat(reply.finishReason()).as("%s", reply).isEqualTo("stop");
  }

  private static ConversationEvent event(
      EventKind kind, String tenant, String session, String turn, List<Message> messages) {
    return ConversationEvent.builder(kind, session, turn).tenant(tenant).messages(messages).build();
  }

  /** Waits until a reader who comes late has what the cache has. */
  private Set<String> awaitTold() throws Exception {
    await()
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(read()).isNotEmpty().isEqualTo(content()));
    return content();
  }

  private static Set<String> content() throws Exception {
    ContinuousBatchingEngine engine = (ContinuousBatchingEngine) ENGINE.get().engine();
    return shown(engine.cacheContent().get(60, TimeUnit.SECONDS));
  }

  private Set<String> read() {
    try (KvEventsReader reader = new KvEventsReader(settings)) {
      KvEventsView view = reader.readToEnd(() -> false);
      assertThat(view.unreadable()).isZero();
      Set<String> all = new TreeSet<>();
      for (String engine : view.engines()) {
        all.addAll(shown(view.blocks(engine, KvTier.DEVICE).values()));
      }
      return all;
    }
  }

  /** Compaction leaves the last record of each key: a cached block, or a tombstone. */
  private void assertCompactedTopicHas(Set<String> expected, Set<String> earlier)
      throws IOException {
    Map<String, Optional<String>> last = new HashMap<>();
    Set<String> ever = new TreeSet<>();
    TopicContents.read(
        settings,
        settings.get(KafkaConfig.KV_EVENTS_TOPIC),
        record -> {
          String key = new String(record.key(), UTF_8);
          if (record.value() == null) {
            last.put(key, Optional.empty());
          } else if (KvEventReader.read(record.value()) instanceof KvEventRecord.Block block) {
            last.put(key, Optional.of(shown(block.stored())));
            ever.add(shown(block.stored()));
          }
        });
    assertThat(ever).containsAll(earlier);
    assertThat(last.values().stream().flatMap(Optional::stream))
        .containsExactlyInAnyOrderElementsOf(expected);
    assertThat(last.values().stream().filter(Optional::isEmpty).count())
        .isEqualTo(ever.size() - expected.size());
  }

  private static Set<String> without(Set<String> all, Set<String> some) {
    Set<String> rest = new TreeSet<>(all);
    rest.removeAll(some);
    return rest;
  }

  private static Set<String> shown(Collection<KvEvent.Stored> blocks) {
    Set<String> shown = new TreeSet<>();
    blocks.forEach(stored -> shown.add(shown(stored)));
    return shown;
  }

  private static String shown(KvEvent.Stored stored) {
    return stored.block() + "<" + stored.parent() + "@" + stored.namespace();
  }
}
