package io.radixflow.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.client.kafka.KafkaClient;
import io.radixflow.client.kafka.KafkaSetupException;
import io.radixflow.jobs.kafka.replies.ReplyTopic;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Holds the table of docs/kafka.md against what the clients are given. */
class KafkaClientTest {
  private static final Path PAGE = Path.of("../docs/kafka.md");
  private static final Pattern VALUE = Pattern.compile("(\\*\\*)?`([a-z.]+)=([^`]*)`");

  /** A setting of the table. */
  private record Value(String key, String value, boolean fixed) {}

  @ParameterizedTest
  @EnumSource
  void eachClientIsGivenWhatThePageSays(KafkaClient client) throws IOException {
    Map<String, String> documented = new TreeMap<>();
    documented(client).forEach(each -> documented.put(each.key(), each.value()));
    assertThat(given(client, settings())).isEqualTo(documented);
  }

  @ParameterizedTest
  @EnumSource
  void givenOptionsChangeWhatThePageDoesNotCallFixed(KafkaClient client) throws IOException {
    Map<String, Boolean> fixed = new TreeMap<>();
    documented(client).forEach(each -> fixed.put(each.key(), each.fixed()));
    Settings changed =
        settings(
            fixed.keySet().stream()
                .map(key -> Settings.KAFKA_CLIENT_PREFIX + key + "=7")
                .toArray(String[]::new));
    Map<String, String> given = given(client, changed);
    fixed.forEach((key, isFixed) -> assertThat(given.get(key).equals("7")).isEqualTo(!isFixed));
  }

  @Test
  void anOptionThatWouldHaveNoEffectIsRefused() {
    KafkaClient.check(settings("kafka.client.isolation.level=read_committed"));
    assertThatExceptionOfType(KafkaSetupException.class)
        .isThrownBy(
            () -> KafkaClient.check(settings("kafka.client.isolation.level=read_uncommitted")))
        .withMessageContaining("works only with read_committed: leave it out");
    assertThatExceptionOfType(KafkaSetupException.class)
        .isThrownBy(() -> KafkaClient.check(settings("kafka.client.acks=1")))
        .withMessageContaining("kafka.client.acks is 1");
  }

  private static Map<String, String> given(KafkaClient client, Settings settings) {
    Map<String, String> given = new TreeMap<>();
    client.properties(settings).forEach((key, value) -> given.put((String) key, (String) value));
    assertThat(given.remove("bootstrap.servers")).isEqualTo("localhost:9092");
    return given;
  }

  /** Returns the values of a client; the values of its role and of all clients come first. */
  private static List<Value> documented(KafkaClient client) throws IOException {
    Properties given = client.properties(settings());
    String role =
        given.containsKey("isolation.level")
            ? "| every consumer |"
            : given.containsKey("acks") ? "| every producer |" : null;
    List<Value> values = new ArrayList<>(row("| every client |"));
    if (role != null) {
      values.addAll(row(role));
    }
    values.addAll(row("| `" + client + "`:"));
    return values;
  }

  private static List<Value> row(String begin) throws IOException {
    List<String> rows =
        Files.readAllLines(PAGE).stream().filter(line -> line.startsWith(begin)).toList();
    assertThat(rows).as(begin).hasSize(1);
    List<Value> values = new ArrayList<>();
    for (Matcher each = VALUE.matcher(rows.get(0)); each.find(); ) {
      values.add(new Value(each.group(2), each.group(3), each.group(1) != null));
    }
    return values;
  }

  @Test
  void flinksSourcesAndSinksHaveTheSame() throws Exception {
    KafkaEndpoints endpoints = new KafkaEndpoints(settings());
    assertThat(ofSource(endpoints.events()))
        .containsAllEntriesOf(given(KafkaClient.EVENTS, settings()));
    assertThat(ofSink(endpoints.deltas()))
        .containsAllEntriesOf(given(KafkaClient.DELTAS, settings()));
    assertThat(ofSink(endpoints.deadLetters()))
        .containsAllEntriesOf(given(KafkaClient.DEAD_LETTERS, settings()));
    Object replies = new ReplyTopic(settings()).sink();
    Field kafka = replies.getClass().getDeclaredField("kafka");
    kafka.setAccessible(true);
    assertThat(ofSink(kafka.get(replies)))
        .containsAllEntriesOf(given(KafkaClient.REPLIES, settings()));
  }

  private static Map<String, String> ofSource(Object source) throws Exception {
    Field kafka = TopicSource.class.getDeclaredField("kafka");
    kafka.setAccessible(true);
    Method configuration = KafkaSource.class.getDeclaredMethod("getConfiguration");
    configuration.setAccessible(true);
    return ((Configuration) configuration.invoke(kafka.get(source))).toMap();
  }

  private static Map<String, String> ofSink(Object sink) throws Exception {
    Method properties = KafkaSink.class.getDeclaredMethod("getKafkaProducerConfig");
    properties.setAccessible(true);
    Map<String, String> given = new TreeMap<>();
    ((Properties) properties.invoke(sink))
        .forEach((key, value) -> given.put((String) key, String.valueOf(value)));
    return given;
  }

  private static Settings settings(String... assignments) {
    return new SettingsLoader().set(List.of(assignments)).load();
  }
}
