package io.radixflow.client.kvevents;

import io.radixflow.protocol.record.kv.KvEvent;
import io.radixflow.protocol.record.kv.KvTier;

/**
 * A record of the KV event topic. The topic is compacted: the last record of each key counts, and a
 * record without a value means that a block has left the cache.
 */
public sealed interface KvEventRecord {

  /** The name of the engine that wrote it. */
  String engine();

  /**
   * The epoch of the engine's cache. A greater epoch of the same engine voids all records of
   * smaller epochs.
   */
  long epoch();

  /** Counts the engine's records within the epoch. */
  long sequence();

  /** The state that an engine announces. */
  enum State {
    /** The engine is still writing the blocks of this epoch. */
    SYNCING,
    /** All blocks are written, and each change follows. */
    LIVE,
    /** The engine has ended normally and has no blocks. */
    CLOSED
  }

  /**
   * Announces an epoch; repeated as a sign of life.
   *
   * @param blockSize tokens per block
   * @param numericsEpoch identifies weights, tokenizer and arithmetic; blocks are interchangeable
   *     only if it is equal
   */
  record Engine(
      String engine, long epoch, long sequence, State state, int blockSize, String numericsEpoch)
      implements KvEventRecord {

    /** The key of an engine's announcements. */
    public static String key(String engine) {
      return "engine/" + engine;
    }
  }

  /** A block that is in the cache. */
  record Block(String engine, long epoch, long sequence, KvEvent.Stored stored)
      implements KvEventRecord {

    /** The key of a block's records. */
    public static String key(String engine, KvTier tier, long block) {
      return engine + "/" + KvEventWriter.medium(tier) + "/" + block;
    }
  }
}
