package io.radixflow.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.radixflow.client.ConversationClient;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.client.kafka.KafkaSetupException;
import io.radixflow.jobs.kafka.KafkaSetup;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.common.KafkaException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConversationClientITCase {

  @TempDir static Path dir;
  private static LocalBroker broker;

  @BeforeAll
  static void startBroker() throws Exception {
    broker = LocalBroker.start(dir);
    KafkaSetup.check(settings("kafka.create-topics=true"));
  }

  @AfterAll
  static void stopBroker() {
    broker.close();
  }

  @Test
  void aTopicThatIsMissingIsNamedWithWhatToDo() {
    assertThatExceptionOfType(KafkaSetupException.class)
        .isThrownBy(() -> new ConversationClient(settings("kafka.topic.deltas=absent")))
        .withMessageContaining("cannot read the topic absent on " + broker.bootstrapServers())
        .withMessageContaining("there is no such topic; start the job, or create it");
    assertThat(followers()).isEmpty();
  }

  @Test
  void oneThatCannotSendFollowsNothing() {
    assertThatExceptionOfType(KafkaException.class)
        .isThrownBy(() -> new ConversationClient(settings("kafka.client.batch.size=-5")));
    assertThat(followers()).isEmpty();
  }

  private static List<String> followers() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("follow-"))
        .toList();
  }

  private static Settings settings(String... assignments) {
    return new SettingsLoader()
        .set(
            Stream.concat(
                    Stream.of(
                        "kafka.bootstrap-servers=" + broker.bootstrapServers(),
                        "kafka.connect-timeout=60s"),
                    Stream.of(assignments))
                .toList())
        .load();
  }
}
