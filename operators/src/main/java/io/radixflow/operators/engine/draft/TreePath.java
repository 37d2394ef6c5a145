package io.radixflow.operators.engine.draft;

import java.util.function.ToIntFunction;

/**
 * How the radix cache goes on after the tokens of one request: what followed them in another turn
 * of its namespace, as when a turn is answered again.
 *
 * <p>Has a copy of the next tokens, at most {@value #COPIED}, so that the tree may change
 * meanwhile. Asks for others when the reply has used them up or goes on otherwise, and never again
 * once the cache has none. Engine thread only.
 */
final class TreePath implements Matches {
  /** Tokens that are copied at a time. */
  static final int COPIED = 256;

  /** The match that the beginning of a path counts as; each token that it told makes it longer. */
  private static final int PROMPT_MATCH = 12;

  private final DraftHistory history;
  private final int[] tokens = new int[COPIED];

  /** Copies the next tokens; null before admission, and once there are none. */
  private ToIntFunction<int[]> tree;

  private int count;
  private int next;
  private int told;
  private int version;

  /**
   * @param history tells when texts were erased, with which the copy goes
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

  /** The request has a token more. */
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
