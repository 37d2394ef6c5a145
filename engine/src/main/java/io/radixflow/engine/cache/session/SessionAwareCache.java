package io.radixflow.engine.cache.session;

import io.radixflow.engine.cache.PageAllocator;
import io.radixflow.engine.cache.PrefixMatch;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.TreeNode;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.protocol.record.kv.SlotState;
import java.util.LinkedHashSet;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/**
 * A prefix cache that knows sessions. Between turns, a {@link CacheSlot} keeps the session's
 * positions in the tree. The next turn's look-up resumes from them, so its cost depends only on
 * what the turn adds.
 *
 * <ul>
 *   <li>A slot locks nothing between turns; its pages are evicted like any others.
 *   <li>A turn whose end supersedes an earlier one of its branch (a reply generated again, a
 *       conversation that was cut) frees the pages that only the earlier turn used. So every page
 *       of a session in the tree is before one of its positions, and closing the session frees
 *       exactly the pages that only it uses.
 *   <li>The page that a turn did not fill is kept outside the tree for the next turn. A slot has at
 *       most one such page, and these pages are freed first.
 *   <li>Sessions are bounded in number, in the tokens that they remember, and in pages ({@link
 *       SessionBounds}).
 * </ul>
 *
 * <p>Owned by the cache's thread.
 */
public final class SessionAwareCache {
  /** Tokens that all slots may remember, per token of the pool. */
  private static final int REMEMBERED_PER_TOKEN = 16;

  /** The number of slots that are checked for cached pages each time a turn ends. */
  private static final int LOOKED_AT = 2;

  /**
   * The number of branches of a session whose ends are remembered. Further branches are usually
   * abandoned or seldom used.
   */
  private static final int MAX_BRANCHES = 128;

  private final RadixCache cache;
  private final PageAllocator allocator;
  private final int maxSlots;
  private final Consumer<CacheSlot> onDropped;
  private final SessionClaims claims;
  private final SessionQuota quota;
  private final long maxTokens;
  private final LinkedHashSet<CacheSlot> slots = new LinkedHashSet<>();
  private final LinkedHashSet<CacheSlot> partials = new LinkedHashSet<>();
  private long rememberedTokens;
  private int hot;

  /**
   * @param onDropped receives each slot that loses its positions
   */
  public SessionAwareCache(
      RadixCache cache,
      PageAllocator allocator,
      SessionBounds bounds,
      Consumer<CacheSlot> onDropped) {
    this.cache = cache;
    this.allocator = allocator;
    this.maxSlots = bounds.slots();
    this.onDropped = onDropped;
    this.claims = new SessionClaims(cache);
    this.quota = new SessionQuota(bounds, allocator.total(), claims);
    this.maxTokens = (long) REMEMBERED_PER_TOKEN * allocator.total() * allocator.pageTokens();
  }

  /** Returns how many pages {@link #reclaim} could free now. */
  public int reclaimablePages() {
    return cache.evictablePages() + partials.size();
  }

  int pageTokens() {
    return allocator.pageTokens();
  }

  /** Returns how many partial pages slots keep. */
  public int sessionPages() {
    return partials.size();
  }

  /** Returns how many sessions have a running turn. */
  public int hotSlots() {
    return hot;
  }

  /** Returns how many sessions are remembered, running ones included. */
  public int slots() {
    return slots.size();
  }

  /** Finds the longest cached prefix, resuming from a position that shares it. */
  public PrefixMatch match(RadixKey key, SessionPosition.Known known) {
    SessionPosition position = known.position();
    if (position == null
        || position.owner != this
        || position.key.publicTokens() != key.publicTokens()) {
      return cache.match(key, Integer.MAX_VALUE);
    }
    int pages = Math.min(position.pages, known.tokens() / allocator.pageTokens());
    return cache.match(key, Integer.MAX_VALUE, position.node, pages);
  }

  /** Starts a turn whose pages are locked. */
  public void started(CacheSlot slot) {
    if (slot.running++ == 0) {
      hot++;
    }
  }

  /**
   * Returns the tokens of a slot's partial page that a turn may use, given how the turn was
   * matched.
   *
   * @return 0 if the turn cannot use the page
   */
  public int partialTokens(CacheSlot slot, SessionPosition.Known known, int matchedPages) {
    boolean fits =
        slot.partialPage >= 0
            && slot.partialOf == known.position()
            && slot.partialOf.pages == matchedPages;
    return fits ? Math.max(0, known.tokens() - matchedPages * allocator.pageTokens()) : 0;
  }

  /** Passes a slot's partial page to the turn that continues it. */
  public int takePartial(CacheSlot slot) {
    int page = slot.partialPage;
    partials.remove(slot);
    slot.partialPage = -1;
    slot.partialOf = null;
    allocator.takeFromSession(page);
    return page;
  }

  /**
   * Creates the position where tokens end in the tree.
   *
   * @param node holds the last of their {@code pages} full pages; locked
   * @param key the tokens, of which the first {@code length} never change again
   * @param length tokens that have been computed
   */
  public SessionPosition position(
      String branch, TreeNode node, int pages, RadixKey key, int length) {
    return new SessionPosition(this, branch, node, pages, key, length);
  }

  /**
   * Ends a turn: releases its lock, and makes its end the position of its branch.
   *
   * @param hit whether the turn counts as a use
   * @param lasting whether the branch continues from the turn's end; if not, as after a reply that
   *     was cut short, the branch continues there only if the turn extended its position
   * @param partialPage the page after the full ones, which the next turn may continue; -1 if there
   *     is none
   * @return the position from which the branch does not continue: the turn's end or the position
   *     before it; null if there was none before
   */
  public SessionPosition ended(
      CacheSlot slot, SessionPosition end, boolean hit, boolean lasting, int partialPage) {
    SessionPosition last = slot.position(end.branch);
    SessionPosition before = last != null && last.owner == this ? last : null;
    if (--slot.running == 0) {
      hot--;
    }
    claims.claim(end);
    cache.storedInTurn(end.node, slot.turn());
    slot.ended += hit ? 1 : 0;
    cache.unlock(end.node, hit);
    boolean stays =
        !slot.isClosed()
            && (lasting || before == null || SessionClaims.extendsPosition(end.node, before));
    if (!stays) {
      claims.release(end);
      return end;
    }
    dropPartial(slot);
    if (partialPage >= 0) {
      allocator.keepForSession(partialPage);
      slot.partialPage = partialPage;
      slot.partialOf = end;
      partials.add(slot);
    }
    rememberedTokens += end.length - (before == null ? 0 : before.length);
    slot.put(end);
    if (before != null) {
      claims.release(before);
    }
    while (slot.positions().size() > MAX_BRANCHES) {
      drop(slot, slot.positions().get(0));
    }
    touch(slot);
    return last;
  }

  /** Drops the position of a branch, and frees the pages that only it uses. */
  private void drop(CacheSlot slot, SessionPosition position) {
    slot.remove(position);
    if (slot.partialOf == position) {
      dropPartial(slot);
    }
    if (position.owner == this) {
      rememberedTokens -= position.length;
      claims.release(position);
    }
  }

  /**
   * Frees the pages of a branch's last turn that the next turn cannot use.
   *
   * @param end where the last turn ended; nothing happens if it is no longer the branch's position
   * @param tokens how many of the last turn's tokens the next turn begins with
   * @return the branch's position, or null if {@code end} was not its position
   */
  public SessionPosition cut(CacheSlot slot, SessionPosition end, int tokens) {
    if (slot.isClosed() || slot.position(end.branch) != end) {
      return null;
    }
    if (tokens >= end.length) {
      return end;
    }
    int kept = Math.min(end.pages, tokens / allocator.pageTokens());
    PrefixMatch match = cache.match(end.key, kept, end.node, kept);
    TreeNode node = cache.lock(end.key, match);
    SessionPosition position = position(end.branch, node, match.pages(), end.key, tokens);
    claims.claim(position);
    cache.unlock(node, false);
    if (slot.partialOf == end) {
      if (match.pages() == end.pages && tokens > match.pages() * allocator.pageTokens()) {
        slot.partialOf = position;
      } else {
        dropPartial(slot);
      }
    }
    slot.put(position);
    rememberedTokens -= end.length - tokens;
    claims.release(end);
    quota.used(slot);
    return position;
  }

  /** Returns whether a branch's last turn ended at a position. */
  public static boolean isPositionOf(CacheSlot slot, SessionPosition position) {
    return !slot.isClosed() && slot.position(position.branch) == position;
  }

  /**
   * Marks a slot as the most recently used, and drops slots that exceed a bound or have nothing
   * cached.
   */
  private void touch(CacheSlot slot) {
    slots.remove(slot);
    slots.add(slot);
    CacheSlot tooMany = quota.used(slot);
    if (tooMany != null) {
      drop(tooMany);
    }
    while (slots.size() > maxSlots || rememberedTokens > maxTokens && slots.size() > 1) {
      drop(slots.iterator().next());
    }
    for (int i = 0; i < LOOKED_AT && !slots.isEmpty(); i++) {
      CacheSlot oldest = slots.iterator().next();
      if (oldest.state() != SlotState.GONE) {
        return;
      }
      drop(oldest);
    }
  }

  /**
   * Closes a session: frees the pages that only it uses. Turns that are still running free their
   * pages when they end. Idempotent.
   *
   * @return pages freed
   */
  public int close(CacheSlot slot) {
    slot.close();
    return drop(slot);
  }

  private int drop(CacheSlot slot) {
    int freed = dropPartial(slot);
    for (SessionPosition position : slot.positions()) {
      if (position.owner == this) {
        rememberedTokens -= position.length;
        freed += claims.release(position);
      }
    }
    slot.clear();
    slots.remove(slot);
    quota.remove(slot);
    onDropped.accept(slot);
    return freed;
  }

  private int dropPartial(CacheSlot slot) {
    if (slot.partialPage < 0) {
      return 0;
    }
    allocator.free(slot.partialPage);
    partials.remove(slot);
    slot.partialPage = -1;
    slot.partialOf = null;
    return 1;
  }

  /**
   * Frees up to {@code pages} pages: partial pages first, then pages over a bound, then as the
   * eviction policy decides.
   *
   * @return the number of freed pages
   */
  public int reclaim(int pages) {
    int freed = 0;
    while (freed < pages && !partials.isEmpty()) {
      freed += dropPartial(partials.iterator().next());
    }
    freed += freed < pages ? quota.reclaim(pages - freed) : 0;
    return freed < pages ? freed + cache.evict(pages - freed) : freed;
  }

  /** Drops all slots without freeing pages, because the pool has been emptied. */
  public void abandon() {
    partials.forEach(
        slot -> {
          slot.partialPage = -1;
          slot.partialOf = null;
        });
    slots.forEach(CacheSlot::clear);
    partials.clear();
    slots.clear();
  }

  /** Calls {@code visitor} with each partial page. */
  public void forEachSessionPage(IntConsumer visitor) {
    partials.forEach(slot -> visitor.accept(slot.partialPage));
  }
}
