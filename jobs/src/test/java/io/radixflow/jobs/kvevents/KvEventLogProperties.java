package io.radixflow.jobs.kvevents;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.client.kvevents.KvEventRecord;
import io.radixflow.client.kvevents.KvEventsReader;
import io.radixflow.client.kvevents.KvEventsView;
import io.radixflow.engine.EngineInfo;
import io.radixflow.protocol.record.kv.KvEvent;
import io.radixflow.protocol.record.kv.KvTier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * What a log of engines that come, go and die tells late readers, however it was compacted and in
 * whatever order its partitions are read.
 */
class KvEventLogProperties {
  private static final String ENGINE = "host-0";
  private static final int BLOCKS = 6;

  /** One step of a random run, and the block it concerns. */
  record Step(Kind kind, int block) {}

  enum Kind {
    STORE,
    REMOVE,
    CLEAR,
    RESYNC,
    /** The process ends between two records of a snapshot or change. */
    KILL,
    /** Kills the engine, and changes the number of partitions. */
    KILL_AND_MOVE,
    END
  }

  /** The engine's cache, the log, and what came of it. */
  private static final class World {
    final List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
    final Set<Long> cache = new HashSet<>();
    MockProducer<byte[], byte[]> producer;
    KvEventLog log;
    int partition;

    World() {
      start();
    }

    void start() {
      cache.clear();
      producer =
          new MockProducer<>(true, null, new ByteArraySerializer(), new ByteArraySerializer());
      log =
          new KvEventLog(
              producer,
              "topic",
              partition,
              ENGINE,
              new EngineInfo(null, "", 0, 0, 16, "numerics"),
              read(List.of(0, 1)),
              (record, error) -> {});
      log.snapshot(List.of());
      flush(Integer.MAX_VALUE);
    }

    /** Moves a bounded number of the written records to the topic. */
    void flush(int most) {
      List<ProducerRecord<byte[], byte[]>> written = producer.history();
      records.addAll(written.subList(0, Math.min(most, written.size())));
      producer.clear();
    }

    void apply(Step step) {
      long block = step.block;
      switch (step.kind) {
        case STORE -> {
          if (cache.add(block)) {
            log.apply(stored(block));
          }
        }
        case REMOVE -> {
          if (cache.remove(block)) {
            log.apply(new KvEvent.Removed(KvTier.DEVICE, new long[] {block}));
          }
        }
        case CLEAR -> {
          cache.clear();
          log.apply(new KvEvent.Cleared());
        }
        case RESYNC -> {
          cache.add(block);
          log.snapshot(cache.stream().map(KvEventLogProperties::stored).toList());
        }
        case KILL, KILL_AND_MOVE -> {
          log.snapshot(cache.stream().map(KvEventLogProperties::stored).toList());
          flush(step.block);
          partition = step.kind == Kind.KILL ? partition : 1 - partition;
          start();
        }
        case END -> {
          log.end();
          flush(Integer.MAX_VALUE);
          start();
        }
      }
      flush(Integer.MAX_VALUE);
    }

    public KvEventsView read(List<Integer> partitions) {
      KvEventsView view = new KvEventsView();
      for (int each : partitions) {
        for (ProducerRecord<byte[], byte[]> record : records) {
          if (record.partition() == each) {
            Header header = record.headers().lastHeader(KvEventsReader.EPOCH_HEADER);
            view.apply(
                each,
                new String(record.key(), UTF_8),
                record.value(),
                header == null ? 0 : Long.parseLong(new String(header.value(), UTF_8)),
                0);
          }
        }
      }
      return view;
    }

    /** Drops some of the records that are not the last of their key in their partition. */
    void compact(Random random) {
      Map<String, ProducerRecord<byte[], byte[]>> last = new HashMap<>();
      records.forEach(record -> last.put(place(record), record));
      records.removeIf(record -> last.get(place(record)) != record && random.nextBoolean());
    }

    private static String place(ProducerRecord<byte[], byte[]> record) {
      return record.partition() + " " + new String(record.key(), UTF_8);
    }
  }

  private static KvEvent.Stored stored(long block) {
    return new KvEvent.Stored(KvTier.DEVICE, "", block, null, 16, null);
  }

  @Property(tries = 1000)
  void aLateReaderHasTheExactContent(
      @ForAll("steps") List<Step> steps, @ForAll Random random, @ForAll boolean backwards) {
    World world = new World();
    List<Integer> order = new ArrayList<>(List.of(0, 1));
    if (backwards) {
      Collections.reverse(order);
    }
    for (Step step : steps) {
      world.apply(step);
      if (random.nextInt(4) == 0) {
        world.compact(random);
      }
      KvEventsView view = world.read(order);
      assertThat(view.unreadable()).isZero();
      assertThat(view.engines()).containsExactly(ENGINE);
      assertThat(view.engine(ENGINE).last().state()).isEqualTo(KvEventRecord.State.LIVE);
      assertThat(view.blocks(ENGINE, KvTier.DEVICE).keySet()).isEqualTo(world.cache);
    }
  }

  @Provide
  Arbitrary<List<Step>> steps() {
    return Combinators.combine(
            Arbitraries.frequency(
                Tuple.of(8, Kind.STORE),
                Tuple.of(4, Kind.REMOVE),
                Tuple.of(1, Kind.CLEAR),
                Tuple.of(1, Kind.RESYNC),
                Tuple.of(2, Kind.KILL),
                Tuple.of(1, Kind.KILL_AND_MOVE),
                Tuple.of(1, Kind.END)),
            Arbitraries.integers().between(0, BLOCKS - 1))
        .as(Step::new)
        .list()
        .ofMaxSize(40);
  }
}
