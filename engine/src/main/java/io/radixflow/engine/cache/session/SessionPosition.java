package io.radixflow.engine.cache.session;

import io.radixflow.engine.cache.TreeNode;
import io.radixflow.engine.cache.key.RadixKey;
import java.util.Arrays;
import java.util.List;

/**
 * The end of a turn of a session: the computed token ids, and the node of the tree with their last
 * full page. Nothing is locked or copied: pages may be evicted later, and a look-up from here finds
 * the remaining pages.
 *
 * <p>Immutable, so any thread may compare a prompt with it. A search then resumes at the node,
 * after the tokens that were found equal. Only {@link SessionAwareCache} makes positions, from
 * prefixes in its tree, so a position never claims a prefix that was not there.
 */
public final class SessionPosition {
  final SessionAwareCache owner;
  final String branch;
  final TreeNode node;
  final int pages;
  final int length;
  final RadixKey key;

  SessionPosition(
      SessionAwareCache owner, String branch, TreeNode node, int pages, RadixKey key, int length) {
    this.owner = owner;
    this.branch = branch;
    this.node = node;
    this.pages = pages;
    this.key = key;
    this.length = length;
  }

  /**
   * A position, and the number of leading tokens of a prompt that are known to equal the position's
   * tokens.
   */
  public record Known(SessionPosition position, int tokens) {
    /** The value for a prompt of which nothing is known. */
    public static final Known NOTHING = new Known(null, 0);
  }

  /** Returns the value for a prompt that begins with all tokens of this position. */
  public Known whole() {
    return new Known(this, length);
  }

  /** Returns the tokens of the full pages before this position. */
  public RadixKey fullPages() {
    int length = Math.min(key.length(), pages * owner.pageTokens());
    return new RadixKey(
        key.namespace(), key.tokens(), length, Math.min(key.publicTokens(), length));
  }

  /** Returns whether the tokens of this position are a prefix of another position's. */
  public boolean isBefore(SessionPosition other) {
    return other.sharedTokens(key.tokens(), length) == length;
  }

  /**
   * Returns how many of the full pages before this position are also the first pages of another
   * position.
   */
  public int sharedPages(List<SessionPosition> others) {
    RadixKey full = fullPages();
    int shared = 0;
    for (SessionPosition other : others) {
      shared = Math.max(shared, other.sharedTokens(full.tokens(), full.length()));
    }
    return shared / owner.pageTokens();
  }

  /** Returns how many of the first {@code count} ids equal the ids of this position. Any thread. */
  public int sharedTokens(int[] ids, int count) {
    int limit = Math.min(count, length);
    int at = Arrays.mismatch(key.tokens(), 0, limit, ids, 0, limit);
    return at < 0 ? limit : at;
  }

  /** Returns the node where the prefix is now, or null if no part of it is cached. */
  TreeNode resolved() {
    TreeNode now = node.resume();
    return now == null || now.isRoot() ? null : now;
  }
}
