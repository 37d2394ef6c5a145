package io.radixflow.protocol.record.kv;

/**
 * How many tokens of a conversation's whole pages its next turn would find in each tier: first on
 * the device, then in host memory, then in the stores. A page in several tiers counts for the
 * fastest one. A Flink POJO.
 *
 * @param device tokens of pages on the device
 * @param host tokens of the next pages, which are in host memory
 * @param disk tokens of the next pages, which are on a disk
 * @param remote tokens of the next pages, which are in a remote file system
 */
public record TierTokens(int device, int host, int disk, int remote) {
  /** No tier has a page. */
  public static final TierTokens NONE = new TierTokens(0, 0, 0, 0);

  /** Returns the tokens of pages in any tier. */
  public int total() {
    return device + below();
  }

  /** Returns the tokens of pages that only tiers below the device have. */
  public int below() {
    return host + disk + remote;
  }

  /** Returns the slowest tier that has pages, or null. */
  public KvTier slowest() {
    if (remote > 0) {
      return KvTier.REMOTE;
    }
    if (disk > 0) {
      return KvTier.DISK;
    }
    if (host > 0) {
      return KvTier.HOST;
    }
    return device > 0 ? KvTier.DEVICE : null;
  }

  /**
   * Returns the state of a session with these pages.
   *
   * @param running whether one of its turns runs or waits
   */
  public SlotState state(boolean running) {
    if (running) {
      return SlotState.HOT;
    }
    if (below() > 0) {
      return SlotState.COLD;
    }
    return device > 0 ? SlotState.WARM : SlotState.GONE;
  }
}
