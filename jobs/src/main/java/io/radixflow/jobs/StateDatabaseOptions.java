package io.radixflow.jobs;

import java.time.Duration;
import java.util.Collection;
import org.apache.flink.state.rocksdb.RocksDBOptionsFactory;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;

/**
 * Options of the RocksDB that holds the job's state, where Flink has no option of its own.
 *
 * <ul>
 *   <li>All states are flushed together. In the synchronous part of a checkpoint, while the
 *       operator stands still, RocksDB writes each state's memory to a file of its own. One state
 *       after the other, each with its own entry in the manifest, would wait for the disk three
 *       times as often.
 *   <li>The manifest is written anew when it is larger than {@link #MANIFEST_BYTES}. Each
 *       checkpoint adds to the manifest and uploads the whole manifest; RocksDB's own limit is 1
 *       GB.
 *   <li>A file is compacted within {@link #LONGEST_DELETED}, so that state of expired or erased
 *       sessions does not stay in files that nothing else touches.
 * </ul>
 */
public final class StateDatabaseOptions implements RocksDBOptionsFactory {
  private static final long serialVersionUID = 1L;

  static final long MANIFEST_BYTES = 1 << 20;
  static final Duration LONGEST_DELETED = Duration.ofDays(1);

  @Override
  public DBOptions createDBOptions(
      DBOptions currentOptions, Collection<AutoCloseable> handlesToClose) {
    return currentOptions.setAtomicFlush(true).setMaxManifestFileSize(MANIFEST_BYTES);
  }

  @Override
  public ColumnFamilyOptions createColumnOptions(
      ColumnFamilyOptions currentOptions, Collection<AutoCloseable> handlesToClose) {
    return currentOptions.setPeriodicCompactionSeconds(LONGEST_DELETED.toSeconds());
  }
}
