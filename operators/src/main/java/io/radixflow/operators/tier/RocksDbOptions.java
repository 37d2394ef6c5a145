package io.radixflow.operators.tier;

import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.Cache;
import org.rocksdb.CompressionType;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RateLimiter;

/**
 * How a {@link RocksDbDirectory} is kept: small entries that are looked up by digests which nobody
 * orders, most of them present.
 *
 * <p>Memory is {@link #CACHE_BYTES}, indexes and filters included, and at most {@link
 * #WRITE_BUFFERS} write buffers. One thread flushes and one merges, no faster than {@link
 * #MERGE_BYTES_PER_SECOND}, so that a busy directory does not take the disk from the segments.
 * Digests do not compress, so nothing is compressed.
 */
final class RocksDbOptions implements AutoCloseable {
  static final long CACHE_BYTES = 32L << 20;
  static final long WRITE_BUFFER_BYTES = 8L << 20;
  static final int WRITE_BUFFERS = 3;
  static final long MERGE_BYTES_PER_SECOND = 64L << 20;

  private static final long FILE_BYTES = 32L << 20;
  private static final int FILTER_BITS = 10;
  private static final int OPEN_FILES = 256;
  private static final long LOG_BYTES = 1L << 20;

  private final Cache cache = new LRUCache(CACHE_BYTES);
  private final BloomFilter filter = new BloomFilter(FILTER_BITS, false);
  private final RateLimiter limiter = new RateLimiter(MERGE_BYTES_PER_SECOND);
  private final Options database = new Options();

  RocksDbOptions() {
    database
        .setCreateIfMissing(true)
        .setCompressionType(CompressionType.NO_COMPRESSION)
        .setWriteBufferSize(WRITE_BUFFER_BYTES)
        .setMaxWriteBufferNumber(WRITE_BUFFERS)
        .setTargetFileSizeBase(FILE_BYTES)
        .setMaxBackgroundJobs(2)
        .setRateLimiter(limiter)
        .setMaxOpenFiles(OPEN_FILES)
        .setKeepLogFileNum(2)
        .setMaxLogFileSize(LOG_BYTES)
        .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
        .setTableFormatConfig(
            new BlockBasedTableConfig()
                .setBlockCache(cache)
                .setCacheIndexAndFilterBlocks(true)
                .setPinL0FilterAndIndexBlocksInCache(true)
                .setFilterPolicy(filter));
  }

  Options database() {
    return database;
  }

  @Override
  public void close() {
    database.close();
    limiter.close();
    filter.close();
    cache.close();
  }
}
