package io.radixflow.engine.draft;

import java.util.Arrays;

/**
 * One of the texts that a request's drafts are taken from. Its guess of the next token is the
 * continuation of its longest match. Owned by the thread of its {@link Drafter}.
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

  /** Guesses the next token, so that the rates can learn whether the guess was right. */
  void foresee() {
    restart();
    guess = token(0);
    guessClass = guess < 0 ? 0 : classOf(0, guess);
  }

  /** Returns the guess; a separator if there is none. */
  int guess() {
    return guess;
  }

  int guessClass() {
    return guessClass;
  }

  /** Makes all matches count again. Called before tokens are read from the first one on. */
  void restart() {
    Arrays.fill(dropped, false);
  }

  /** Returns a token that follows the longest match; a separator at its end or without a match. */
  int token(int ahead) {
    return matches.matches() == 0
        ? TextIndex.SEPARATOR
        : matches.continuation(matches.best(), ahead);
  }

  /** Returns the class of {@code token}; drops the matches that continue with another token. */
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
