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
 * The options of a disk tier's RocksDB, for digests as keys, which nothing orders, and large
 * values.
 *
 * <p>Native memory is {@link #CACHE_BYTES}, indexes and filters included, and up to three write
 * buffers of each column family. The write-ahead log is what makes a page outlive {@code kill -9};
 * a log of which more than the end is damaged is refused, as it may have had erasures. Digests and
 * pages do not compress, so nothing is compressed. A page's blob is never moved: RocksDB's garbage
 * collection of blobs is off, and blob files go from the oldest on as their pages do.
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

  /** Compactions begin once {@link PageDatabase} has verified the tables. */
  final ColumnFamilyOptions pages;

  /**
   * Pages have checksums of their own; RocksDB's is computed without the processor's help. The
   * tables that say where they are do not: see {@link PageDatabase}, which verifies them at start.
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
