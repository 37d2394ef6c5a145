package io.radixflow.operators.tier;

import java.io.Serializable;

/**
 * How a disk tier is kept. Immutable.
 *
 * @param directory of the segments, of this engine alone; made if need be
 * @param limitBytes what all files together may have
 * @param segmentBytes about how large a segment file grows; at most a quarter of the limit
 * @param minFreeBytes what is left free on the file system for others
 * @param readers threads that one read may use, the caller's included
 * @param keyFile file with the master key that pages are encrypted under; null for none. See {@link
 *     TenantKeys}
 */
public record DiskStoreOptions(
    String directory,
    long limitBytes,
    long segmentBytes,
    long minFreeBytes,
    int readers,
    String keyFile)
    implements Serializable {

  /** A segment has at least this many bytes. */
  public static final long MIN_SEGMENT_BYTES = 4 << 10;

  /** A segment has at most this many bytes: places in it are counted by integers. */
  public static final long MAX_SEGMENT_BYTES = 1L << 30;

  private static final long DEFAULT_SEGMENT_BYTES = 64L << 20;
  private static final int DEFAULT_SEGMENTS = 256;
  private static final int MIN_SEGMENTS = 4;
  private static final int DEFAULT_READERS = 4;

  public DiskStoreOptions {
    if (segmentBytes < MIN_SEGMENT_BYTES || segmentBytes > MAX_SEGMENT_BYTES) {
      throw new IllegalArgumentException(
          "segments of "
              + segmentBytes
              + " bytes, must be "
              + MIN_SEGMENT_BYTES
              + " to "
              + MAX_SEGMENT_BYTES);
    }
    if (limitBytes / MIN_SEGMENTS < segmentBytes) {
      throw new IllegalArgumentException(
          "a disk tier of "
              + limitBytes
              + " bytes is too small: it needs "
              + MIN_SEGMENTS * segmentBytes
              + ", for four files of "
              + segmentBytes);
    }
    if (minFreeBytes < 0 || readers < 1) {
      throw new IllegalArgumentException("free bytes " + minFreeBytes + ", readers " + readers);
    }
  }

  /**
   * Options with the defaults for all but the place and the size: segments of 64 MiB, or so many
   * bytes that there are 256 of them; nothing kept free; four readers; no encryption.
   */
  public static DiskStoreOptions of(String directory, long limitBytes) {
    long segment = Math.max(DEFAULT_SEGMENT_BYTES, limitBytes / DEFAULT_SEGMENTS);
    long bounded = Math.min(Math.min(segment, MAX_SEGMENT_BYTES), limitBytes / MIN_SEGMENTS);
    return new DiskStoreOptions(directory, limitBytes, bounded, 0, DEFAULT_READERS, null);
  }

  /** These options with another size. */
  public DiskStoreOptions withLimitBytes(long value) {
    return new DiskStoreOptions(
        directory,
        value,
        Math.min(segmentBytes, value / MIN_SEGMENTS),
        minFreeBytes,
        readers,
        keyFile);
  }

  /** These options with another size of segments. */
  public DiskStoreOptions withSegmentBytes(long value) {
    return new DiskStoreOptions(directory, limitBytes, value, minFreeBytes, readers, keyFile);
  }

  /** These options with other room left for others. */
  public DiskStoreOptions withMinFreeBytes(long value) {
    return new DiskStoreOptions(directory, limitBytes, segmentBytes, value, readers, keyFile);
  }

  /** These options with pages encrypted under the master key in a file, or not. */
  public DiskStoreOptions withKeyFile(String value) {
    return new DiskStoreOptions(directory, limitBytes, segmentBytes, minFreeBytes, readers, value);
  }
}
