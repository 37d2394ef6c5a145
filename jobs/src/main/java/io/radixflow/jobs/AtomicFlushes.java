package io.radixflow.jobs;

import java.util.Collection;
import org.apache.flink.state.rocksdb.RocksDBOptionsFactory;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;

/**
 * Has RocksDB flush the job's states together. In the synchronous part of a checkpoint, while the
 * operator stands still, RocksDB writes what each state has in memory to a file of its own; one
 * state after the other, each with its own entry in the manifest, waits for the disk three times as
 * often.
 */
public final class AtomicFlushes implements RocksDBOptionsFactory {
  private static final long serialVersionUID = 1L;

  @Override
  public DBOptions createDBOptions(
      DBOptions currentOptions, Collection<AutoCloseable> handlesToClose) {
    return currentOptions.setAtomicFlush(true);
  }

  @Override
  public ColumnFamilyOptions createColumnOptions(
      ColumnFamilyOptions currentOptions, Collection<AutoCloseable> handlesToClose) {
    return currentOptions;
  }
}
