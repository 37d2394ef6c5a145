package io.radixflow.engine.pages;

import io.radixflow.engine.cache.PageAllocator;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.TreeNode;
import io.radixflow.engine.cache.session.Pins;
import io.radixflow.engine.request.Request;
import io.radixflow.protocol.record.CacheHints;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.RetentionRange;
import java.util.function.LongSupplier;

/**
 * Applies the cache hints of a request when it ends, because its pages are locked until then.
 *
 * <p>Engine thread only.
 */
final class HintApplier {
  /** The time between two searches for expired hints. */
  private static final long EXPIRY_MILLIS = 1000;

  private final RadixCache cache;
  private final Pins pins;
  private final int pageTokens;
  private final LongSupplier clock;
  private long nextExpiry = Long.MIN_VALUE;

  /**
   * @param clock milliseconds that never decrease
   */
  HintApplier(RadixCache cache, PageAllocator allocator, LongSupplier clock) {
    this.cache = cache;
    this.pins = new Pins(cache, allocator.total());
    this.pageTokens = allocator.pageTokens();
    this.clock = clock;
  }

  /** Returns the pinned prefixes; the owner of a session's pin is its slot. */
  Pins pins() {
    return pins;
  }

  /**
   * Applies the hints of a request that is about to unlock its prefix, unless no turn follows it
   * because its session was closed or another turn has replaced it.
   */
  void ended(Request request) {
    CacheHints hints = request.spec.hints();
    boolean closed = request.slot != null && request.slot.isClosed();
    boolean replaced = request.cancelled() == FinishReason.REPLACED;
    if (hints == CacheHints.NONE || hints.noStore() || closed || replaced) {
      return;
    }
    if (!request.isWithdrawn()) {
      pin(request, request.pages.locked(), request.pages.cached());
    }
    if (request.ahead) {
      return;
    }
    long now = clock.getAsLong();
    for (RetentionRange range : hints.retention()) {
      int end = Math.min(range.tokenEnd(), request.tokens.promptLength());
      retain(request, range.tokenStart(), end, range, now);
    }
    if (hints.generated() != null) {
      retain(
          request, request.tokens.promptLength(), request.tokens.length(), hints.generated(), now);
    }
  }

  /**
   * Pins a prefix if its request asked for a pin; a session's earlier pin moves to the prefix.
   *
   * @param locked where the prefix ends
   * @param pages number of pages of the prefix
   */
  void pin(Request request, TreeNode locked, int pages) {
    long millis = request.spec.hints().pinMillis();
    if (millis > 0 && pages > 0) {
      Object owner = request.slot != null ? request.slot : request;
      pins.pin(owner, request.spec.service().tenant(), locked, later(clock.getAsLong(), millis));
    }
  }

  /** Raises the priority of the pages that hold any of the tokens. */
  private void retain(Request request, int from, int to, RetentionRange range, long now) {
    int end = Math.min(request.pages.cached(), pagesFor(to));
    int begin = from / pageTokens;
    if (begin < end) {
      cache.retain(
          request.pages.locked(), begin, end, range.priority(), later(now, range.durationMillis()));
    }
  }

  private int pagesFor(int tokens) {
    return tokens / pageTokens + (tokens % pageTokens == 0 ? 0 : 1);
  }

  private static long later(long now, long millis) {
    return millis > Long.MAX_VALUE - now ? Long.MAX_VALUE : now + millis;
  }

  /** Ends pins and priorities that have expired; cheap if no search is due. */
  void expire() {
    long now = clock.getAsLong();
    if (now >= nextExpiry) {
      nextExpiry = later(now, EXPIRY_MILLIS);
      pins.expire(now);
      cache.expire(now);
    }
  }
}
