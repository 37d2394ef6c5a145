package io.radixflow.jobs;

import java.time.Duration;
import java.util.Collection;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.state.rocksdb.RocksDBConfigurableOptions;
import org.apache.flink.state.rocksdb.RocksDBOptions;
import org.apache.flink.state.rocksdb.RocksDBOptionsFactory;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.InfoLogLevel;

/**
 * Options of the RocksDB with the job's state: {@link #set} sets Flink's options, and the factory
 * sets the other options.
 *
 * <ul>
 *   <li>All states are flushed together. In the synchronous part of a checkpoint, while the
 *       operator is blocked, RocksDB writes each state's memory to a file of its own. If states
 *       were flushed one after the other, each with its own entry in the manifest, they would wait
 *       for the disk three times as often.
 *   <li>The manifest is rewritten when it is larger than {@link #MANIFEST_BYTES}. Each checkpoint
 *       adds to the manifest and uploads the whole manifest; RocksDB's own limit is 1 GB.
 *   <li>A deletion reaches the last level within {@link #LONGEST_DELETED}; there it removes the
 *       deleted state. Otherwise state of expired or erased sessions stays in files that nothing
 *       else touches. A periodic compaction moves neither the deletion nor the state.
 *   <li>RocksDB's own log has warnings and two small files. At Flink's level, the log outgrows a
 *       small state: 2.6 MB per minute, up to 100 MB.
 *   <li>Indexes are in parts: whole indexes of a large state do not fit the cache, and each look-up
 *       would read one again.
 * </ul>
 */
public final class StateDatabaseOptions implements RocksDBOptionsFactory {
  private static final long serialVersionUID = 1L;

  static final long MANIFEST_BYTES = 1 << 20;
  static final Duration LONGEST_DELETED = Duration.ofDays(1);

  private static final MemorySize LOG_BYTES = MemorySize.ofMebiBytes(1);
  private static final int LOG_FILES = 2;

  static void set(Configuration flink) {
    flink.set(RocksDBOptions.OPTIONS_FACTORY, StateDatabaseOptions.class.getName());
    flink.set(RocksDBOptions.USE_PARTITIONED_INDEX_FILTERS, true);
    flink.set(RocksDBConfigurableOptions.LOG_LEVEL, InfoLogLevel.WARN_LEVEL);
    flink.set(RocksDBConfigurableOptions.LOG_MAX_FILE_SIZE, LOG_BYTES);
    flink.set(RocksDBConfigurableOptions.LOG_FILE_NUM, LOG_FILES);
  }

  @Override
  public DBOptions createDBOptions(
      DBOptions currentOptions, Collection<AutoCloseable> handlesToClose) {
    return currentOptions.setAtomicFlush(true).setMaxManifestFileSize(MANIFEST_BYTES);
  }

  @Override
  public ColumnFamilyOptions createColumnOptions(
      ColumnFamilyOptions currentOptions, Collection<AutoCloseable> handlesToClose) {
    return currentOptions.setTtl(LONGEST_DELETED.toSeconds());
  }
}
