package io.radixflow.operators.engine.draft;

import java.util.Arrays;

/**
 * One of the texts that a request's drafts are taken from: how its longest match goes on, and how
 * sure that is. A guess is of the reply's next token. Owned by the thread of its {@link Drafter}.
 */
final class DraftSource {
  private final Matches matches;
  private final int firstClass;
  private final boolean[] dropped = new boolean[SuffixMatches.MOST];
  private int guess = TextIndex.SEPARATOR;
  private int guessClass;

  /**
   * @param firstClass added to the {@linkplain DraftRates class} of each of its guesses
   */
  DraftSource(Matches matches, int firstClass) {
    this.matches = matches;
    this.firstClass = firstClass;
  }

  /** Guesses the next token, to learn later whether the guess was right. */
  void foresee() {
    restart();
    guess = token(0);
    guessClass = guess < 0 ? 0 : classOf(0, guess);
  }

  /** The guess; a separator if there is none. */
  int guess() {
    return guess;
  }

  /** The class of the guess. */
  int guessClass() {
    return guessClass;
  }

  /**
   * Takes back which matches go on otherwise, before the tokens are asked for from the first on.
   */
  void restart() {
    Arrays.fill(dropped, false);
  }

  /** What the longest match goes on with; a separator if it ends, or there is none. */
  int token(int ahead) {
    return matches.matches() == 0
        ? TextIndex.SEPARATOR
        : matches.continuation(matches.best(), ahead);
  }

  /** The class of a token that {@link #token} returned; drops the matches that go on otherwise. */
  int classOf(int ahead, int token) {
    boolean disputed = false;
    for (int match = 0; match < matches.matches(); match++) {
      if (!dropped[match] && matches.continuation(match, ahead) != token) {
        dropped[match] = true;
        disputed = true;
      }
    }
    int length = matches.matchLength(matches.best()) + ahead;
    return firstClass + DraftRates.classOf(length, disputed);
  }
}
