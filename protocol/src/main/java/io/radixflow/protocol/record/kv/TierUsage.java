package io.radixflow.protocol.record.kv;

/**
 * The part of a prompt that came from below the device; a Flink POJO.
 *
 * @param hostTokens tokens whose pages were in host memory
 * @param diskTokens tokens whose pages came from a disk
 * @param remoteTokens tokens whose pages came from a remote file system
 * @param micros time from the look-up of these pages until they were verified in host memory
 */
public record TierUsage(int hostTokens, int diskTokens, int remoteTokens, long micros) {
  /** No tokens from lower tiers. */
  public static final TierUsage NONE = new TierUsage(0, 0, 0, 0);

  /** Returns whether any tokens came from lower tiers. */
  public boolean isNone() {
    return hostTokens + diskTokens + remoteTokens == 0;
  }
}
