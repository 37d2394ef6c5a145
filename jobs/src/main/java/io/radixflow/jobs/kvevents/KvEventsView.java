package io.radixflow.jobs.kvevents;

import io.radixflow.operators.record.kv.KvEvent;
import io.radixflow.operators.record.kv.KvTier;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The content of every engine's prefix cache, from the records of the KV event topic in their order
 * of each partition, from the beginning. One thread.
 *
 * <p>Exact for an engine that is {@link KvEventRecord.State#LIVE}, as of its last record that was
 * applied. For an engine that was killed it is what the engine had last published, until its
 * successor, which has the same name, announces an epoch of its own. Without a successor the caller
 * decides by {@link EngineView#lastSeen} whether the engine is gone.
 */
public final class KvEventsView {

  private static final Logger LOG = LoggerFactory.getLogger(KvEventsView.class);

  private final Map<String, Records> engines = new TreeMap<>();
  private final int maxBlocks;
  private int blocks;
  private long skipped;
  private long unreadable;

  /** One record of a block, which counts if its epoch is the engine's. */
  private record Entry(int partition, KvEventRecord.Block block, long timestamp) {}

  /** Receives blocks. */
  @FunctionalInterface
  public interface BlockVisitor {

    /**
     * @param timestamp when the engine said that it has the block, milliseconds since the epoch
     */
    void block(KvEvent.Stored block, long timestamp);
  }

  /** Creates a view of all blocks. */
  public KvEventsView() {
    this(Integer.MAX_VALUE);
  }

  /**
   * Creates a view that is bounded. It is exact until it is full.
   *
   * @param maxBlocks most blocks of all engines that it keeps; further ones are skipped
   */
  public KvEventsView(int maxBlocks) {
    this.maxBlocks = maxBlocks;
  }

  /** All that an engine's partition has of it. */
  private static final class Records {
    private final Map<String, Entry> blocks = new HashMap<>();
    private KvEventRecord.Engine announced;
    private int partition;
    private long epoch;
    private long lastSeen = Long.MIN_VALUE;
  }

  /**
   * The last announcement of an engine.
   *
   * @param last its last announcement
   * @param lastSeen time of its last record of any kind, milliseconds since the epoch
   */
  public record EngineView(KvEventRecord.Engine last, long lastSeen) {}

  /**
   * Applies the next record of a partition. One that cannot be read is counted and skipped.
   *
   * @param value null if what the key names has left
   * @param voided of a record without a value, the greatest epoch that it voids; else without
   *     meaning
   * @param timestamp of the record, milliseconds since the epoch
   */
  public void apply(int partition, String key, byte[] value, long voided, long timestamp) {
    try {
      if (value == null) {
        remove(key, voided);
      } else {
        put(partition, key, KvEventReader.read(value), timestamp);
      }
    } catch (IOException e) {
      unreadable++;
      LOG.warn("Skipping an unreadable KV event of partition {}: {}", partition, e.getMessage());
    }
  }

  private void put(int partition, String key, KvEventRecord record, long timestamp)
      throws IOException {
    Records records = engines.get(record.engine());
    if (records == null) {
      records = new Records();
    }
    if (record instanceof KvEventRecord.Block block) {
      KvEvent.Stored stored = block.stored();
      expectKey(KvEventRecord.Block.key(block.engine(), stored.tier(), stored.block()), key);
      keep(records, key, new Entry(partition, block, timestamp));
    } else if (record instanceof KvEventRecord.Engine engine) {
      expectKey(KvEventRecord.Engine.key(engine.engine()), key);
      if (records.announced == null || engine.epoch() >= records.announced.epoch()) {
        records.announced = engine;
        records.partition = partition;
      }
    }
    records.epoch = Math.max(records.epoch, record.epoch());
    records.lastSeen = Math.max(records.lastSeen, timestamp);
    engines.put(record.engine(), records);
  }

  private void keep(Records records, String key, Entry entry) {
    Entry old = records.blocks.get(key);
    if (old == null && blocks >= maxBlocks) {
      skipped++;
    } else if (old == null || entry.block.epoch() >= old.block.epoch()) {
      records.blocks.put(key, entry);
      blocks += old == null ? 1 : 0;
    }
  }

  private static void expectKey(String expected, String key) throws IOException {
    if (!expected.equals(key)) {
      throw new IOException("the key is not '" + expected + "'");
    }
  }

  private void remove(String key, long voided) {
    int first = key.indexOf('/');
    boolean block = key.indexOf('/', first + 1) > 0;
    String engine = block ? key.substring(0, first) : key.substring(first + 1);
    Records records = engines.get(engine);
    if (records == null) {
      return;
    }
    if (block) {
      Entry entry = records.blocks.get(key);
      if (entry != null && entry.block.epoch() <= voided) {
        records.blocks.remove(key);
        blocks--;
      }
    } else if (records.epoch <= voided) {
      engines.remove(engine);
      blocks -= records.blocks.size();
    }
  }

  /** The names of all engines that have announced themselves and were not deleted. */
  public Set<String> engines() {
    Set<String> names = new TreeSet<>(engines.keySet());
    names.removeIf(name -> engines.get(name).announced == null);
    return names;
  }

  /** Returns the last announcement of an engine, or null if it is unknown. */
  public EngineView engine(String name) {
    Records records = engines.get(name);
    return records == null || records.announced == null
        ? null
        : new EngineView(records.announced, records.lastSeen);
  }

  /** The blocks that an engine has in a tier, by their names. */
  public Map<Long, KvEvent.Stored> blocks(String engine, KvTier tier) {
    Map<Long, KvEvent.Stored> found = new HashMap<>();
    visitBlocks(
        engine,
        (stored, timestamp) -> {
          if (stored.tier() == tier) {
            found.put(stored.block(), stored);
          }
        });
    return found;
  }

  /** Visits the blocks that an engine has, in no order; a block once for each tier that has it. */
  public void visitBlocks(String engine, BlockVisitor visitor) {
    Records records = engines.get(engine);
    if (records != null) {
      for (Entry entry : records.blocks.values()) {
        if (entry.block.epoch() == records.epoch) {
          visitor.block(entry.block.stored(), entry.timestamp);
        }
      }
    }
  }

  /** Records of blocks that were skipped because the view was full; 0 if it has all. */
  public long skipped() {
    return skipped;
  }

  /** Records that could not be read. */
  public long unreadable() {
    return unreadable;
  }

  /** The greatest epoch of an engine in any record, 0 if there is none. */
  long epoch(String engine) {
    Records records = engines.get(engine);
    return records == null ? 0 : records.epoch;
  }

  /** All keys of an engine that the topic has, void ones too, with the partition of each. */
  Map<String, Integer> keys(String engine) {
    Map<String, Integer> keys = new HashMap<>();
    Records records = engines.get(engine);
    if (records != null) {
      records.blocks.forEach((key, entry) -> keys.put(key, entry.partition));
      if (records.announced != null) {
        keys.put(KvEventRecord.Engine.key(engine), records.partition);
      }
    }
    return keys;
  }

  /** Engines of which nothing was seen since a time, milliseconds since the epoch. */
  Set<String> silentSince(long time) {
    Set<String> names = new TreeSet<>(engines.keySet());
    names.removeIf(name -> engines.get(name).lastSeen >= time);
    return names;
  }
}
