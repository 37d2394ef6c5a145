package io.radixflow.engine.cache.policy;

import io.radixflow.engine.cache.TreeNode;
import java.util.Arrays;

/**
 * The kinds of pages; {@link ReuseModel} treats pages of one kind alike. A page's kind depends on
 * the number of its uses, in growing steps, and on the conversation turn that stored it, if the
 * turn is known. The number of uses of a page at a conversation's end carries no information,
 * because it is always one. The page's turn shows how long the conversation is.
 */
final class PageKind {
  /** The maximum number of uses for each kind except the last. */
  private static final int[] MOST_USES = {1, 2, 3, 5, 8, 16, 32};

  /** The number of kinds of pages whose turn is unknown; these are the kinds below this number. */
  static final int UNTOLD = MOST_USES.length + 1;

  /**
   * The last turn of each group of turns except the last group: unknown, first, second and third;
   * later turns follow.
   */
  private static final int[] LAST_TURNS = {0, 1, 3};

  /**
   * The exponent of the steps of uses. A page used twice has over five times the odds of a page
   * used once.
   */
  private static final double ODDS_EXPONENT = 2.5;

  static final int COUNT = UNTOLD * (LAST_TURNS.length + 1);

  private PageKind() {}

  /**
   * Returns the initial odds of another use, before anything is learned, for each kind whose turn
   * is unknown, relative to pages that were used once. They depend on the step of uses. Kinds with
   * a known turn have no such odds: their uses mostly count the turns, and a long conversation does
   * not continue more often than a short one.
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
   * @param turn turn of the conversation, 1 for the first, or 0 if it is unknown
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
