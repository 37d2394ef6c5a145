package io.radixflow.operators.tier.disk;

import io.radixflow.operators.PublicApi;
import java.io.Serializable;
import java.time.Duration;

/**
 * How a disk tier is kept. Immutable.
 *
 * @param directory of its files, of this engine alone; made if need be
 * @param limitBytes what all files together may have
 * @param minFreeBytes what is left free on the file system for others
 * @param retentionMillis how long after it was last written or read a page is deleted
 * @param readers threads that one read may use, the caller's included
 */
@PublicApi
public record DiskStoreOptions(
    String directory, long limitBytes, long minFreeBytes, long retentionMillis, int readers)
    implements Serializable {

  /** What a tier of small pages must be allowed at least. */
  public static final long MIN_BYTES = 4L << 20;

  /** How many pages a tier must have room for at least. */
  private static final int MIN_PAGES = 16;

  private static final int DEFAULT_READERS = 4;
  private static final Duration DEFAULT_RETENTION = Duration.ofDays(7);

  public DiskStoreOptions {
    if (limitBytes < MIN_BYTES) {
      throw new IllegalArgumentException(
          "a disk tier of " + limitBytes + " bytes is too small: it needs " + MIN_BYTES);
    }
    if (minFreeBytes < 0 || retentionMillis < 1 || readers < 1) {
      throw new IllegalArgumentException(
          "free bytes %d, retention %d ms, readers %d"
              .formatted(minFreeBytes, retentionMillis, readers));
    }
  }

  /**
   * Options with the defaults for all but the place and the size: nothing kept free; seven days;
   * four readers.
   */
  public static DiskStoreOptions of(String directory, long limitBytes) {
    return new DiskStoreOptions(
        directory, limitBytes, 0, DEFAULT_RETENTION.toMillis(), DEFAULT_READERS);
  }

  /** Returns the fewest bytes that a tier of such pages must be allowed. */
  public static long leastBytes(int pageBytes) {
    return Math.max(MIN_BYTES, MIN_PAGES * (pageBytes + DiskStore.OVERHEAD_BYTES));
  }

  /** These options with other room left for others. */
  public DiskStoreOptions withMinFreeBytes(long value) {
    return new DiskStoreOptions(directory, limitBytes, value, retentionMillis, readers);
  }

  /** These options with another time that pages are kept. */
  public DiskStoreOptions withRetentionMillis(long value) {
    return new DiskStoreOptions(directory, limitBytes, minFreeBytes, value, readers);
  }
}
