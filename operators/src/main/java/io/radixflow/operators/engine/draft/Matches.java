package io.radixflow.operators.engine.draft;

/** Where a text's last tokens occurred before, and how it went on there. */
interface Matches {
  /** Number of occurrences of the text's end that were found. */
  int matches();

  /** The occurrence with the longest match; the latest of equal ones. */
  int best();

  /** Tokens before the end of an occurrence that are the text's last. */
  int matchLength(int match);

  /**
   * The token that an occurrence goes on with.
   *
   * @param ahead from 0
   * @return {@link TextIndex#SEPARATOR} at the end of a part
   */
  int continuation(int match, int ahead);
}
