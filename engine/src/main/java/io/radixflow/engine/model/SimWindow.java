package io.radixflow.engine.model;

import java.util.Arrays;

/**
 * The slots of a layer with an attention window: a query sees its own slot and the slots of the
 * tokens shortly before it. The slots are in window parts, or each page has its own.
 *
 * <p>The device's thread reads and writes slots; the backend's owner maps pages to parts.
 */
final class SimWindow {
  private static final long SALT = 0x77_696E_646F_77L;

  private final int tokens;
  private final int parts;
  private final int pageTokens;
  private final int[] partOf;
  private final long[] slots;

  /**
   * @param tokens tokens that a query sees
   * @param pages pages of the pool
   * @param parts window parts; 0 if each page has its own slots
   */
  SimWindow(int tokens, int pages, int parts, int pageTokens) {
    this.tokens = tokens;
    this.parts = parts;
    this.pageTokens = pageTokens;
    this.partOf = new int[pages];
    Arrays.setAll(partOf, page -> parts == 0 ? page : -1);
    this.slots = new long[Math.multiplyExact(parts == 0 ? pages : parts, pageTokens)];
    Arrays.fill(slots, SimPool.POISON);
  }

  int parts() {
    return parts;
  }

  long[] slots() {
    return slots;
  }

  void map(int page, int part) {
    partOf[page] = part;
  }

  void poison(int part) {
    Arrays.fill(slots, part * pageTokens, (part + 1) * pageTokens, SimPool.POISON);
  }

  /** Stores a token's slot, given its slot in the other layer. */
  void store(int[] table, int position, long below) {
    slots[slot(table, position)] = SimPool.mix(below, SALT);
  }

  /** Extends a hash by the slots that a query sees, up to the slot at {@code last}. */
  long read(long hash, int[] table, int query, int last) {
    long seen = hash;
    for (int position = Math.max(0, query - tokens + 1); position <= last; position++) {
      seen = SimPool.mix(seen, slots[slot(table, position)]);
    }
    return seen;
  }

  private int slot(int[] table, int position) {
    int page = table[position / pageTokens];
    int part = partOf[page];
    if (part < 0) {
      throw new IllegalStateException(
          "position " + position + ": page " + page + " has no window part");
    }
    return part * pageTokens + position % pageTokens;
  }
}
