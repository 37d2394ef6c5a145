package io.radixflow.cli.cluster;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.client.config.KafkaConfig;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Sends turns to the job's topic and collects the replies that are committed. */
final class Conversations implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final Duration POLL = Duration.ofMillis(200);

  private final ObjectMapper json = new ObjectMapper();
  private final KafkaProducer<String, byte[]> producer;
  private final KafkaConsumer<byte[], byte[]> consumer;
  private final List<JsonNode> replies = new ArrayList<>();

  private final String eventsTopic;

  /** Connects to a broker on which the job's topics exist. */
  Conversations(String bootstrapServers) {
    this(
        bootstrapServers,
        KafkaConfig.EVENTS_TOPIC.defaultValue(),
        KafkaConfig.REPLIES_TOPIC.defaultValue());
  }

  /** Connects to a job with other topics. */
  Conversations(String bootstrapServers, String eventsTopic, String repliesTopic) {
    this.eventsTopic = eventsTopic;
    producer =
        new KafkaProducer<>(
            Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers),
            new StringSerializer(),
            new ByteArraySerializer());
    consumer =
        new KafkaConsumer<>(
            Map.of(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
                bootstrapServers,
                ConsumerConfig.ISOLATION_LEVEL_CONFIG,
                "read_committed",
                ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
                "earliest",
                ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
                false),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer());
    List<PartitionInfo> partitions = consumer.partitionsFor(repliesTopic);
    consumer.assign(
        partitions.stream().map(p -> new TopicPartition(p.topic(), p.partition())).toList());
  }

  /** Sends a user's message. */
  void say(String session, String turn, String text, int maxTokens) throws IOException {
    ObjectNode event = json.createObjectNode();
    event.put("type", "message").put("session", session).put("turn", turn);
    event.put("max_tokens", maxTokens).put("temperature", 0);
    event.putArray("messages").addObject().put("role", "user").put("content", text);
    producer.send(new ProducerRecord<>(eventsTopic, session, json.writeValueAsBytes(event)));
    producer.flush();
  }

  /** Waits until at least {@code count} replies were committed since the beginning. */
  void awaitReplies(int count) {
    await(count + " replies").atMost(PATIENCE).until(() -> poll() >= count);
  }

  /** All committed replies so far, in the order of their topic within a session. */
  List<JsonNode> replies() throws IOException {
    poll();
    return List.copyOf(replies);
  }

  /** The replies so far as {@code session/turn}. */
  List<String> answered() throws IOException {
    return replies().stream()
        .map(reply -> reply.path("session").asText() + "/" + reply.path("turn").asText())
        .collect(Collectors.toList());
  }

  @Override
  public void close() {
    producer.close(Duration.ZERO);
    consumer.close();
  }

  private int poll() throws IOException {
    for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
      replies.add(json.readTree(record.value()));
    }
    return replies.size();
  }
}
