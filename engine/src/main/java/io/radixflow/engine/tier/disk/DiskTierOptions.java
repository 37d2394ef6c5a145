package io.radixflow.engine.tier.disk;

import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.protocol.PublicApi;
import java.io.Serializable;
import java.time.Duration;

/**
 * The disk tier below an engine's host memory, as a job configures it.
 *
 * @param limitBytes maximum number of bytes of the tier's files; 0 for no disk tier
 * @param directory holds the directories of engines, {@link DiskDirectory}; null for the
 *     TaskManager's working directory
 * @param minFreeBytes bytes that the tier leaves free on the file system, even below its limit
 * @param retentionMillis how long a page stays after its last write
 * @param tenants distinguishes tenants in the store; null if there is no disk tier
 */
@PublicApi
public record DiskTierOptions(
    long limitBytes,
    String directory,
    long minFreeBytes,
    long retentionMillis,
    NamespaceKey tenants)
    implements Serializable {

  /** The smallest limit of a tier, for any page size. */
  public static final long MIN_BYTES = 4L << 20;

  /** The default of {@link #retentionMillis}. */
  public static final Duration DEFAULT_RETENTION = Duration.ofDays(7);

  public static final DiskTierOptions NONE = of(0);

  /** A tier must have space for at least this many pages. */
  private static final int MIN_PAGES = 16;

  public DiskTierOptions {
    if (limitBytes != 0 && limitBytes < MIN_BYTES) {
      throw new IllegalArgumentException(
          "a disk tier of " + limitBytes + " bytes is too small: it needs " + MIN_BYTES);
    }
    if (minFreeBytes < 0 || retentionMillis < 1) {
      throw new IllegalArgumentException(
          "a disk tier keeps pages for "
              + retentionMillis
              + " ms, "
              + minFreeBytes
              + " bytes free");
    }
  }

  /** Returns options with no free-space reserve and the default retention. */
  public static DiskTierOptions of(long limitBytes, String directory, NamespaceKey tenants) {
    return new DiskTierOptions(limitBytes, directory, 0, DEFAULT_RETENTION.toMillis(), tenants);
  }

  /**
   * Returns options without a directory and without a key; see {@link #of(long, String,
   * NamespaceKey)}.
   */
  public static DiskTierOptions of(long limitBytes) {
    return of(limitBytes, null, null);
  }

  /** Returns the smallest limit of a tier with pages of this size. */
  public static long leastBytes(int pageBytes) {
    return Math.max(MIN_BYTES, MIN_PAGES * (pageBytes + DiskStore.OVERHEAD_BYTES));
  }

  /** Returns whether there is a disk tier. */
  public boolean enabled() {
    return limitBytes > 0;
  }

  /** Returns these options with another limit. */
  public DiskTierOptions withLimitBytes(long value) {
    return new DiskTierOptions(value, directory, minFreeBytes, retentionMillis, tenants);
  }
}
