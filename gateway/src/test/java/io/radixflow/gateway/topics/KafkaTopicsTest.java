package io.radixflow.gateway.topics;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.client.config.SettingsLoader;
import io.radixflow.client.kafka.KafkaSetupException;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** Without brokers: each event that is sent fails, whatever is thrown and whenever. */
class KafkaTopicsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final KafkaTopics topics =
      new KafkaTopics(
          new SettingsLoader()
              .set(List.of("kafka.bootstrap-servers=127.0.0.1:1", "kafka.connect-timeout=1s"))
              .load());

  private static ConversationEvent event(String turn) {
    return ConversationEvent.builder(EventKind.QUERY, "s", turn).build();
  }

  private static void assertFails(CompletableFuture<Void> sent, String message) {
    assertThat(sent)
        .failsWithin(PATIENCE)
        .withThrowableOfType(ExecutionException.class)
        .withCauseInstanceOf(KafkaSetupException.class)
        .withMessageContaining(message);
  }

  @Test
  void anExceptionInTheSendingThreadEndsTheEvent() {
    ConversationEvent unwritable = ConversationEvent.builder(EventKind.QUERY, null, "t").build();
    assertFails(topics.send(unwritable), "the event could not be sent");
    assertFails(topics.send(event("t")), "no Kafka broker answers");
    topics.close();
  }

  @Test
  void eventsThatWaitWhenTheGatewayStopsAreEnded() {
    List<CompletableFuture<Void>> sent = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      sent.add(topics.send(event("t" + i)));
    }
    topics.close();
    sent.forEach(each -> assertThat(each).isCompletedExceptionally());
    assertFails(topics.send(event("late")), "the gateway is stopping");
  }
}
