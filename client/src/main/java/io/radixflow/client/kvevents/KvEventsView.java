package io.radixflow.client.kvevents;

import io.radixflow.protocol.record.kv.KvEvent;
import io.radixflow.protocol.record.kv.KvTier;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The content of every engine's prefix cache. It is built from all records of the KV event topic,
 * in order within each partition. Only one thread may use this.
 *
 * <p>The view of a {@link KvEventRecord.State#LIVE} engine is exact as of the last applied record.
 * The view of a killed engine is its last published content, until a successor with the same name
 * announces its own epoch. Without a successor the caller decides by {@link EngineView#lastSeen}
 * whether the engine has ended.
 */
public final class KvEventsView {

  private static final Logger LOG = LoggerFactory.getLogger(KvEventsView.class);

  private final Map<String, Records> engines = new TreeMap<>();
  private final int maxBlocks;
  private int blocks;
  private long skipped;
  private long unreadable;

  /** A record of a block. It counts if its epoch is the engine's current epoch. */
  private record Entry(int partition, KvEventRecord.Block block, long timestamp) {}

  /** Receives blocks. */
  @FunctionalInterface
  public interface BlockVisitor {

    /**
     * @param timestamp when the engine published the block, in milliseconds since the epoch
     */
    void block(KvEvent.Stored block, long timestamp);
  }

  /** Creates a view of all blocks. */
  public KvEventsView() {
    this(Integer.MAX_VALUE);
  }

  /**
   * Creates a bounded view. It is exact until it is full.
   *
   * @param maxBlocks the most blocks of all engines together; further blocks are skipped
   */
  public KvEventsView(int maxBlocks) {
    this.maxBlocks = maxBlocks;
  }

  /** All records of an engine. */
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
   * Applies the next record of a partition. An unreadable record is counted and skipped.
   *
   * @param value the value; null if the block of the key has left the cache
   * @param voided for a record without a value, the greatest epoch that it voids; else ignored
   * @param timestamp timestamp of the record, in milliseconds since the epoch
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

  /** Returns an engine's blocks in a tier, by name. */
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

  /**
   * Visits an engine's blocks in no particular order. A block is visited once for each tier that
   * has it.
   */
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

  /** Returns the number of skipped records of blocks; 0 if the view has never been full. */
  public long skipped() {
    return skipped;
  }

  /** Returns the number of unreadable records. */
  public long unreadable() {
    return unreadable;
  }

  /** The greatest epoch of an engine in any record, 0 if there is none. */
  public long epoch(String engine) {
    Records records = engines.get(engine);
    return records == null ? 0 : records.epoch;
  }

  /**
   * Returns all keys of an engine in the topic, including voided keys, with the partition of each.
   */
  public Map<String, Integer> keys(String engine) {
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

  /** Returns engines without any record since a time, in milliseconds since the epoch. */
  public Set<String> silentSince(long time) {
    Set<String> names = new TreeSet<>(engines.keySet());
    names.removeIf(name -> engines.get(name).lastSeen >= time);
    return names;
  }
}
