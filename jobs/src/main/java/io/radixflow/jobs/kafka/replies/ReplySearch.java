package io.radixflow.jobs.kafka.replies;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.radixflow.client.kafka.KafkaClient;
import io.radixflow.operators.flink.recovery.LostReplies;
import io.radixflow.protocol.topic.RecordReader;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the topic of replies on its own thread, from shortly before the wanted replies were written
 * to its current end.
 *
 * <p>It first reads the committed replies. A consumer reaches the end only after every earlier
 * transaction was committed or aborted, so a reply that it has not found by then never comes. For
 * the missing replies it then reads all written records. A missing reply that was written was
 * aborted. A missing reply that is not among the records may have been deleted by the topic's
 * retention, and does not count as lost.
 */
final class ReplySearch implements LostReplies.Search {
  private static final Logger LOG = LoggerFactory.getLogger(ReplySearch.class);
  private static final Duration POLL = Duration.ofSeconds(1);

  /** Tolerance for clocks: a record's time is the producer's or the broker's. */
  private static final long CLOCKS_MILLIS = TimeUnit.MINUTES.toMillis(10);

  private static final long RETRY_SECONDS = 10;
  private static final long CLOSE_MILLIS = 10_000;

  private final ReplyTopic topic;
  private final Set<LostReplies.Id> wanted;
  private final Set<String> sessions;
  private final long since;
  private final CompletableFuture<Set<LostReplies.Id>> lost = new CompletableFuture<>();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread thread = new Thread(this::run, "search for lost replies");

  /** The consumer in use by the thread, or null; guarded by this. */
  private KafkaConsumer<byte[], byte[]> consumer;

  private record Range(Map<TopicPartition, Long> starts, Map<TopicPartition, Long> ends) {}

  private ReplySearch(ReplyTopic topic, Set<LostReplies.Id> wanted, long since) {
    this.topic = topic;
    this.wanted = wanted;
    this.sessions = wanted.stream().map(LostReplies.Id::session).collect(Collectors.toSet());
    this.since = since;
  }

  static ReplySearch start(ReplyTopic topic, Set<LostReplies.Id> wanted, long since) {
    ReplySearch search = new ReplySearch(topic, wanted, since);
    search.thread.setDaemon(true);
    search.thread.start();
    return search;
  }

  @Override
  public CompletableFuture<Set<LostReplies.Id>> lost() {
    return lost;
  }

  private void run() {
    try {
      do {
        try {
          lost.complete(search());
          return;
        } catch (WakeupException | InterruptException e) {
          LOG.debug("closed", e);
        } catch (KafkaException e) {
          LOG.warn(
              "Cannot read topic {} to see whether {} replies were committed; retrying",
              topic.name(),
              wanted.size(),
              e);
        }
      } while (!closed.await(RETRY_SECONDS, TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      lost.completeExceptionally(e);
    }
  }

  private Set<LostReplies.Id> search() {
    Range range = with(KafkaClient.WRITTEN_REPLIES, this::range);
    Set<LostReplies.Id> missing =
        with(KafkaClient.COMMITTED_REPLIES, reader -> unmet(reader, range, wanted));
    if (missing.isEmpty()) {
      LOG.info("All {} replies that were looked for are committed", wanted.size());
      return Set.of();
    }
    Set<LostReplies.Id> unknown =
        with(KafkaClient.WRITTEN_REPLIES, reader -> unmet(reader, range, missing));
    missing.removeAll(unknown);
    if (!missing.isEmpty()) {
      LOG.warn(
          "{} replies were lost and are written again: their transactions were aborted before they"
              + " were committed. If job or brokers may be away for longer, raise"
              + " transaction.max.timeout.ms on the brokers, then kafka.transaction-timeout",
          missing.size());
    }
    if (!unknown.isEmpty()) {
      LOG.warn(
          "It is unknown whether {} replies were committed, because topic {} no longer has them;"
              + " a query of their sessions, such as {}, returns them",
          unknown.size(),
          topic.name(),
          unknown.iterator().next());
    }
    return missing;
  }

  /** Returns the offsets to read; the ends include uncommitted records. */
  private Range range(KafkaConsumer<byte[], byte[]> reader) {
    List<TopicPartition> partitions =
        reader.partitionsFor(topic.name()).stream()
            .map(info -> new TopicPartition(info.topic(), info.partition()))
            .toList();
    Map<TopicPartition, Long> ends = reader.endOffsets(partitions);
    Map<TopicPartition, Long> times =
        partitions.stream()
            .collect(Collectors.toMap(Function.identity(), p -> since - CLOCKS_MILLIS));
    Map<TopicPartition, Long> starts = new HashMap<>();
    for (Map.Entry<TopicPartition, OffsetAndTimestamp> each :
        reader.offsetsForTimes(times).entrySet()) {
      TopicPartition partition = each.getKey();
      if (each.getValue() != null && each.getValue().offset() < ends.get(partition)) {
        starts.put(partition, each.getValue().offset());
      }
    }
    return new Range(starts, ends);
  }

  /** Returns the replies that are not in the range. */
  private Set<LostReplies.Id> unmet(
      KafkaConsumer<byte[], byte[]> reader, Range range, Set<LostReplies.Id> replies) {
    Set<LostReplies.Id> missing = new HashSet<>(replies);
    reader.assign(range.starts().keySet());
    range.starts().forEach(reader::seek);
    while (!missing.isEmpty()
        && range.starts().keySet().stream()
            .anyMatch(p -> reader.position(p) < range.ends().get(p))) {
      for (ConsumerRecord<byte[], byte[]> record : reader.poll(POLL)) {
        String session = record.key() == null ? null : new String(record.key(), UTF_8);
        if (sessions.contains(session)) {
          missing.remove(new LostReplies.Id(session, turn(record)));
        }
      }
    }
    return missing;
  }

  /** Returns the turn of a record, or null. */
  private static String turn(ConsumerRecord<byte[], byte[]> record) {
    try {
      return RecordReader.reply(record.value()).turn();
    } catch (IOException e) {
      LOG.debug("no reply at {}-{}@{}", record.topic(), record.partition(), record.offset(), e);
      return null;
    }
  }

  private <T> T with(KafkaClient client, Function<KafkaConsumer<byte[], byte[]>, T> use) {
    try (KafkaConsumer<byte[], byte[]> reader = client.consumer(topic.settings())) {
      begin(reader);
      try {
        return use.apply(reader);
      } finally {
        begin(null);
      }
    }
  }

  private synchronized void begin(KafkaConsumer<byte[], byte[]> reader) {
    if (reader != null && closed.getCount() == 0) {
      throw new WakeupException();
    }
    consumer = reader;
  }

  @Override
  public void close() {
    closed.countDown();
    synchronized (this) {
      if (consumer != null) {
        consumer.wakeup();
      }
    }
    try {
      thread.join(CLOSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
