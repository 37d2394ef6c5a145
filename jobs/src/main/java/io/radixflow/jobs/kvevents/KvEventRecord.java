package io.radixflow.jobs.kvevents;

import io.radixflow.operators.record.kv.KvEvent;
import io.radixflow.operators.record.kv.KvTier;

/**
 * A record of the KV event topic. The topic is compacted: of each key the last record counts, and a
 * block that has left is a record without a value.
 */
public sealed interface KvEventRecord {

  /** The name of the engine that wrote it. */
  String engine();

  /**
   * Which content of the engine's cache it belongs to. A greater epoch of the same engine voids all
   * records of the lesser ones.
   */
  long epoch();

  /** Counts the engine's records within the epoch. */
  long sequence();

  /** The state that an engine announces. */
  enum State {
    /** The blocks of this epoch are still being written. */
    SYNCING,
    /** All blocks are written, and each change follows. */
    LIVE,
    /** The engine has ended in order; it has no blocks. */
    CLOSED
  }

  /**
   * Announces an epoch; repeated as a sign of life.
   *
   * @param blockSize tokens per block
   * @param numericsEpoch of weights, tokenizer and arithmetic: equal where blocks are alike
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
