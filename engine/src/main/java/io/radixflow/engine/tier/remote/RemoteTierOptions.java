package io.radixflow.engine.tier.remote;

import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.protocol.PublicApi;
import java.io.Serializable;

/**
 * The options of the remote file system below an engine's host memory and disk. An invalid option
 * fails the job. If the file system does not answer, its pages are cache misses and the engine
 * continues.
 *
 * @param uri URI of the folder that all engines share; null for no remote tier
 * @param transfers maximum number of parallel reads and look-ups, and maximum number of parallel
 *     writes
 * @param timeoutMillis how long an operation may take
 * @param bytesPerSecond maximum bytes per second that an engine writes; 0 for no limit
 * @param limitBytes maximum size of the pages of all engines together; 0 for no limit
 * @param retentionMillis time from a page's upload to its deletion; 0 for no deletion
 * @param uploadMillis time from a page's write to disk to its upload
 * @param tenants distinguishes tenants in the store; null without a remote tier
 */
@PublicApi
public record RemoteTierOptions(
    String uri,
    int transfers,
    long timeoutMillis,
    long bytesPerSecond,
    long limitBytes,
    long retentionMillis,
    long uploadMillis,
    NamespaceKey tenants)
    implements Serializable {

  public static final RemoteTierOptions NONE = of(null, null);

  public RemoteTierOptions {
    require(transfers >= 1, "transfers", transfers);
    require(timeoutMillis >= 1, "timeout", timeoutMillis);
    require(bytesPerSecond >= 0, "bandwidth", bytesPerSecond);
    require(limitBytes >= 0, "size limit", limitBytes);
    require(retentionMillis >= 0, "retention", retentionMillis);
    require(uploadMillis >= 0, "time before uploads", uploadMillis);
  }

  private static void require(boolean valid, String name, long value) {
    if (!valid) {
      throw new IllegalArgumentException("a remote tier's " + name + " is " + value);
    }
  }

  /** Returns options with 8 transfers, a timeout of 5 s, no limits, and immediate uploads. */
  public static RemoteTierOptions of(String uri, NamespaceKey tenants) {
    return new RemoteTierOptions(uri, 8, 5_000, 0, 0, 0, 0, tenants);
  }

  /** Returns whether there is a remote tier. */
  public boolean enabled() {
    return uri != null;
  }
}
