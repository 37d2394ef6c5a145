package io.radixflow.operators.cache.policy;

import io.radixflow.operators.cache.TreeNode;
import java.util.Arrays;

/**
 * The kinds of pages that {@link ReuseModel} treats alike: how often they were used, in steps that
 * grow, and the turn of the conversation that stored them, as far as it is known. The uses of a
 * page at a conversation's end carry no information, for there is always one; its turn says how
 * long the conversation has gone on already.
 */
final class PageKind {
  /** Most uses of each kind but the last. */
  private static final int[] MOST_USES = {1, 2, 3, 5, 8, 16, 32};

  /** Kinds of pages whose turn is unknown: 0 to this. */
  static final int UNTOLD = MOST_USES.length + 1;

  /** First turns, second and third ones, and later ones. */
  private static final int[] LAST_TURNS = {0, 1, 3};

  /** The power to which steps of uses are raised: five times the odds for a second use. */
  private static final double ODDS_EXPONENT = 2.5;

  static final int COUNT = UNTOLD * (LAST_TURNS.length + 1);

  private PageKind() {}

  /**
   * How much more likely than pages used once those of each kind whose turn is unknown are assumed
   * to be used again, before anything is learned: by its step of uses. There are none where the
   * turn is known, for there the uses mostly count the turns, and a long conversation is no
   * likelier to continue than a short one.
   */
  static double[] odds() {
    double[] odds = new double[UNTOLD];
    Arrays.setAll(odds, kind -> Math.pow(kind + 1, ODDS_EXPONENT));
    return odds;
  }

  static int of(TreeNode node) {
    return of(node.uses(), node.turn());
  }

  /**
   * @param turn of the conversation, 1 for the first, or 0 if it is unknown
   */
  static int of(int uses, int turn) {
    return step(LAST_TURNS, turn) * UNTOLD + step(MOST_USES, uses);
  }

  private static int step(int[] largest, int value) {
    int step = 0;
    while (step < largest.length && value > largest[step]) {
      step++;
    }
    return step;
  }
}
