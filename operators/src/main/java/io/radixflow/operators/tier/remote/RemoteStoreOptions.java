package io.radixflow.operators.tier.remote;

import io.radixflow.operators.PublicApi;
import java.io.Serializable;

/**
 * Limits of a remote tier. Immutable; change some with a {@code with} method.
 *
 * @param uri of the folder of all engines that share it
 * @param transfers how many objects are read or looked up at a time, and how many written
 * @param timeoutMillis how long an operation may take
 * @param bytesPerSecond how much an engine writes; 0 for no limit
 * @param limitBytes what the pages of all engines may take; 0 for no limit
 * @param retentionMillis how long after its upload a page is deleted; 0 for never
 */
@PublicApi
public record RemoteStoreOptions(
    String uri,
    int transfers,
    long timeoutMillis,
    long bytesPerSecond,
    long limitBytes,
    long retentionMillis)
    implements Serializable {
  private static final int DEFAULT_TRANSFERS = 8;
  private static final long DEFAULT_TIMEOUT_MILLIS = 5_000;

  public RemoteStoreOptions {
    require(transfers >= 1, "transfers", transfers);
    require(timeoutMillis >= 1, "timeout", timeoutMillis);
    require(bytesPerSecond >= 0, "bandwidth", bytesPerSecond);
    require(limitBytes >= 0, "size limit", limitBytes);
    require(retentionMillis >= 0, "retention", retentionMillis);
  }

  private static void require(boolean valid, String name, long value) {
    if (!valid) {
      throw new IllegalArgumentException("a remote tier's " + name + " is " + value);
    }
  }

  /** Creates options with 8 transfers, 5 s for an operation, and no limits. */
  public static RemoteStoreOptions of(String uri) {
    return new RemoteStoreOptions(uri, DEFAULT_TRANSFERS, DEFAULT_TIMEOUT_MILLIS, 0, 0, 0);
  }

  /** Returns these options with other limits to transfers. */
  public RemoteStoreOptions withTransfers(int count, long timeout, long bandwidth) {
    return new RemoteStoreOptions(uri, count, timeout, bandwidth, limitBytes, retentionMillis);
  }

  /** Returns these options with other limits to what is kept. */
  public RemoteStoreOptions withLimits(long bytes, long millis) {
    return new RemoteStoreOptions(uri, transfers, timeoutMillis, bytesPerSecond, bytes, millis);
  }
}
