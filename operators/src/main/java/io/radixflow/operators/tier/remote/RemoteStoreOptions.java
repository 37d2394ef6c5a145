package io.radixflow.operators.tier.remote;

import io.radixflow.operators.PublicApi;
import java.io.Serializable;

/**
 * How a remote tier is kept. Immutable; change one setting with a {@code with} method.
 *
 * @param uri of the folder of all engines that share it
 * @param transfers how many objects are read or looked up at a time, and how many written
 * @param timeoutMillis how long an operation may take
 * @param bytesPerSecond how much an engine writes; 0 for no limit
 * @param limitBytes what the pages of all engines may take; 0 for no limit
 * @param retentionMillis how long after its upload a page is deleted; 0 for never
 * @param knownPages of how many pages it is remembered that they are there
 * @param knownMillis for how long; -1 for ever
 */
@PublicApi
public record RemoteStoreOptions(
    String uri,
    int transfers,
    long timeoutMillis,
    long bytesPerSecond,
    long limitBytes,
    long retentionMillis,
    int knownPages,
    long knownMillis)
    implements Serializable {
  private static final int DEFAULT_TRANSFERS = 8;
  private static final long DEFAULT_TIMEOUT_MILLIS = 5_000;
  private static final int DEFAULT_KNOWN = 100_000;
  private static final long DEFAULT_KNOWN_MILLIS = 60_000;

  public RemoteStoreOptions {
    require(transfers >= 1, "transfers", transfers);
    require(timeoutMillis >= 1, "timeout", timeoutMillis);
    require(bytesPerSecond >= 0, "bandwidth", bytesPerSecond);
    require(limitBytes >= 0, "size limit", limitBytes);
    require(retentionMillis >= 0, "retention", retentionMillis);
    require(knownPages >= 0, "known pages", knownPages);
    require(knownMillis >= -1, "time of known pages", knownMillis);
  }

  private static void require(boolean valid, String name, long value) {
    if (!valid) {
      throw new IllegalArgumentException("a remote tier's " + name + " is " + value);
    }
  }

  /** Options with the defaults for all but the place: 8 transfers, 5 s, no limits. */
  public static RemoteStoreOptions of(String uri) {
    return new RemoteStoreOptions(
        uri,
        DEFAULT_TRANSFERS,
        DEFAULT_TIMEOUT_MILLIS,
        0,
        0,
        0,
        DEFAULT_KNOWN,
        DEFAULT_KNOWN_MILLIS);
  }

  /** With other ways to reach it. */
  public RemoteStoreOptions withTransfers(int count, long timeout, long bandwidth) {
    return new RemoteStoreOptions(
        uri, count, timeout, bandwidth, limitBytes, retentionMillis, knownPages, knownMillis);
  }

  /** With limits to what is kept. */
  public RemoteStoreOptions withLimits(long bytes, long millis) {
    return new RemoteStoreOptions(
        uri, transfers, timeoutMillis, bytesPerSecond, bytes, millis, knownPages, knownMillis);
  }
}
