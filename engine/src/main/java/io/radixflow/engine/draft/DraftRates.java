package io.radixflow.engine.draft;

/**
 * How often guesses were right. A guess has a class: the length of the match that it continues, and
 * whether other matches continue differently. Guesses that no step verified count as well, so that
 * the rates do not depend on the number of drafts. Engine thread only.
 */
final class DraftRates {
  /** Added to the class of a guess from the request's own text, or from its predicted text. */
  static final int OWN = 0;

  /** Added to the class of a guess from the history of other turns. */
  static final int HISTORY = 22;

  /**
   * Added to the class of a guess from the radix cache; initially as likely as a guess from the
   * request's own text.
   */
  static final int TREE = 44;

  /**
   * The class of a token of a text that a grammar forces; the model may split this text into other
   * tokens.
   */
  static final int FORCED = 66;

  /** Classes of guesses. */
  static final int CLASSES = 67;

  private static final double FIRST_FORCED = 0.7;

  /**
   * The assumed value of a match with other turns, as a part of a match with the request's own
   * text.
   */
  private static final double OTHER_TURNS = 0.8;

  private static final double FORGET = 0.01;

  /** The initial rates by class of length; measured on edits, code and chat. */
  private static final double[] FIRST = {0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9};

  /** The shortest match of each class of length except the first. */
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
   * @param disputed whether another match continues differently
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
