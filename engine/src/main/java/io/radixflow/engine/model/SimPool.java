package io.radixflow.engine.model;

import io.radixflow.kernels.device.HostPages;
import io.radixflow.kernels.device.HostPagesAndParts;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.OrderedTransfer;
import io.radixflow.kernels.device.Transfer;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.util.Arrays;
import java.util.Objects;

/**
 * Slots of 64 bits. A slot is a hash of its token, its position and all slots before it, because a
 * transformer's KV entry depends on the whole prefix. So a page is right for exactly one prefix.
 *
 * <p>Owned by the backend's thread.
 */
final class SimPool implements KvPool {
  static final long POISON = 0xDEAD_BEEF_DEAD_BEEFL;

  private static final long TOKEN_BITS = 0x1FF;

  private final SimBackend backend;
  private final int pages;
  private final int pageTokens;
  private final boolean legible;
  private final long[] slots;

  /** The layer with an attention window, or null. */
  private final SimWindow window;

  /**
   * @param legible whether slots contain their tokens, so that the tokens can be read back
   * @param window the slots of a layer with an attention window; null without one
   */
  SimPool(SimBackend backend, int pages, int pageTokens, boolean legible, SimWindow window) {
    this.window = window;
    this.legible = legible;
    this.backend = backend;
    this.pages = pages;
    this.pageTokens = pageTokens;
    this.slots = new long[Math.multiplyExact(pages, pageTokens)];
    Arrays.fill(slots, POISON);
  }

  /** Returns the hash of an empty prefix. */
  static long emptyPrefix() {
    return 0x243F_6A88_85A3_08D3L;
  }

  /** Returns the hash of slots {@code 0 .. to-1}, read through the page table. */
  long prefix(int[] table, int to) {
    long hash = emptyPrefix();
    for (int position = 0; position < to; position++) {
      hash = mix(hash, slots[slot(table, position)]);
    }
    return hash;
  }

  /**
   * Stores a token's slot. The slot of the layer with a window depends on it and is also stored.
   */
  void store(int[] table, int position, int token, long prefix) {
    long before = window == null ? prefix : window.read(prefix, table, position, position - 1);
    long hash = mix(before, (long) position << 32 | token);
    hash = legible ? hash & ~TOKEN_BITS | token : hash;
    slots[slot(table, position)] = hash;
    if (window != null) {
      window.store(table, position, hash);
    }
  }

  /**
   * Returns the hash of the slots that a query sees; its own slot is the last of {@code prefix}.
   */
  long seen(long prefix, int[] table, int position) {
    return window == null ? prefix : window.read(prefix, table, position, position);
  }

  /** Returns the tokens of slots {@code 0 .. to-1} of a legible pool. */
  int[] tokens(int[] table, int to) {
    int[] tokens = new int[to];
    for (int position = 0; position < to; position++) {
      tokens[position] = (int) (slots[slot(table, position)] & TOKEN_BITS);
    }
    return tokens;
  }

  /** Extends a prefix hash by the slot at {@code position} in the pool. */
  long extend(long prefix, int[] table, int position) {
    return mix(prefix, slots[slot(table, position)]);
  }

  private int slot(int[] table, int position) {
    int page = table[position / pageTokens];
    if (page < 0 || page >= pages) {
      throw new IllegalArgumentException("page " + page + " is not one of " + pages);
    }
    return page * pageTokens + position % pageTokens;
  }

  void poison(int page) {
    Arrays.fill(slots, page * pageTokens, (page + 1) * pageTokens, POISON);
    if (isWindowInPages()) {
      window.poison(page);
    }
  }

  /** Returns whether each page has its own slots of a layer with a window. */
  private boolean isWindowInPages() {
    return window != null && window.parts() == 0;
  }

  static long mix(long hash, long value) {
    long z = (hash ^ value) * 0x9E37_79B9_7F4A_7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
    return z ^ (z >>> 27);
  }

  @Override
  public int pages() {
    return pages;
  }

  @Override
  public int pageTokens() {
    return pageTokens;
  }

  @Override
  public long pageBytes() {
    return (isWindowInPages() ? 16L : 8L) * pageTokens;
  }

  @Override
  public int parts() {
    return window == null ? 0 : window.parts();
  }

  @Override
  public long partBytes() {
    return parts() == 0 ? 0 : 8L * pageTokens;
  }

  @Override
  public void mapWindow(int page, int part) {
    window.map(page, part);
  }

  @Override
  public void discardPart(int part) {
    backend.discardPart(window, part);
  }

  @Override
  public void discard(int page) {
    backend.discard(this, page);
  }

  @Override
  public HostPages openHostPages(int count) {
    return openHostPages(count, 0);
  }

  @Override
  public HostPages openHostPages(int count, int hostParts) {
    return HostPagesAndParts.inHeap(count, pageBytes(), hostParts, partBytes());
  }

  /** {@inheritDoc} The device copies in order, before the steps submitted later. */
  @Override
  public Transfer copyIn(int[] to, HostPages host, int[] from, int count) {
    OrderedTransfer transfer = new OrderedTransfer(copies(to, host, from, count, LongBuffer::get));
    backend.copyIn(transfer);
    return transfer;
  }

  /**
   * {@inheritDoc} The device copies as late as possible: after one step submitted later, if there
   * is one.
   */
  @Override
  public Transfer copyOut(int[] from, HostPages host, int[] to, int count) {
    OrderedTransfer transfer = new OrderedTransfer(copies(from, host, to, count, LongBuffer::put));
    backend.copyOut(transfer);
    return transfer;
  }

  /** Moves a page between an array and host memory. */
  private interface Move {
    LongBuffer apply(LongBuffer buffer, long[] array, int offset, int length);
  }

  /**
   * Checks copies of pages now, and returns a task that makes them later. The caller may reuse its
   * arrays.
   */
  private Runnable copies(int[] own, HostPages host, int[] hostPages, int count, Move move) {
    int[] pool = Arrays.copyOf(own, count);
    ByteBuffer[] buffers = new ByteBuffer[count];
    for (int i = 0; i < count; i++) {
      Objects.checkIndex(pool[i], pages + parts());
      buffers[i] = host.buffer(hostPages[i]);
    }
    return () -> {
      for (int i = 0; i < count; i++) {
        LongBuffer buffer = buffers[i].asLongBuffer();
        if (pool[i] >= pages) {
          move.apply(buffer, window.slots(), (pool[i] - pages) * pageTokens, pageTokens);
          continue;
        }
        move.apply(buffer, slots, pool[i] * pageTokens, pageTokens);
        if (isWindowInPages()) {
          move.apply(buffer, window.slots(), pool[i] * pageTokens, pageTokens);
        }
      }
    };
  }

  @Override
  public void close() {
    backend.poolClosed(this);
  }
}
