package io.radixflow.engine.draft;

/** Where a text's last tokens occurred before, and how it went on there. */
interface Matches {
  /** Number of occurrences of the text's end that were found. */
  int matches();

  /** The occurrence with the longest match; the latest of equal ones. */
  int best();

  /** Returns how many tokens up to the end of an occurrence equal the last tokens of the text. */
  int matchLength(int match);

  /**
   * Returns a token that follows an occurrence.
   *
   * @param ahead tokens between the occurrence and the returned token; 0 for the next token
   * @return {@link TextIndex#SEPARATOR} at the end of a part
   */
  int continuation(int match, int ahead);
}
