package io.radixflow.engine.draft;

/**
 * How often a guess was right, by the length of the match that it continues and by whether other
 * matches continue otherwise. Each guess counts, whether a step has verified it or not, so that the
 * rates do not depend on how much is drafted. Engine thread only.
 */
final class DraftRates {
  /** Added to the class of a guess from the request's own text, or from its predicted text. */
  static final int OWN = 0;

  /** Added to the class of a guess from the history of other turns. */
  static final int HISTORY = 22;

  /** Added to the class of a guess from the radix cache; at first as likely as one of the own. */
  static final int TREE = 44;

  /** The class of a token of a text that a grammar forces, which may be cut otherwise. */
  static final int FORCED = 66;

  /** Classes of guesses. */
  static final int CLASSES = 67;

  private static final double FIRST_FORCED = 0.7;

  /** What a match with other turns is assumed to be worth of one with the request's own text. */
  private static final double OTHER_TURNS = 0.8;

  private static final double FORGET = 0.01;

  /** By class of length, before anything was seen: measured on edits, code and chat. */
  private static final double[] FIRST = {0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9};

  /** The shortest match of each class of length but the first. */
  private static final int[] LONGER = {2, 3, 4, 5, 6, 8, 12, 16, 24, SuffixMatches.LONGEST};

  private final double[] rates = new double[CLASSES];

  DraftRates() {
    for (int i = 0; i < FIRST.length; i++) {
      rates[OWN + 2 * i] = FIRST[i];
      rates[OWN + 2 * i + 1] = FIRST[i] / 2;
      rates[HISTORY + 2 * i] = FIRST[i] * OTHER_TURNS;
      rates[HISTORY + 2 * i + 1] = FIRST[i] * OTHER_TURNS / 2;
      rates[TREE + 2 * i] = FIRST[i];
      rates[TREE + 2 * i + 1] = FIRST[i] / 2;
    }
    rates[FORCED] = FIRST_FORCED;
  }

  /**
   * Returns the class of a guess.
   *
   * @param matchLength at least 1
   * @param disputed whether another match goes on otherwise
   */
  static int classOf(int matchLength, boolean disputed) {
    int size = 0;
    while (size < LONGER.length && matchLength >= LONGER[size]) {
      size++;
    }
    return 2 * size + (disputed ? 1 : 0);
  }

  double of(int guessClass) {
    return rates[guessClass];
  }

  void add(int guessClass, boolean right) {
    rates[guessClass] += FORGET * ((right ? 1 : 0) - rates[guessClass]);
  }
}
