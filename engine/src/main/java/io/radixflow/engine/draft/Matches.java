package io.radixflow.engine.draft;

/** The earlier occurrences of a text's last tokens, and the tokens that followed them. */
interface Matches {
  /** Returns the number of occurrences that were found. */
  int matches();

  /** Returns the occurrence with the longest match; the latest if several are equal. */
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
