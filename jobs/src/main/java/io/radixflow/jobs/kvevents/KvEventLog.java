package io.radixflow.jobs.kvevents;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.radixflow.client.kvevents.KvEventRecord;
import io.radixflow.client.kvevents.KvEventRecord.State;
import io.radixflow.client.kvevents.KvEventWriter;
import io.radixflow.client.kvevents.KvEventsReader;
import io.radixflow.client.kvevents.KvEventsView;
import io.radixflow.engine.EngineInfo;
import io.radixflow.protocol.record.kv.KvEvent;
import io.radixflow.protocol.record.kv.KvTier;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * Writes the content of one engine's cache to the KV event topic. All records go to one partition,
 * so that readers see them in order.
 *
 * <p>A snapshot begins an epoch. The epoch is announced, all blocks are written, blocks of the
 * topic that are not in the snapshot are removed, and the epoch is announced again as live. Only
 * one thread may use this.
 */
final class KvEventLog {

  private final Producer<byte[], byte[]> producer;
  private final String topic;
  private final int partition;
  private final String engine;
  private final EngineInfo info;
  private final Callback delivered;
  private final Map<String, Integer> inherited;
  private Map<KvTier, Set<Long>> live = noBlocks();
  private State state;
  private long epoch;
  private long sequence;

  /**
   * @param partition this engine's partition of the topic
   * @param engine its name
   * @param before the topic's records of earlier engines with this name
   * @param delivered called for each record of a block that was delivered or failed
   */
  KvEventLog(
      Producer<byte[], byte[]> producer,
      String topic,
      int partition,
      String engine,
      EngineInfo info,
      KvEventsView before,
      Callback delivered) {
    this.producer = producer;
    this.topic = topic;
    this.partition = partition;
    this.engine = engine;
    this.info = info;
    this.delivered = delivered;
    this.inherited = new HashMap<>(before.keys(engine));
    this.epoch = before.epoch(engine);
    inherited.remove(KvEventRecord.Engine.key(engine), partition);
  }

  /** Begins an epoch with this content. */
  void snapshot(List<? extends KvEvent> content) {
    epoch++;
    sequence = 0;
    announce(State.SYNCING);
    Map<KvTier, Set<Long>> before = live;
    live = noBlocks();
    for (KvEvent event : content) {
      KvEvent.Stored stored = (KvEvent.Stored) event;
      write(stored);
      before.get(stored.tier()).remove(stored.block());
      inherited.remove(key(stored), partition);
    }
    before.forEach((tier, blocks) -> blocks.forEach(block -> remove(key(tier, block), epoch)));
    inherited.forEach((key, where) -> remove(key, where, epoch - 1));
    inherited.clear();
    announce(State.LIVE);
  }

  /** Writes a change of the blocks. Has no effect before the first snapshot. */
  void apply(KvEvent change) {
    if (state != State.LIVE) {
      return;
    }
    if (change instanceof KvEvent.Stored stored) {
      write(stored);
    } else if (change instanceof KvEvent.Removed removed) {
      for (long block : removed.blocks()) {
        live.get(removed.tier()).remove(block);
        remove(key(removed.tier(), block), epoch);
      }
    } else {
      snapshot(List.of());
    }
  }

  /** Announces again that the engine is alive, if it has announced itself before. */
  void repeat() {
    if (state != null) {
      announce(state);
    }
  }

  /** Announces that the engine has ended and that its blocks are gone. */
  void end() {
    snapshot(List.of());
    announce(State.CLOSED);
  }

  /** Deletes all records of an engine that has ended. */
  void delete(String gone, KvEventsView view) {
    view.keys(gone).forEach((key, where) -> remove(key, where, view.epoch(gone)));
  }

  private void announce(State next) {
    state = next;
    KvEventRecord.Engine record =
        new KvEventRecord.Engine(
            engine, epoch, ++sequence, next, info.pageTokens(), info.numericsEpoch());
    producer.send(
        new ProducerRecord<>(
            topic,
            partition,
            KvEventRecord.Engine.key(engine).getBytes(UTF_8),
            KvEventWriter.write(record)),
        this::announced);
  }

  /** Handles the delivery of an announcement. A lost announcement counts as a lost event. */
  private void announced(RecordMetadata record, Exception error) {
    if (error != null) {
      delivered.onCompletion(record, error);
    }
  }

  private void write(KvEvent.Stored stored) {
    live.get(stored.tier()).add(stored.block());
    KvEventRecord.Block record = new KvEventRecord.Block(engine, epoch, ++sequence, stored);
    producer.send(
        new ProducerRecord<>(
            topic, partition, key(stored).getBytes(UTF_8), KvEventWriter.write(record)),
        delivered);
  }

  private void remove(String key, long voided) {
    remove(key, partition, voided);
  }

  private void remove(String key, int where, long voided) {
    sequence++;
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(topic, where, key.getBytes(UTF_8), null);
    record.headers().add(KvEventsReader.EPOCH_HEADER, Long.toString(voided).getBytes(UTF_8));
    producer.send(record, delivered);
  }

  private String key(KvEvent.Stored stored) {
    return key(stored.tier(), stored.block());
  }

  private String key(KvTier tier, long block) {
    return KvEventRecord.Block.key(engine, tier, block);
  }

  private static Map<KvTier, Set<Long>> noBlocks() {
    Map<KvTier, Set<Long>> blocks = new EnumMap<>(KvTier.class);
    for (KvTier tier : KvTier.values()) {
      blocks.put(tier, new HashSet<>());
    }
    return blocks;
  }
}
