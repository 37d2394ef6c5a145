package io.radixflow.protocol.record;

import io.radixflow.protocol.record.kv.KvTier;

/**
 * The tiers that have the whole pages of a conversation, in tokens, as its next turn would find
 * them: from its beginning on the device, from there on in host memory, from there on in the store.
 * A page that is in several tiers counts for the fastest. A Flink POJO.
 *
 * @param device tokens of pages on the device
 * @param host of those after them, tokens of pages in host memory
 * @param disk of those after them, tokens of pages on a disk
 * @param remote of those after them, tokens of pages in a remote file system
 */
public record TierTokens(int device, int host, int disk, int remote) {
  /** Nothing is anywhere. */
  public static final TierTokens NONE = new TierTokens(0, 0, 0, 0);

  /** Tokens of pages in any tier. */
  public int total() {
    return device + below();
  }

  /** Tokens of pages that the device has not, but a tier below it. */
  public int below() {
    return host + disk + remote;
  }

  /** The slowest tier that has some, or null. */
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
   * The state of the slot of a session whose pages these are.
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
