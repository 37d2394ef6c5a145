package io.radixflow.engine.draft;

import java.util.function.ToIntFunction;

/**
 * The tokens in the radix cache after the tokens of one request. They followed the same tokens in
 * another turn of its namespace, for example when a turn is answered again.
 *
 * <p>It copies at most {@value #COPIED} next tokens, so the tree may change meanwhile. When the
 * reply has used them up or differs from them, it copies again, until the cache has no next tokens.
 * Engine thread only.
 */
final class TreePath implements Matches {
  /** Tokens that are copied at a time. */
  static final int COPIED = 256;

  /** The beginning of a path counts as a match of this length; each right token makes it longer. */
  private static final int PROMPT_MATCH = 12;

  private final DraftHistory history;
  private final int[] tokens = new int[COPIED];

  /** Copies the next tokens; null before admission, and when there are no next tokens. */
  private ToIntFunction<int[]> tree;

  private int count;
  private int next;
  private int told;
  private int version;

  /**
   * @param history tells when texts were erased; then the copy is no longer used
   */
  TreePath(DraftHistory history) {
    this.history = history;
  }

  /** Begins at the request's end; see {@link Drafter#follow}. */
  void begin(ToIntFunction<int[]> copyNext) {
    tree = copyNext;
    told = 0;
    copy();
  }

  /** Called when the request has one more token. */
  void follow(int token) {
    if (tree == null) {
      return;
    }
    boolean right = continuation(0, 0) == token;
    told = right ? told + 1 : 0;
    next++;
    if (!right || next == count) {
      copy();
    }
  }

  private void copy() {
    version = history.version();
    next = 0;
    count = tree.applyAsInt(tokens);
    tree = count == 0 ? null : tree;
  }

  @Override
  public int matches() {
    return tree == null ? 0 : 1;
  }

  @Override
  public int best() {
    return 0;
  }

  @Override
  public int matchLength(int match) {
    return Math.min(SuffixMatches.LONGEST, PROMPT_MATCH + told);
  }

  @Override
  public int continuation(int match, int ahead) {
    boolean erased = version != history.version();
    return erased || next + ahead >= count ? TextIndex.SEPARATOR : tokens[next + ahead];
  }
}
