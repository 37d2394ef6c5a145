package io.radixflow.engine.tier.disk;

import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.Cache;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LRUCache;
import org.rocksdb.RateLimiter;
import org.rocksdb.ReadOptions;
import org.rocksdb.WALRecoveryMode;

/**
 * The options of a disk tier's RocksDB. Its keys are digests in no particular order, and its values
 * are large.
 *
 * <p>Native memory consists of {@link #CACHE_BYTES}, including indexes and filters, and up to three
 * write buffers per column family. Because of the write-ahead log, a page survives {@code kill -9}.
 * A log that is damaged elsewhere than at its end is refused, because it may have contained
 * erasures. Digests and pages do not compress, so nothing is compressed. A page's blob is never
 * moved: RocksDB's garbage collection of blobs is off, and blob files are deleted from the oldest
 * on, after their pages.
 */
final class PageDatabaseOptions implements AutoCloseable {
  static final long CACHE_BYTES = 32L << 20;

  private static final long INDEX_BUFFER_BYTES = 4L << 20;
  private static final long BACKGROUND_BYTES_PER_SECOND = 256L << 20;
  private static final long FILE_BYTES = 32L << 20;
  private static final int WRITE_BUFFERS = 3;
  private static final int FILTER_BITS = 10;
  private static final int OPEN_FILES = 512;
  private static final long LOG_BYTES = 1L << 20;
  private static final long SYNC_BYTES = 1L << 20;

  private final Cache cache = new LRUCache(CACHE_BYTES);
  private final BloomFilter filter = new BloomFilter(FILTER_BITS, false);
  private final RateLimiter limiter = new RateLimiter(BACKGROUND_BYTES_PER_SECOND);
  final DBOptions database;
  final ColumnFamilyOptions index;

  /** Compactions start after {@link PageDatabase} has verified the tables. */
  final ColumnFamilyOptions pages;

  /**
   * Pages have their own checksums, and RocksDB computes its checksums without the processor's
   * instructions for them. The tables that say where pages are have no other checksums; {@link
   * PageDatabase} verifies them at start.
   */
  final ReadOptions reads = new ReadOptions().setFillCache(false).setVerifyChecksums(false);

  PageDatabaseOptions(long writeBufferBytes) {
    database =
        new DBOptions()
            .setCreateIfMissing(true)
            .setCreateMissingColumnFamilies(true)
            .setAtomicFlush(true)
            .setWalRecoveryMode(WALRecoveryMode.TolerateCorruptedTailRecords)
            .setMaxTotalWalSize(2 * writeBufferBytes)
            .setBytesPerSync(SYNC_BYTES)
            .setMaxBackgroundJobs(2)
            .setRateLimiter(limiter)
            .setMaxOpenFiles(OPEN_FILES)
            .setMaxManifestFileSize(LOG_BYTES)
            .setKeepLogFileNum(2)
            .setMaxLogFileSize(LOG_BYTES)
            .setInfoLogLevel(InfoLogLevel.WARN_LEVEL);
    index = table(Math.min(writeBufferBytes, INDEX_BUFFER_BYTES));
    pages =
        table(writeBufferBytes)
            .setDisableAutoCompactions(true)
            .setEnableBlobFiles(true)
            .setMinBlobSize(0)
            .setBlobFileSize(2 * writeBufferBytes)
            .setEnableBlobGarbageCollection(false);
  }

  private ColumnFamilyOptions table(long writeBufferBytes) {
    return new ColumnFamilyOptions()
        .setCompressionType(CompressionType.NO_COMPRESSION)
        .setWriteBufferSize(writeBufferBytes)
        .setMaxWriteBufferNumber(WRITE_BUFFERS)
        .setTargetFileSizeBase(FILE_BYTES)
        .setTableFormatConfig(
            new BlockBasedTableConfig()
                .setBlockCache(cache)
                .setCacheIndexAndFilterBlocks(true)
                .setPinL0FilterAndIndexBlocksInCache(true)
                .setFilterPolicy(filter));
  }

  @Override
  public void close() {
    reads.close();
    database.close();
    index.close();
    pages.close();
    limiter.close();
    filter.close();
    cache.close();
  }
}
